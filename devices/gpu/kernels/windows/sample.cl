// Interpolated pictures: elements outside the picture's memory are never read.
// Three neighbouring dimensions of [outer, z, y, x, inner] resized: every position of a dimension
// has a number of taps, pairs of an offset in src and a weight, tables one after the other. An
// offset below 0 marks a position outside, which gets `outside`. A work-item computes WIDTH
// elements of inner.
#define RESIZE_PLACE                                                        \
  const int x = (int)(at % (uint)out_x);                                    \
  at /= (uint)out_x;                                                        \
  const int y = (int)(at % (uint)out_y);                                    \
  at /= (uint)out_y;                                                        \
  const int z = (int)(at % (uint)out_z);                                    \
  at /= (uint)out_z;                                                        \
  const int first_z = z * taps_z;                                           \
  const int first_y = out_z * taps_z + y * taps_y;                          \
  const int first_x = out_z * taps_z + out_y * taps_y + x * taps_x;         \
  const bool is_outside =                                                   \
      offsets[first_z] < 0 || offsets[first_y] < 0 || offsets[first_x] < 0; \
  src += (size_t)at * picture;

// A weight of zero must not turn an infinity elsewhere into NaN.
#define FOR_EACH_TAP                                                \
  for (int i = first_z; i < first_z + taps_z; ++i)                  \
    for (int j = first_y; j < first_y + taps_y; ++j)                \
      for (int k = first_x; k < first_x + taps_x; ++k)              \
        if (weights[i] * weights[j] * weights[k] != 0.0f)

__kernel void resize(__global const stored* src, __global stored* dst,
                     __global const int* offsets, __global const float* weights, int positions,
                     int picture, int out_z, int out_y, int out_x, int taps_z, int taps_y,
                     int taps_x, float outside, int inner, int chunks) {
  const uint id = get_global_id(0);
  uint at = id / (uint)chunks;
  if (at >= (uint)positions) return;
  const int channel = (int)(id - at * (uint)chunks) * WIDTH;
  const int lanes = inner - channel;
  dst += (size_t)at * inner + channel;
  RESIZE_PLACE
  src += channel;
  floatw sum = (floatw)(is_outside ? outside : 0.0f);
  if (!is_outside) {
    FOR_EACH_TAP {
      const float weight = weights[i] * weights[j] * weights[k];
      sum += weight * load_lanes(src + offsets[i] + offsets[j] + offsets[k], lanes);
    }
  }
  store_lanes(sum, dst, lanes);
}

// The same for `run` vectors of inner a work-item and up to 16 taps in all, which are found once.
__kernel void resize_run(__global const stored* src, __global stored* dst,
                         __global const int* offsets, __global const float* weights, int positions,
                         int picture, int out_z, int out_y, int out_x, int taps_z, int taps_y,
                         int taps_x, float outside, int inner, int chunks, int run) {
  const uint id = get_global_id(0);
  uint at = id / (uint)chunks;
  if (at >= (uint)positions) return;
  const int first = (int)(id - at * (uint)chunks) * run * WIDTH;
  const int end = min(inner, first + run * WIDTH);
  dst += (size_t)at * inner;
  RESIZE_PLACE
  int tap_offsets[16];
  float tap_weights[16];
  int taps = 0;
  if (!is_outside) {
    FOR_EACH_TAP {
      tap_offsets[taps] = offsets[i] + offsets[j] + offsets[k];
      tap_weights[taps++] = weights[i] * weights[j] * weights[k];
    }
  }
  for (int channel = first; channel < end; channel += WIDTH) {
    floatw sum = (floatw)(is_outside ? outside : 0.0f);
    for (int t = 0; t < taps; ++t) {
      sum += tap_weights[t] * load_lanes(src + tap_offsets[t] + channel, inner - channel);
    }
    store_lanes(sum, dst + channel, inner - channel);
  }
}

// The same for one element a work-item.
__kernel void resize_single(__global const stored* src, __global stored* dst,
                            __global const int* offsets, __global const float* weights,
                            int positions, int picture, int out_z, int out_y, int out_x,
                            int taps_z, int taps_y, int taps_x, float outside, int inner) {
  const uint id = get_global_id(0);
  uint at = id / (uint)inner;
  if (at >= (uint)positions) return;
  const int channel = (int)(id - at * (uint)inner);
  RESIZE_PLACE
  float sum = is_outside ? outside : 0.0f;
  if (!is_outside) {
    FOR_EACH_TAP {
      const float weight = weights[i] * weights[j] * weights[k];
      sum += weight * LOAD(src, channel + offsets[i] + offsets[j] + offsets[k]);
    }
  }
  STORE(sum, dst, id);
}

// Where GridSample reads a dimension: up to four pixels, -1 for a zero.
typedef struct {
  int count;
  int index[4];
  float weight[4];
} Taps;

int reflected(int index, int size, int align_corners) {
  const int period = align_corners ? 2 * (size - 1) : 2 * size;
  if (period == 0) return 0;
  const int at = (index % period + period) % period;
  if (at < size) return at;
  return align_corners ? period - at : period - 1 - at;
}

// padding: 0 zeros, 1 border, 2 reflection.
int kept_inside(int index, int size, int padding, int align_corners) {
  if (index >= 0 && index < size) return index;
  if (padding == 0) return -1;
  return padding == 1 ? clamp(index, 0, size - 1) : reflected(index, size, align_corners);
}

// mode: 0 nearest, 1 linear, 2 cubic (Keys, a = -0.75).
Taps taps_of(float coordinate, int size, int mode, int padding, int align_corners) {
  const float position = align_corners ? (coordinate + 1.0f) / 2.0f * (float)(size - 1)
                                       : ((coordinate + 1.0f) * (float)size - 1.0f) / 2.0f;
  // Far outside all pixels are alike, but for reflections, which repeat.
  const float bounded = isnan(position) ? -1e9f : clamp(position, -1e9f, 1e9f);
  Taps taps;
  if (mode == 0) {
    taps.count = 1;
    taps.index[0] = kept_inside((int)rint(bounded), size, padding, align_corners);
    taps.weight[0] = 1.0f;
    return taps;
  }
  const float below = floor(bounded);
  const float t = bounded - below;
  int first = (int)below;
  if (mode == 1) {
    taps.count = 2;
    taps.weight[0] = 1.0f - t;
    taps.weight[1] = t;
  } else {
    taps.count = 4;
    const float a = -0.75f;
    for (int i = 0; i < 4; ++i) {
      const float d = fabs((float)(i - 1) - t);
      taps.weight[i] = d <= 1.0f ? ((a + 2.0f) * d - (a + 3.0f)) * d * d + 1.0f
                                 : ((a * d - 5.0f * a) * d + 8.0f * a) * d - 4.0f * a;
    }
    --first;
  }
  for (int i = 0; i < taps.count; ++i) {
    taps.index[i] = kept_inside(first + i, size, padding, align_corners);
  }
  return taps;
}

// Pictures channels last; the grid lists x, y, z per position. A work-item computes WIDTH channels.
__kernel void grid_sample(__global const stored* src, __global const float* grid,
                          __global stored* dst, int channels, int chunks, int per_picture,
                          int positions, int spatial, int size_z, int size_y, int size_x, int mode,
                          int padding, int align_corners) {
  const uint id = get_global_id(0);
  const uint at = id / (uint)chunks;
  if (at >= (uint)positions) return;
  const int channel = (int)(id - at * (uint)chunks) * WIDTH;
  const int lanes = channels - channel;
  src += (size_t)(at / (uint)per_picture) * size_z * size_y * size_x * channels + channel;
  grid += (size_t)at * spatial;
  Taps whole;
  whole.count = 1;
  whole.index[0] = 0;
  whole.weight[0] = 1.0f;
  const Taps xs = taps_of(grid[0], size_x, mode, padding, align_corners);
  Taps ys = whole;
  Taps zs = whole;
  if (spatial > 1) ys = taps_of(grid[1], size_y, mode, padding, align_corners);
  if (spatial > 2) zs = taps_of(grid[2], size_z, mode, padding, align_corners);
  floatw sum = (floatw)(0.0f);
  for (int i = 0; i < zs.count; ++i) {
    if (zs.index[i] < 0) continue;
    for (int j = 0; j < ys.count; ++j) {
      if (ys.index[j] < 0) continue;
      for (int k = 0; k < xs.count; ++k) {
        if (xs.index[k] < 0) continue;
        const size_t pixel = (size_t)(zs.index[i] * size_y + ys.index[j]) * size_x + xs.index[k];
        sum += zs.weight[i] * ys.weight[j] * xs.weight[k] *
               load_lanes(src + pixel * channels, lanes);
      }
    }
  }
  store_lanes(sum, dst + (size_t)at * channels + channel, lanes);
}
