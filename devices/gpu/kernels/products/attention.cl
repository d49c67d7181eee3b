// Behind rows.cl. Rows of scores become weights in place: softmax(score + mask) * factor. Row r has
// query r % queries of matrix r / queries; mask_offsets[matrix] says where its mask begins.
__kernel void attention_weights(__global stored* scores, __global const stored* mask,
                                __global const int* mask_offsets, int rows, int queries, int keys,
                                int mask_row, int mask_column, float value_factor,
                                int zero_without_keys, int zero_for_nan) {
  __local float scratch[LANES];
  ROW_OF(row, rows);
  scores += (size_t)row * keys;
  const int full = FULL(keys);
  if (mask) {
    mask += mask_offsets[row / queries] + (size_t)(row % queries) * mask_row;
    if (mask_column == 1) {
      for (int x = LANE * WIDTH; x < full; x += ROW_STEP) {
        STOREW(LOADW(scores + x) + LOADW(mask + x), scores + x);
      }
      for (int x = full + LANE; x < keys; x += LANES) {
        STORE(LOAD(scores, x) + LOAD(mask, x), scores, x);
      }
    } else {
      // Work-items change the elements that they read below, in the same order.
      for (int x = LANE * WIDTH; x < full; x += ROW_STEP) {
        STOREW(LOADW(scores + x) + LOAD(mask, 0), scores + x);
      }
      for (int x = full + LANE; x < keys; x += LANES) {
        STORE(LOAD(scores, x) + LOAD(mask, 0), scores, x);
      }
    }
  }
  floatw peaks = (floatw)(-INFINITY);
  for (int x = LANE * WIDTH; x < full; x += ROW_STEP) peaks = fmax(peaks, LOADW(scores + x));
  float peak = max_of(peaks);
  for (int x = full + LANE; x < keys; x += LANES) peak = fmax(peak, LOAD(scores, x));
  OVER_LANES(peak, scratch, fmax);
  // A row of nothing but -infinity sums to 0, one that has NaN beside them to NaN: fmax() leaves
  // NaN out.
  const float from = peak == -INFINITY ? 0.0f : peak;
  floatw sums = (floatw)(0.0f);
  for (int x = LANE * WIDTH; x < full; x += ROW_STEP) {
    const floatw v = exp(LOADW(scores + x) - from);
    STOREW(v, scores + x);
    sums += v;
  }
  float sum = sum_of(sums);
  for (int x = full + LANE; x < keys; x += LANES) {
    const float v = exp(LOAD(scores, x) - from);
    STORE(v, scores, x);
    sum += v;
  }
  OVER_LANES(sum, scratch, PLUS);
  // A query without any key.
  const int empty = ((zero_without_keys || zero_for_nan) && sum == 0.0f) ||
                    (zero_for_nan && isnan(sum));
  const float factor = value_factor / sum;
  for (int x = LANE * WIDTH; x < full; x += ROW_STEP) {
    STOREW(empty ? (floatw)(0.0f) : LOADW(scores + x) * factor, scores + x);
  }
  for (int x = full + LANE; x < keys; x += LANES) {
    STORE(empty ? 0.0f : LOAD(scores, x) * factor, scores, x);
  }
}
