// Convolutions over pictures with channels last. A work-item keeps PIXELS neighbouring outputs x
// BLOCKS vectors of channels in registers and loops over kh, kw, ic. Weights are
// [group][tile][kh][kw][ic][BLOCKS * WIDTH]. Pixels are counted through rows and pictures, so that
// only the last work-item has too many.

// Places that taps reach outside of the picture read zeros.
typedef struct {
  int x, y, n;
} Place;

Place place_of(int pixel, int oh, int ow) {
  Place place;
  place.x = pixel % ow;
  pixel /= ow;
  place.y = pixel % oh;
  place.n = pixel / oh;
  return place;
}

Place next_place(Place place, int oh, int ow) {
  if (++place.x < ow) return place;
  place.x = 0;
  if (++place.y < oh) return place;
  place.y = 0;
  ++place.n;
  return place;
}

// `run` elements of the source are multiplied at each tap; `pitch` lie between pixels. The order of
// work-groups: pixels first where the weights are larger than the source, else channels first.
// Outputs stand at places oy + y * osy, ox + x * osx of a picture of dst_h x dst_w, in pixels of
// dst_row channels from dst_first on. What is added has the same places.
#define ARGUMENTS                                                                              \
  __global const stored *src, __global const stored *weights, __global const float *bias,      \
      __global const stored *addend, __global const stored *zeros, __global stored *dst,       \
      int pixels, int tiles, int groups, int pixels_first, int run, int pitch, int ih, int iw, \
      int oh, int ow, int kh, int kw, int sh, int sw, int dh, int dw, int ph, int pw,          \
      int group_ic, int group_oc, int dst_row, int dst_first, int dst_h, int dst_w, int osy,   \
      int osx, int oy, int ox NUMBER_PARAMETERS
#define VALUES                                                                                     \
  src, weights, bias, addend, zeros, dst, pixels, tiles, groups, pixels_first, run, pitch, ih, iw, \
      oh, ow, kh, kw, sh, sw, dh, dw, ph, pw, group_ic, group_oc, dst_row, dst_first, dst_h,       \
      dst_w, osy, osx, oy, ox NUMBER_VALUES

#define MOST_PIXELS 12
#define MOST_LANES 16  // MOST_PIXELS in vectors of 8: places of taps are computed eight at a time
#define MOST_SUMS 12

// What a work-item computes: its first pixel and its column of tiles. The order of work-groups as
// above.
typedef struct {
  int first, column;
} Share;

Share share_of(const int PIXELS, int pixels, int columns, int pixels_first) {
  const int pixel_groups = (pixels + PIXELS * LANES - 1) / (PIXELS * LANES);
  const int work_group = get_group_id(0);
  const int divisor = pixels_first ? pixel_groups : columns;
  const int quotient = work_group / divisor;
  const int rest = work_group - quotient * divisor;
  Share share;
  share.first = ((pixels_first ? rest : quotient) * LANES + (int)get_local_id(0)) * PIXELS;
  share.column = pixels_first ? quotient : rest;
  return share;
}

static __attribute__((always_inline)) void clear_sums(const int PIXELS, const int BLOCKS,
                                                      floatw* sums) {
#pragma unroll
  for (int i = 0; i < PIXELS * BLOCKS; ++i) sums[i] = (floatw)(0.0f);
}

// Adds the products of `run` elements of every pixel with the weights.
static __attribute__((always_inline)) void add_products(const int PIXELS, const int BLOCKS,
                                                        __global const stored** from,
                                                        __global const stored* weights, int run,
                                                        floatw* sums) {
  for (int i = 0; i < run; ++i) {
    floatw factors[MOST_SUMS];
#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) factors[b] = LOADW(weights + b * WIDTH);
    weights += BLOCKS * WIDTH;
#pragma unroll
    for (int p = 0; p < PIXELS; ++p) {
      const floatw value = (floatw)(LOAD(from[p], i));
#pragma unroll
      for (int b = 0; b < BLOCKS; ++b) {
        sums[p * BLOCKS + b] = fma(value, factors[b], sums[p * BLOCKS + b]);
      }
    }
  }
}

// The sums as memory, for a loop that walks over them: unrolled, what is done to a result would be
// as much code as there are sums.
static __attribute__((always_inline)) void spread_sums(const int PIXELS, const int BLOCKS,
                                                       const floatw* sums, float* results) {
#pragma unroll
  for (int i = 0; i < PIXELS * BLOCKS; ++i) HET_JOIN(vstore, WIDTH)(sums[i], i, results);
}

static __attribute__((always_inline)) void convolve(const int PIXELS, const int BLOCKS, ARGUMENTS) {
  const int columns = tiles * groups;
  const Share share = share_of(PIXELS, pixels, columns, pixels_first);
  const int first = share.first;
  const int column = share.column;
  if (first >= pixels || column >= columns) return;
  const int group = column / tiles;
  const int channel = (column - group * tiles) * BLOCKS * WIDTH;
  src += group * group_ic;
  weights += (size_t)column * kh * kw * run * (BLOCKS * WIDTH);

  const Place start = place_of(first, oh, ow);
  int lanes_top[MOST_LANES], lanes_left[MOST_LANES], lanes_at[MOST_LANES];
  Place place = start;
#pragma unroll
  for (int p = 0; p < PIXELS; ++p) {
    lanes_top[p] = place.y * sh - ph;
    lanes_left[p] = place.x * sw - pw;
    lanes_at[p] = ((place.n * ih + lanes_top[p]) * iw + lanes_left[p]) * pitch;
    if (first + p + 1 < pixels) place = next_place(place, oh, ow);
  }
  int8 top[MOST_LANES / 8], left[MOST_LANES / 8], at[MOST_LANES / 8];
#pragma unroll
  for (int v = 0; v < PIXELS; v += 8) {
    top[v / 8] = vload8(0, lanes_top + v);
    left[v / 8] = vload8(0, lanes_left + v);
    at[v / 8] = vload8(0, lanes_at + v);
  }
  floatw sums[MOST_SUMS];
  clear_sums(PIXELS, BLOCKS, sums);
  for (int h = 0; h < kh; ++h) {
    for (int w = 0; w < kw; ++w) {
      int places[MOST_LANES];  // elements of src, -1 outside
#pragma unroll
      for (int v = 0; v < PIXELS; v += 8) {
        const uint8 y = as_uint8(top[v / 8] + h * dh);
        const uint8 x = as_uint8(left[v / 8] + w * dw);
        const int8 inside = (y < (uint)ih) & (x < (uint)iw);
        vstore8(select((int8)(-1), at[v / 8] + (h * dh * iw + w * dw) * pitch, inside), 0,
                places + v);
      }
      __global const stored* from[MOST_PIXELS];
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) from[p] = places[p] < 0 ? zeros : src + places[p];
      add_products(PIXELS, BLOCKS, from, weights, run, sums);
      weights += run * (BLOCKS * WIDTH);
    }
  }
  const int left_over = group_oc - channel;
  const int dst_channel = group * group_oc + channel;
  float results[MOST_SUMS * WIDTH];
  spread_sums(PIXELS, BLOCKS, sums, results);
  place = start;
#pragma unroll 1
  for (int i = 0; i < PIXELS * BLOCKS; ++i) {
    const int b = i % BLOCKS;
    if (first + i / BLOCKS >= pixels) break;
    if (i > 0 && b == 0) place = next_place(place, oh, ow);
    const int count = left_over - b * WIDTH;
    if (count <= 0) continue;
    const size_t to =
        ((size_t)(place.n * dst_h + oy + place.y * osy) * dst_w + ox + place.x * osx) * dst_row +
        dst_first + dst_channel + b * WIDTH;
    floatw result = HET_JOIN(vload, WIDTH)(i, results);
#ifdef BIAS
    result += HET_JOIN(vload, WIDTH)(0, bias + dst_channel + b * WIDTH);
#endif
    floatw other = (floatw)(0.0f);
#ifdef SUM
    other = load_lanes(addend + to, count);
#endif
    store_lanes(tail(result, other NUMBER_VALUES), dst + to, count);
  }
}

// Products of matrices: `batches` times [pixels][run] x [run][oc], as 1x1 convolutions are. Loops
// over the channels only.
#define MULTIPLY_ARGUMENTS                                                                     \
  __global const stored *src, __global const stored *weights, __global const float *bias,      \
      __global const stored *addend, __global stored *dst, int pixels, int tiles, int batches, \
      int pixels_first, int run, int oc, int dst_row, int dst_first NUMBER_PARAMETERS
#define MULTIPLY_VALUES \
  src, weights, bias, addend, dst, pixels, tiles, batches, pixels_first, run, oc, dst_row, \
      dst_first NUMBER_VALUES

static __attribute__((always_inline)) void multiply(const int PIXELS, const int BLOCKS,
                                                    MULTIPLY_ARGUMENTS) {
  const int columns = tiles * batches;
  const Share share = share_of(PIXELS, pixels, columns, pixels_first);
  const int first = share.first;
  const int column = share.column;
  if (first >= pixels || column >= columns) return;
  const int batch = column / tiles;
  const int channel = (column - batch * tiles) * BLOCKS * WIDTH;
  weights += (size_t)column * run * (BLOCKS * WIDTH);
  __global const stored* from[MOST_PIXELS];
  from[0] = src + ((size_t)batch * pixels + first) * run;
#pragma unroll
  for (int p = 1; p < PIXELS; ++p) from[p] = from[p - 1] + (first + p < pixels ? run : 0);
  floatw sums[MOST_SUMS];
  clear_sums(PIXELS, BLOCKS, sums);
  add_products(PIXELS, BLOCKS, from, weights, run, sums);
  const size_t start = ((size_t)batch * pixels + first) * dst_row + dst_first + channel;
  float results[MOST_SUMS * WIDTH];
  spread_sums(PIXELS, BLOCKS, sums, results);
#pragma unroll 1
  for (int i = 0; i < PIXELS * BLOCKS; ++i) {
    const int p = i / BLOCKS;
    const int b = i % BLOCKS;
    if (first + p >= pixels) break;
    const int count = oc - channel - b * WIDTH;
    if (count <= 0) continue;
    const size_t at = start + (size_t)p * dst_row + b * WIDTH;
    floatw result = HET_JOIN(vload, WIDTH)(i, results);
#ifdef BIAS
    result += HET_JOIN(vload, WIDTH)(0, bias + channel + b * WIDTH);
#endif
    floatw other = (floatw)(0.0f);
#ifdef SUM
    other = load_lanes(addend + at, count);
#endif
    store_lanes(tail(result, other NUMBER_VALUES), dst + at, count);
  }
}

// Copies pictures, plain or with channels last, into larger ones with channels last, zeros around
// them. SEGMENT pixels of a row a work-item.
#define SEGMENT 32
__kernel void pad(__global const stored* src, __global stored* dst, int plain, int n, int c, int ih,
                  int iw, int dst_h, int dst_w, int ph, int pw) {
  const int segments = (dst_w + SEGMENT - 1) / SEGMENT;
  if (get_global_id(0) >= (size_t)n * dst_h * segments) return;
  const int row = (int)get_global_id(0) / segments;
  const int first = ((int)get_global_id(0) - row * segments) * SEGMENT;
  const int image = row / dst_h;
  const int y = row - image * dst_h - ph;
  const bool inside = y >= 0 && y < ih;
  const int last = min(first + SEGMENT, dst_w);
  const int step = plain ? 1 : c;
  for (int i = 0; i < c; ++i) {
    const size_t from =
        plain ? ((size_t)(image * c + i) * ih + y) * iw : (size_t)(image * ih + y) * iw * c + i;
    const size_t to = (size_t)row * dst_w * c + i;
    for (int x = first; x < last; ++x) {
      const int at = x - pw;
      const bool copied = inside && (uint)at < (uint)iw;
      STORE(copied ? LOAD(src, from + at * step) : 0.0f, dst, to + x * c);
    }
  }
}

// Windows side by side: [oh][ow][c][kh][kw] of every picture, zeros for taps outside. SEGMENT pixels
// of a row a work-item.
__kernel void gather(__global const stored* src, __global stored* dst, int plain, int n, int c,
                     int ih, int iw, int oh, int ow, int kh, int kw, int sh, int sw, int dh, int dw,
                     int ph, int pw) {
  const int segments = (ow + SEGMENT - 1) / SEGMENT;
  if (get_global_id(0) >= (size_t)n * oh * segments) return;
  const int row = (int)get_global_id(0) / segments;
  const int first = ((int)get_global_id(0) - row * segments) * SEGMENT;
  const int image = row / oh;
  const int top = (row - image * oh) * sh - ph;
  const int last = min(first + SEGMENT, ow);
  const int run = c * kh * kw;
  const int step = plain ? 1 : c;
  for (int i = 0; i < run; ++i) {
    const int channel = i / (kh * kw);
    const int h = (i - channel * kh * kw) / kw;
    const int w = i - (channel * kh + h) * kw;
    const int y = top + h * dh;
    const bool inside = (uint)y < (uint)ih;
    const size_t from = plain ? ((size_t)(image * c + channel) * ih + y) * iw
                              : (size_t)(image * ih + y) * iw * c + channel;
    const size_t to = (size_t)row * ow * run + i;
    int at = first * sw + w * dw - pw;
    for (int x = first; x < last; ++x, at += sw) {
      const bool copied = inside && (uint)at < (uint)iw;
      STORE(copied ? LOAD(src, from + at * step) : 0.0f, dst, to + x * run);
    }
  }
}

__kernel void conv_6x2(ARGUMENTS) {
  convolve(6, 2, VALUES);
}
__kernel void conv_4x3(ARGUMENTS) {
  convolve(4, 3, VALUES);
}
__kernel void conv_12x1(ARGUMENTS) {
  convolve(12, 1, VALUES);
}

__kernel void multiply_6x2(MULTIPLY_ARGUMENTS) {
  multiply(6, 2, MULTIPLY_VALUES);
}
__kernel void multiply_4x3(MULTIPLY_ARGUMENTS) {
  multiply(4, 3, MULTIPLY_VALUES);
}
__kernel void multiply_12x1(MULTIPLY_ARGUMENTS) {
  multiply(12, 1, MULTIPLY_VALUES);
}
