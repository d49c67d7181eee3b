// Depthwise convolutions with channels last. A work-item computes `segment` pixels of a row x
// BLOCKS vectors of channels, PIXELS at a time in registers, and loops over kh, kw. Two vectors
// fill a cache line of a CPU. Weights are [kh][kw][c].
#define MOST_SUMS 8

// PIXELS outputs from column `first` on, or `count` with CHECKED, where taps may be outside.
static __attribute__((always_inline)) void depthwise_tile(
    const bool CHECKED, const int PIXELS, const int BLOCKS, __global const stored* src,
    __global const stored* weights, __global const float* bias, __global const stored* addend,
    __global stored* dst, int first, int count, int y, int c, int ih, int iw, int kh, int kw,
    int sw, int dh, int dw, int pw NUMBER_PARAMETERS) {
  floatw sums[MOST_SUMS];
#pragma unroll
  for (int i = 0; i < PIXELS * BLOCKS; ++i) sums[i] = (floatw)(0.0f);
  const int left = first * sw - pw;
  for (int h = 0; h < kh; ++h) {
    const int at_y = y + h * dh;
    if (at_y < 0 || at_y >= ih) continue;
    for (int w = 0; w < kw; ++w) {
      floatw factors[2];
#pragma unroll
      for (int b = 0; b < BLOCKS; ++b) factors[b] = LOADW(weights + (h * kw + w) * c + b * WIDTH);
      const int x = left + w * dw;
      __global const stored* from = src + (at_y * iw + x) * c;
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) {
        const bool inside = !CHECKED || (p < count && (uint)(x + p * sw) < (uint)iw);
        if (inside) {
#pragma unroll
          for (int b = 0; b < BLOCKS; ++b) {
            sums[p * BLOCKS + b] = fma(LOADW(from + b * WIDTH), factors[b], sums[p * BLOCKS + b]);
          }
        }
        from += sw * c;
      }
    }
  }
#pragma unroll
  for (int p = 0; p < PIXELS; ++p) {
    if (!CHECKED || p < count) {
#pragma unroll
      for (int b = 0; b < BLOCKS; ++b) {
        const int at = (first + p) * c + b * WIDTH;
        floatw result = sums[p * BLOCKS + b];
#ifdef BIAS
        result += HET_JOIN(vload, WIDTH)(0, bias + b * WIDTH);
#endif
        floatw other = (floatw)(0.0f);
#ifdef SUM
        other = LOADW(addend + at);
#endif
        STOREW(tail(result, other NUMBER_VALUES), dst + at);
      }
    }
  }
}

#define ARGUMENTS                                                                           \
  __global const stored *src, __global const stored *weights, __global const float *bias,   \
      __global const stored *addend, __global stored *dst, int items, int segment, int c,   \
      int ih, int iw, int oh, int ow, int kh, int kw, int sh, int sw, int dh, int dw, int ph, \
      int pw NUMBER_PARAMETERS

static __attribute__((always_inline)) void depthwise(const int PIXELS, const int BLOCKS,
                                                     ARGUMENTS) {
  if (get_global_id(0) >= (size_t)items) return;
  const int item = get_global_id(0);
  const int blocks = (c + BLOCKS * WIDTH - 1) / (BLOCKS * WIDTH);
  const int segments = (ow + segment - 1) / segment;
  const int place = item / blocks;
  // The last vectors overlap those before them instead of going beyond the channels.
  const int channel = min((item - place * blocks) * BLOCKS * WIDTH, c - BLOCKS * WIDTH);
  const int row = place / segments;
  const int begin = (place - row * segments) * segment;
  const int end = min(begin + segment, ow);
  const int n = row / oh;
  const int top = (row - n * oh) * sh - ph;
  src += (n * ih * iw) * c + channel;
  weights += channel;
  const int out = row * ow * c + channel;
  dst += out;
#ifdef BIAS
  bias += channel;
#endif
#ifdef SUM
  addend += out;
#endif
  for (int first = begin; first < end; first += PIXELS) {
    const int count = end - first;
    const int left = first * sw - pw;
    const int right = left + (PIXELS - 1) * sw + (kw - 1) * dw;
    if (left >= 0 && right < iw && count >= PIXELS) {
      depthwise_tile(false, PIXELS, BLOCKS, src, weights, bias, addend, dst, first, count, top, c,
                     ih, iw, kh, kw, sw, dh, dw, pw NUMBER_VALUES);
    } else {
      depthwise_tile(true, PIXELS, BLOCKS, src, weights, bias, addend, dst, first, count, top, c,
                     ih, iw, kh, kw, sw, dh, dw, pw NUMBER_VALUES);
    }
  }
}

#define VALUES                                                                                  \
  src, weights, bias, addend, dst, items, segment, c, ih, iw, oh, ow, kh, kw, sh, sw, dh, dw, ph, \
      pw NUMBER_VALUES
__kernel void depthwise_8x1(ARGUMENTS) { depthwise(8, 1, VALUES); }
__kernel void depthwise_4x2(ARGUMENTS) { depthwise(4, 2, VALUES); }
