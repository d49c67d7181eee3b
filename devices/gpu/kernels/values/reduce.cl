// Behind rows.cl. One stage of a reduction over rows. SUM, PRODUCT, LARGEST, SMALLEST or
// LOG_SUM_EXP says how; MAGNITUDES and SQUARES what is taken of every element. FROM_FLOAT and
// TO_FLOAT: src and dst are float between two stages.
#ifdef FROM_FLOAT
#define FROM float
#define GET(p, i) ((p)[i])
#define GETW(p) HET_JOIN(vload, WIDTH)(0, p)
#else
#define FROM stored
#define GET(p, i) LOAD(p, i)
#define GETW(p) LOADW(p)
#endif
#ifdef TO_FLOAT
#define TO float
#define PUT(v, p, i) ((p)[i] = (v))
#else
#define TO stored
#define PUT(v, p, i) STORE(v, p, i)
#endif

#if defined MAGNITUDES
#define TAKEN(v) fabs(v)
#elif defined SQUARES
#define TAKEN(v) ((v) * (v))
#else
#define TAKEN(v) (v)
#endif

#if defined PRODUCT
#define NEUTRAL 1.0f
#define JOIN(a, b) ((a) * (b))
#define JOINW(a, b) ((a) * (b))
#elif defined LARGEST || defined LOG_SUM_EXP
#define NEUTRAL (-INFINITY)
#define JOIN(a, b) larger(a, b)
#define JOINW(a, b) larger_each(a, b)
#define SUBGROUP_JOIN(v) larger_of_subgroup(v)
#elif defined SMALLEST
#define NEUTRAL INFINITY
#define JOIN(a, b) smaller(a, b)
#define JOINW(a, b) smaller_each(a, b)
#define SUBGROUP_JOIN(v) smaller_of_subgroup(v)
#else
#define NEUTRAL 0.0f
#define JOIN(a, b) ((a) + (b))
#define JOINW(a, b) ((a) + (b))
#define SUBGROUP_JOIN(v) sub_group_reduce_add(v)
#endif
// Sums of so many vectors are added to the total together: long sums stay exact enough.
#define BLOCK 128

// The last stage's end: 0 nothing, 1 mean, 2 root, 3 logarithm.
float finished(float v, int finish, float count) {
  if (finish == 1) return v / count;
  if (finish == 2) return sqrt(v);
  if (finish == 3) return log(v);
  return v;
}

__kernel void reduce_rows(__global const FROM* src, __global TO* dst, int rows, int length,
                          int finish, float count) {
  __local float scratch[LANES];
  ROW_OF(row, rows);
  src += (size_t)row * length;
  const int full = FULL(length);
  floatw totals = (floatw)(NEUTRAL);
  for (int start = LANE * WIDTH; start < full; start += BLOCK * ROW_STEP) {
    floatw part = (floatw)(NEUTRAL);
    const int end = min(full, start + BLOCK * ROW_STEP);
    for (int x = start; x < end; x += ROW_STEP) {
      const floatw v = GETW(src + x);
      part = JOINW(part, TAKEN(v));
    }
    totals = JOINW(totals, part);
  }
  float lanes[WIDTH];
  HET_JOIN(vstore, WIDTH)(totals, 0, lanes);
  float total = NEUTRAL;
  for (int i = 0; i < WIDTH; ++i) total = JOIN(total, lanes[i]);
  for (int x = full + LANE; x < length; x += LANES) {
    const float v = GET(src, x);
    total = JOIN(total, TAKEN(v));
  }
#ifdef PRODUCT
  OVER_LANES_BY_TREE(total, scratch, JOIN);
#else
  OVER_LANES(total, scratch, JOIN);
#endif
#ifdef LOG_SUM_EXP
  const float shift = isfinite(total) ? total : 0.0f;
  float sum = 0.0f;
  for (int start = LANE; start < length; start += BLOCK * LANES) {
    float part = 0.0f;
    const int end = min(length, start + BLOCK * LANES);
    for (int x = start; x < end; x += LANES) part += exp(GET(src, x) - shift);
    sum += part;
  }
  OVER_LANES(sum, scratch, PLUS);
  total = log(sum) + shift;
#endif
  if (LANE == 0) PUT(finished(total, finish, count), dst, row);
}

// Rows stand side by side: WIDTH of them a work-item.
__kernel void reduce_columns(__global const FROM* src, __global TO* dst, int outer, int length,
                             int inner, int finish, float count) {
  const int x = get_global_id(0) * WIDTH;
  const int block = get_global_id(1);
  if (x >= inner || block >= outer) return;
  const int neighbours = min(WIDTH, inner - x);
  src += (size_t)block * length * inner + x;
  float results[WIDTH];
  if (neighbours == WIDTH) {
    floatw totals = (floatw)(NEUTRAL);
    for (int start = 0; start < length; start += BLOCK) {
      floatw part = (floatw)(NEUTRAL);
      const int end = min(length, start + BLOCK);
      for (int i = start; i < end; ++i) {
        const floatw v = GETW(src + (size_t)i * inner);
        part = JOINW(part, TAKEN(v));
      }
      totals = JOINW(totals, part);
    }
#ifdef LOG_SUM_EXP
    const floatw shift = select((floatw)(0.0f), totals, isfinite(totals));
    floatw sums = (floatw)(0.0f);
    for (int i = 0; i < length; ++i) sums += exp(GETW(src + (size_t)i * inner) - shift);
    totals = log(sums) + shift;
#endif
    HET_JOIN(vstore, WIDTH)(totals, 0, results);
  } else {
    for (int c = 0; c < neighbours; ++c) {
      float total = NEUTRAL;
      for (int start = 0; start < length; start += BLOCK) {
        float part = NEUTRAL;
        const int end = min(length, start + BLOCK);
        for (int i = start; i < end; ++i) {
          const float v = GET(src, (size_t)i * inner + c);
          part = JOIN(part, TAKEN(v));
        }
        total = JOIN(total, part);
      }
#ifdef LOG_SUM_EXP
      const float shift = isfinite(total) ? total : 0.0f;
      float sum = 0.0f;
      for (int i = 0; i < length; ++i) sum += exp(GET(src, (size_t)i * inner + c) - shift);
      total = log(sum) + shift;
#endif
      results[c] = total;
    }
  }
  dst += (size_t)block * inner + x;
  for (int c = 0; c < neighbours; ++c) PUT(finished(results[c], finish, count), dst, c);
}
