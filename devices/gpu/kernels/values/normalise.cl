// Behind rows.cl. dst = (src - mean) * factor * scale + bias along rows. `centred`: 0 takes a mean of
// 0. With s, the sum of (src - mean)^2, the factor is by `mode`
//   0: 1 / sqrt(s / length + epsilon)   1: 1 / (sqrt(s / length) + epsilon)
//   2: 1 / sqrt(s + epsilon)            3: 1 / sqrt(max(s, epsilon))
//   4: 1 / sqrt(s), 0 for s = 0         5: the same of the sum of magnitudes without root.
// Sums of BLOCK vectors are added to the total together: long sums stay exact enough.
// What rounding has left of the mean, the sum of (src - mean), is taken off afterwards: rows of equal
// numbers, however large, become 0.
#define BLOCK 128
#define MAGNITUDES 5

// The sum of squares around mean + rest / length instead of mean.
float moved_sum(float sum, float rest, float length, int mode) {
  const float moved = mode == MAGNITUDES ? sum : sum - rest * (rest / length);
  return moved < 0.0f ? 0.0f : moved;
}

float factor_of(float s, int mode, float length, float epsilon) {
  switch (mode) {
    case 0:
      return 1.0f / sqrt(s / length + epsilon);
    case 1:
      return 1.0f / (sqrt(s / length) + epsilon);
    case 2:
      return 1.0f / sqrt(s + epsilon);
    case 3:
      return 1.0f / sqrt(s < epsilon ? epsilon : s);
    case 4:
      return s == 0.0f ? 0.0f : 1.0f / sqrt(s);
    default:
      return s == 0.0f ? 0.0f : 1.0f / s;
  }
}

// Parameters of WIDTH elements from `x` of a row, each of which serves `share` neighbours; a step
// of 0 is one for all.
floatw parameters(__global const stored* p, int x, int share, int step) {
  if (step == 0) return (floatw)(LOAD(p, 0));
  if (share == 1) return LOADW(p + x);
  const int first = x / share;
  if ((x + WIDTH - 1) / share == first) return (floatw)(LOAD(p, first));
  float lanes[WIDTH];
  for (int i = 0; i < WIDTH; ++i) lanes[i] = LOAD(p, (x + i) / share);
  return HET_JOIN(vload, WIDTH)(0, lanes);
}

// Neighbours are the row. Row r begins at parameter r % cycle * first_step; `share` and
// parameter_step as above.
__kernel void normalise_rows(__global const stored* src, __global const stored* scale,
                             __global const stored* bias, __global stored* dst, int rows,
                             int length, int centred, int mode, float epsilon, int cycle,
                             int first_step, int share, int scale_step, int bias_step) {
  __local float scratch[LANES];
  ROW_OF(row, rows);
  src += (size_t)row * length;
  dst += (size_t)row * length;
  const int full = FULL(length);
  float mean = 0.0f;
  if (centred) {
    floatw totals = (floatw)(0.0f);
    for (int start = LANE * WIDTH; start < full; start += BLOCK * ROW_STEP) {
      floatw part = (floatw)(0.0f);
      const int end = min(full, start + BLOCK * ROW_STEP);
      for (int x = start; x < end; x += ROW_STEP) part += LOADW(src + x);
      totals += part;
    }
    mean = sum_of(totals);
    for (int x = full + LANE; x < length; x += LANES) mean += LOAD(src, x);
  }
  OVER_LANES(mean, scratch, PLUS);
  mean /= length;
  floatw totals = (floatw)(0.0f);
  floatw rests = (floatw)(0.0f);
  for (int start = LANE * WIDTH; start < full; start += BLOCK * ROW_STEP) {
    floatw part = (floatw)(0.0f);
    const int end = min(full, start + BLOCK * ROW_STEP);
    for (int x = start; x < end; x += ROW_STEP) {
      const floatw v = LOADW(src + x) - mean;
      part += mode == MAGNITUDES ? fabs(v) : v * v;
      rests += v;
    }
    totals += part;
  }
  float sum = sum_of(totals);
  float rest = sum_of(rests);
  for (int x = full + LANE; x < length; x += LANES) {
    const float v = LOAD(src, x) - mean;
    sum += mode == MAGNITUDES ? fabs(v) : v * v;
    rest += v;
  }
  OVER_LANES(sum, scratch, PLUS);
  OVER_LANES(rest, scratch, PLUS);
  rest = centred ? rest : 0.0f;
  mean += rest / length;
  sum = moved_sum(sum, rest, length, mode);
  const float factor = factor_of(sum, mode, length, epsilon);
  const int first = row % cycle * first_step;
  if (scale) scale += first * scale_step;
  if (bias) bias += first * bias_step;
  for (int x = LANE * WIDTH; x < full; x += ROW_STEP) {
    floatw v = (LOADW(src + x) - mean) * factor;
    if (scale) v *= parameters(scale, x, share, scale_step);
    if (bias) v += parameters(bias, x, share, bias_step);
    STOREW(v, dst + x);
  }
  for (int x = full + LANE; x < length; x += LANES) {
    float v = (LOAD(src, x) - mean) * factor;
    if (scale) v *= LOAD(scale, x / share * scale_step);
    if (bias) v += LOAD(bias, x / share * bias_step);
    STORE(v, dst, x);
  }
}

// Rows stand side by side: WIDTH of them a work-item, with parameters of their own.
__kernel void normalise_columns(__global const stored* src, __global const stored* scale,
                                __global const stored* bias, __global stored* dst, int outer,
                                int length, int inner, int centred, int mode, float epsilon) {
  const int x = get_global_id(0) * WIDTH;
  const int block = get_global_id(1);
  if (x >= inner || block >= outer) return;
  const int count = inner - x;
  const size_t at = (size_t)block * length * inner + x;
  src += at;
  dst += at;
  floatw mean = (floatw)(0.0f);
  if (centred) {
    for (int start = 0; start < length; start += BLOCK) {
      floatw part = (floatw)(0.0f);
      const int end = min(length, start + BLOCK);
      for (int i = start; i < end; ++i) part += load_lanes(src + (size_t)i * inner, count);
      mean += part;
    }
    mean /= (float)length;
  }
  floatw total = (floatw)(0.0f);
  floatw rest = (floatw)(0.0f);
  for (int start = 0; start < length; start += BLOCK) {
    floatw part = (floatw)(0.0f);
    const int end = min(length, start + BLOCK);
    for (int i = start; i < end; ++i) {
      const floatw v = load_lanes(src + (size_t)i * inner, count) - mean;
      part += mode == MAGNITUDES ? fabs(v) : v * v;
      rest += v;
    }
    total += part;
  }
  if (!centred) rest = (floatw)(0.0f);
  mean += rest / (float)length;
  float lanes[WIDTH];
  float rests[WIDTH];
  HET_JOIN(vstore, WIDTH)(total, 0, lanes);
  HET_JOIN(vstore, WIDTH)(rest, 0, rests);
  for (int c = 0; c < WIDTH; ++c) {
    lanes[c] = factor_of(moved_sum(lanes[c], rests[c], length, mode), mode, length, epsilon);
  }
  floatw factor = HET_JOIN(vload, WIDTH)(0, lanes);
  if (scale) factor *= load_lanes(scale + x, count);
  floatw shift = (floatw)(0.0f);
  if (bias) shift = load_lanes(bias + x, count);
  for (int i = 0; i < length; ++i) {
    const size_t to = (size_t)i * inner;
    store_lanes((load_lanes(src + to, count) - mean) * factor + shift, dst + to, count);
  }
}
