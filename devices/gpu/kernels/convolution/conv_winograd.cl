// Winograd's F(2x2, 3x3) and F(4x4, 3x3) after Lavin and Gray, "Fast Algorithms for Convolutional
// Neural Networks": tiles of the source are transformed, multiplied as SIZE * SIZE matrix products
// (multiply_* in conv_direct.cl) and transformed back. A work-item does a tile x WIDTH channels.
// Transformed values are [SIZE * SIZE][tiles][channels]; outputs are written into pixels of dst_row
// channels from dst_first on.

// B' d for a column of 4 or 6, in place.
static void source_column(const int SIZE, floatw* d, const int step) {
  if (SIZE == 4) {
    const floatw a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
    d[0] = a - c;
    d[step] = b + c;
    d[2 * step] = c - b;
    d[3 * step] = b - e;
  } else {
    const floatw a = d[0], b = d[step], c = d[2 * step], e = d[3 * step], f = d[4 * step],
                 g = d[5 * step];
    const floatw p = f - 4.0f * c, q = e - 4.0f * b, r = f - c, s = 2.0f * (e - b);
    d[0] = 4.0f * a - 5.0f * c + f;
    d[step] = p + q;
    d[2 * step] = p - q;
    d[3 * step] = r + s;
    d[4 * step] = r - s;
    d[5 * step] = 4.0f * b - 5.0f * e + g;
  }
}

// A' m for a column: the first SIZE - 2 become outputs.
static void sums_column(const int SIZE, floatw* m, const int step) {
  if (SIZE == 4) {
    const floatw p = m[step] + m[2 * step], q = m[step] - m[2 * step];
    m[0] = m[0] + p;
    m[step] = q - m[3 * step];
  } else {
    const floatw p = m[step] + m[2 * step], q = m[step] - m[2 * step];
    const floatw r = m[3 * step] + m[4 * step], s = m[3 * step] - m[4 * step];
    m[0] = m[0] + p + r;
    m[step] = q + 2.0f * s;
    m[2 * step] = p + 4.0f * r;
    m[3 * step] = q + 8.0f * s + m[5 * step];
  }
}

static __attribute__((always_inline)) void transform_source(
    const int SIZE, __global const stored* src, __global stored* dst, int tiles, int tiles_h,
    int tiles_w, int c, int ih, int iw, int ph, int pw) {
  const int blocks = c / WIDTH;
  if (get_global_id(0) >= (size_t)tiles * blocks) return;
  const int tile = (int)get_global_id(0) / blocks;
  const int channel = ((int)get_global_id(0) - tile * blocks) * WIDTH;
  const int row = tile / tiles_w;
  const int n = row / tiles_h;
  const int top = (row - n * tiles_h) * (SIZE - 2) - ph;
  const int left = (tile - row * tiles_w) * (SIZE - 2) - pw;
  floatw d[36];
#pragma unroll
  for (int y = 0; y < SIZE; ++y) {
    const bool inside = (uint)(top + y) < (uint)ih;
    __global const stored* from = src + ((n * ih + top + y) * iw + left) * c + channel;
#pragma unroll
    for (int x = 0; x < SIZE; ++x) {
      d[y * SIZE + x] =
          inside && (uint)(left + x) < (uint)iw ? LOADW(from + x * c) : (floatw)(0.0f);
    }
  }
#pragma unroll
  for (int x = 0; x < SIZE; ++x) source_column(SIZE, d + x, SIZE);
#pragma unroll
  for (int y = 0; y < SIZE; ++y) source_column(SIZE, d + y * SIZE, 1);
  dst += (size_t)tile * c + channel;
#pragma unroll
  for (int i = 0; i < SIZE * SIZE; ++i) STOREW(d[i], dst + (size_t)i * tiles * c);
}

static __attribute__((always_inline)) void transform_sums(
    const int SIZE, __global const stored* src, __global const float* bias,
    __global const stored* addend, __global stored* dst, int tiles, int tiles_h, int tiles_w, int c,
    int oh, int ow, int dst_row, int dst_first NUMBER_PARAMETERS) {
  const int blocks = c / WIDTH;
  if (get_global_id(0) >= (size_t)tiles * blocks) return;
  const int tile = (int)get_global_id(0) / blocks;
  const int channel = ((int)get_global_id(0) - tile * blocks) * WIDTH;
  const int row = tile / tiles_w;
  const int n = row / tiles_h;
  const int top = (row - n * tiles_h) * (SIZE - 2);
  const int left = (tile - row * tiles_w) * (SIZE - 2);
  src += (size_t)tile * c + channel;
  floatw m[36];
#pragma unroll
  for (int i = 0; i < SIZE * SIZE; ++i) m[i] = LOADW(src + (size_t)i * tiles * c);
#pragma unroll
  for (int x = 0; x < SIZE; ++x) sums_column(SIZE, m + x, SIZE);
#pragma unroll
  for (int y = 0; y < SIZE - 2; ++y) sums_column(SIZE, m + y * SIZE, 1);
  floatw shift = (floatw)(0.0f);
#ifdef BIAS
  shift = HET_JOIN(vload, WIDTH)(0, bias + channel);
#endif
#pragma unroll
  for (int y = 0; y < SIZE - 2; ++y) {
#pragma unroll
    for (int x = 0; x < SIZE - 2; ++x) {
      if (top + y < oh && left + x < ow) {
        const int pixel = (n * oh + top + y) * ow + left + x;
        floatw other = (floatw)(0.0f);
#ifdef SUM
        other = LOADW(addend + pixel * c + channel);
#endif
        STOREW(tail(m[y * SIZE + x] + shift, other NUMBER_VALUES), dst + pixel * dst_row + dst_first + channel);
      }
    }
  }
}

#define SOURCE_ARGUMENTS                                                                       \
  __global const stored *src, __global stored *dst, int tiles, int tiles_h, int tiles_w, int c, \
      int ih, int iw, int ph, int pw
#define SOURCE_VALUES src, dst, tiles, tiles_h, tiles_w, c, ih, iw, ph, pw
#define SUMS_ARGUMENTS                                                                      \
  __global const stored *src, __global const float *bias, __global const stored *addend,    \
      __global stored *dst, int tiles, int tiles_h, int tiles_w, int c, int oh, int ow,     \
      int dst_row, int dst_first NUMBER_PARAMETERS
#define SUMS_VALUES \
  src, bias, addend, dst, tiles, tiles_h, tiles_w, c, oh, ow, dst_row, dst_first NUMBER_VALUES
__kernel void winograd2_source(SOURCE_ARGUMENTS) { transform_source(4, SOURCE_VALUES); }
__kernel void winograd4_source(SOURCE_ARGUMENTS) { transform_source(6, SOURCE_VALUES); }
__kernel void winograd2_sums(SUMS_ARGUMENTS) { transform_sums(4, SUMS_VALUES); }
__kernel void winograd4_sums(SUMS_ARGUMENTS) { transform_sums(6, SUMS_VALUES); }
