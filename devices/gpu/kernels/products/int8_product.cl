// Convolutions and products of matrices of bytes, channels last. A work-item keeps PIXELS
// neighbouring outputs x BLOCKS vectors of channels in registers and loops over kh, kw and the
// channels by four. Weights are [group][tile][kh][kw][ic / 4][BLOCKS * WIDTH] of four bytes.
#define MOST_PIXELS 8
#define MOST_SUMS 12

// `run` uints of the source are multiplied at each tap, `pitch` lie between pixels; a tap outside
// of the picture reads `outside`.
#define ARGUMENTS                                                                                 \
  __global const uint *src, __global const uint *weights, __global const uint *outside,           \
      RESULT_ARGUMENTS, int weights_zero, int pixels, int tiles, int groups, int pixels_first,    \
      int run, int pitch, int ih, int iw, int oh, int ow, int kh, int kw, int sh, int sw, int dh, \
      int dw, int ph, int pw, int group_oc, int oc NUMBER_PARAMETERS
#define VALUES                                                                                  \
  src, weights, outside, RESULT_VALUES, weights_zero, pixels, tiles, groups, pixels_first, run, \
      pitch, ih, iw, oh, ow, kh, kw, sh, sw, dh, dw, ph, pw, group_oc, oc NUMBER_VALUES

static __attribute__((always_inline)) void convolve(const int PIXELS, const int BLOCKS, ARGUMENTS) {
  const int columns = tiles * groups;
  const int pixel_groups = (pixels + PIXELS * LANES - 1) / (PIXELS * LANES);
  const int work_group = get_group_id(0);
  const int by_column = work_group / columns;
  const int by_row = work_group / pixel_groups;
  const int column = pixels_first ? by_row : work_group - by_column * columns;
  const int row = pixels_first ? work_group - by_row * pixel_groups : by_column;
  const int first = (row * LANES + (int)get_local_id(0)) * PIXELS;
  if (first >= pixels || column >= columns) return;
  const int group = column / tiles;
  const int channel = (column - group * tiles) * BLOCKS * WIDTH;
  src += group * run;
  weights += (size_t)column * kh * kw * run * (BLOCKS * WIDTH);

  int place_x = first % ow;
  int place_y = first / ow % oh;
  int place_n = first / ow / oh;
  int top[MOST_PIXELS], left[MOST_PIXELS], image[MOST_PIXELS];
#pragma unroll
  for (int p = 0; p < PIXELS; ++p) {
    top[p] = place_y * sh - ph;
    left[p] = place_x * sw - pw;
    image[p] = place_n * ih;
    if (first + p + 1 < pixels) {
      if (++place_x == ow) {
        place_x = 0;
        if (++place_y == oh) {
          place_y = 0;
          ++place_n;
        }
      }
    }
  }
  intw sums[MOST_SUMS];
#pragma unroll
  for (int i = 0; i < PIXELS * BLOCKS; ++i) sums[i] = (intw)(0);
#ifdef WEIGHTS_ZERO
  int source_sums[MOST_PIXELS];
#pragma unroll
  for (int p = 0; p < PIXELS; ++p) source_sums[p] = 0;
#endif
  for (int h = 0; h < kh; ++h) {
    for (int w = 0; w < kw; ++w) {
      __global const uint* from[MOST_PIXELS];
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) {
        const int y = top[p] + h * dh;
        const int x = left[p] + w * dw;
        const bool inside = (uint)y < (uint)ih && (uint)x < (uint)iw;
        // Sizes fit an int, places outside need not.
        const uint place = ((uint)(image[p] + y) * (uint)iw + (uint)x) * (uint)pitch;
        const uint at = inside ? place : 0;
        from[p] = inside ? src + at : outside;
      }
      for (int i = 0; i < run; ++i) {
        uintw factors[MOST_SUMS];
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          factors[b] = HET_JOIN(vload, WIDTH)(0, weights + b * WIDTH);
        }
        weights += BLOCKS * WIDTH;
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) {
          const uint values = from[p][i];
#ifdef WEIGHTS_ZERO
          source_sums[p] += sum4(values);
#endif
#pragma unroll
          for (int b = 0; b < BLOCKS; ++b) {
            sums[p * BLOCKS + b] = dot4(sums[p * BLOCKS + b], values, factors[b]);
          }
        }
      }
    }
  }
  const int left_over = group_oc - channel;
  const int dst_channel = group * group_oc + channel;
#pragma unroll
  for (int p = 0; p < PIXELS; ++p) {
    if (first + p < pixels) {
      const size_t at = (size_t)(first + p) * oc + dst_channel;
#pragma unroll
      for (int b = 0; b < BLOCKS; ++b) {
        const int count = left_over - b * WIDTH;
        intw sum = sums[p * BLOCKS + b];
#ifdef WEIGHTS_ZERO
        sum -= (intw)(weights_zero * source_sums[p]);
#endif
        if (count > 0) {
          put_results(sum, dst_channel + b * WIDTH, count, at + b * WIDTH,
                      RESULT_VALUES NUMBER_VALUES);
        }
      }
    }
  }
}

__kernel void int8_4x2(ARGUMENTS) {
  convolve(4, 2, VALUES);
}
__kernel void int8_8x1(ARGUMENTS) {
  convolve(8, 1, VALUES);
}

// Pictures, plain or with channels last, as uints of four channels of a group, zeros behind the
// last ones. A work-item packs a pixel.
__kernel void pack_bytes(__global const uchar* src, __global uint* dst, int pixels, int area, int c,
                         int groups, int group_ic, int plain) {
  const int pixel = get_global_id(0);
  if (pixel >= pixels) return;
  const int image = pixel / area;
  const int place = pixel - image * area;
  const int step = plain ? area : 1;
  const int first = plain ? place : place * c;
  src += (size_t)image * c * area + first;
  const int words = (group_ic + 3) / 4;
  dst += (size_t)pixel * groups * words;
  for (int g = 0; g < groups; ++g) {
    for (int w = 0; w < words; ++w) {
      uint packed = 0;
      for (int i = 0; i < 4; ++i) {
        const int channel = w * 4 + i;
        const int read = g * group_ic + min(channel, group_ic - 1);
        const uint byte = (uint)src[(size_t)read * step] << (8 * i);
        packed |= channel < group_ic ? byte : 0u;
      }
      dst[g * words + w] = packed;
    }
  }
}
