// Behind rows.cl. Softmax or, with LOGARITHM, its logarithm, or, with HARDMAX, 1 for the first
// largest element and 0 for the others.

// Exponentials wait in dst for their sum where that loses nothing.
#if !defined STORED_HALF && !defined LOGARITHM
#define KEEPS
#define KEEPW(v, p) STOREW(v, p)
#define KEEP(v, p, i) STORE(v, p, i)
#define KEPTW(src, dst, peak) LOADW(dst)
#define KEPT(src, dst, i, peak) LOAD(dst, i)
#else
#define KEEPW(v, p)
#define KEEP(v, p, i)
#define KEPTW(src, dst, peak) exp(LOADW(src) - peak)
#define KEPT(src, dst, i, peak) exp(LOAD(src, i) - peak)
#endif

// Neighbours are the row: maximum, sum, division.
__kernel void softmax_rows(__global const stored* src, __global stored* dst, int rows,
                           int length) {
  __local float scratch[LANES];
  ROW_OF(row, rows);
  src += (size_t)row * length;
  dst += (size_t)row * length;
  const int full = FULL(length);
  floatw peaks = (floatw)(-INFINITY);
  for (int x = LANE * WIDTH; x < full; x += ROW_STEP) peaks = fmax(peaks, LOADW(src + x));
  float peak = max_of(peaks);
  for (int x = full + LANE; x < length; x += LANES) peak = fmax(peak, LOAD(src, x));
  OVER_LANES(peak, scratch, fmax);
#ifdef HARDMAX
  float first = length;
  float first_nan = length;
  for (int x = LANE; x < length; x += LANES) {
    const float v = LOAD(src, x);
    if (isnan(v)) first_nan = fmin(first_nan, (float)x);
    if (v == peak) first = fmin(first, (float)x);
  }
  OVER_LANES(first, scratch, fmin);
  OVER_LANES(first_nan, scratch, fmin);
  first = first_nan < length ? first_nan : first;
  for (int x = LANE; x < length; x += LANES) STORE(x == (int)first ? 1.0f : 0.0f, dst, x);
#else
  floatw sums = (floatw)(0.0f);
  for (int x = LANE * WIDTH; x < full; x += ROW_STEP) {
    const floatw v = exp(LOADW(src + x) - peak);
    KEEPW(v, dst + x);
    sums += v;
  }
  float sum = sum_of(sums);
  for (int x = full + LANE; x < length; x += LANES) {
    const float v = exp(LOAD(src, x) - peak);
    KEEP(v, dst, x);
    sum += v;
  }
  OVER_LANES(sum, scratch, PLUS);
#ifdef LOGARITHM
  const float rest = log(sum);
  for (int x = LANE * WIDTH; x < full; x += ROW_STEP) STOREW(LOADW(src + x) - peak - rest, dst + x);
  for (int x = full + LANE; x < length; x += LANES) STORE(LOAD(src, x) - peak - rest, dst, x);
#else
  const float factor = 1.0f / sum;
  for (int x = LANE * WIDTH; x < full; x += ROW_STEP) {
    STOREW(KEPTW(src + x, dst + x, peak) * factor, dst + x);
  }
  for (int x = full + LANE; x < length; x += LANES) STORE(KEPT(src, dst, x, peak) * factor, dst, x);
#endif
#endif
}

// Rows stand side by side: WIDTH of them a work-item.
__kernel void softmax_columns(__global const stored* src, __global stored* dst, int outer,
                              int length, int inner) {
  const int x = get_global_id(0) * WIDTH;
  const int block = get_global_id(1);
  if (x >= inner || block >= outer) return;
  const int count = inner - x;
  const size_t at = (size_t)block * length * inner + x;
  src += at;
  dst += at;
  floatw peak = (floatw)(-INFINITY);
  for (int i = 0; i < length; ++i) {
    peak = fmax(peak, load_lanes(src + (size_t)i * inner, count));
  }
#ifdef HARDMAX
  intw has_nan = (intw)(0);
  for (int i = 0; i < length; ++i) has_nan |= isnan(load_lanes(src + (size_t)i * inner, count));
  intw open = (intw)(-1);
  for (int i = 0; i < length; ++i) {
    const floatw v = load_lanes(src + (size_t)i * inner, count);
    const intw found = open & (isnan(v) | (v == peak & ~has_nan));
    open &= ~found;
    store_lanes(select((floatw)(0.0f), (floatw)(1.0f), found), dst + (size_t)i * inner, count);
  }
#else
  floatw sum = (floatw)(0.0f);
  for (int i = 0; i < length; ++i) {
    const size_t from = (size_t)i * inner;
    const floatw v = exp(load_lanes(src + from, count) - peak);
#ifdef KEEPS
    store_lanes(v, dst + from, count);
#endif
    sum += v;
  }
#ifdef LOGARITHM
  const floatw rest = log(sum);
  for (int i = 0; i < length; ++i) {
    const size_t to = (size_t)i * inner;
    store_lanes(load_lanes(src + to, count) - peak - rest, dst + to, count);
  }
#else
  const floatw factor = 1.0f / sum;
  for (int i = 0; i < length; ++i) {
    const size_t to = (size_t)i * inner;
#ifdef KEEPS
    const floatw v = load_lanes(dst + to, count);
#else
    const floatw v = exp(load_lanes(src + to, count) - peak);
#endif
    store_lanes(v * factor, dst + to, count);
  }
#endif
#endif
}
