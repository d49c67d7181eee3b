// Pooling of regions of plain pictures; a work-item computes one element of the output. Positions
// are in REAL: double where the device has it, since a bin's first and last pixel are rounded.
#ifdef HAS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double REAL;
#else
typedef float REAL;
#endif

// The output's element as region, channel, row and column of bins.
#define REGION_PLACE                                                  \
  const uint id = get_global_id(0);                                   \
  if (id >= (uint)count) return;                                      \
  const int bx = (int)(id % (uint)bins_x);                            \
  const int by = (int)(id / (uint)bins_x % (uint)bins_y);             \
  const int c = (int)(id / ((uint)bins_x * bins_y) % (uint)channels); \
  const int region = (int)(id / ((uint)bins_x * bins_y * channels));

// The first NaN stays.
float larger(float largest, float value) {
  return value > largest || (isnan(value) && !isnan(largest)) ? value : largest;
}

// RoiAlign: two pixels of one dimension around a sample. Further than a pixel outside it is 0.
typedef struct {
  int low;
  int high;
  float low_weight;
  float high_weight;
  bool outside;
} PixelPair;

PixelPair pixel_pair(REAL position, int size) {
  PixelPair pair;
  pair.outside = !(position >= (REAL)-1 && position <= (REAL)size);
  if (pair.outside) position = 0;
  position = max(position, (REAL)0);
  pair.low = (int)position;
  pair.high = pair.low + 1;
  if (pair.low >= size - 1) {
    pair.low = pair.high = size - 1;
    position = (REAL)(size - 1);
  }
  pair.high_weight = (float)(position - (REAL)pair.low);
  pair.low_weight = 1.0f - pair.high_weight;
  return pair;
}

// One dimension of a region: where it begins and how long a bin is.
float2 aligned_axis(float from, float to, float shift, float scale, int half_pixel, int bins) {
  const float offset = half_pixel ? 0.5f : 0.0f;
  const float start = (from + shift) * scale - offset;
  float size = (to + shift) * scale - offset - start;
  if (!half_pixel) size = max(size, 1.0f);
  return (float2)(start, size / (float)bins);
}

int samples_of(float bin_size, int ratio) {
  // As many as the reference allows; a region from a broken model may have any size.
  return ratio > 0 ? ratio : (int)clamp(ceil(bin_size), 0.0f, 4096.0f);
}

__kernel void roi_align(__global const stored* src, __global const float* regions,
                        __global const INDEX* pictures, __global stored* dst, int count,
                        int channels, int bins_y, int bins_x, int height, int width, int batch,
                        int take_max, int max_of_samples, float shift, float scale, int half_pixel,
                        int ratio) {
  REGION_PLACE
  const int picture = (int)clamp((long)pictures[region], (long)0, (long)(batch - 1));
  src += ((size_t)picture * channels + c) * height * width;
  __global const float* roi = regions + region * 4;
  const float2 across = aligned_axis(roi[0], roi[2], shift, scale, half_pixel, bins_x);
  const float2 down = aligned_axis(roi[1], roi[3], shift, scale, half_pixel, bins_y);
  const int samples_x = samples_of(across.y, ratio);
  const int samples_y = samples_of(down.y, ratio);
  float sum = 0.0f;
  float largest = 0.0f;
  bool first = !max_of_samples;
  for (int i = 0; i < samples_y; ++i) {
    const PixelPair y = pixel_pair(
        (REAL)down.x + ((REAL)by + ((REAL)i + (REAL)0.5) / (REAL)samples_y) * (REAL)down.y, height);
    for (int k = 0; k < samples_x; ++k) {
      const PixelPair x = pixel_pair(
          (REAL)across.x + ((REAL)bx + ((REAL)k + (REAL)0.5) / (REAL)samples_x) * (REAL)across.y,
          width);
      float4 pixels = (float4)(0.0f);
      if (!y.outside && !x.outside) {
        pixels = (float4)(y.low_weight * x.low_weight * LOAD(src, y.low * width + x.low),
                          y.low_weight * x.high_weight * LOAD(src, y.low * width + x.high),
                          y.high_weight * x.low_weight * LOAD(src, y.high * width + x.low),
                          y.high_weight * x.high_weight * LOAD(src, y.high * width + x.high));
      }
      const float sample = pixels.s0 + pixels.s1 + pixels.s2 + pixels.s3;
      const float most = max_of_samples ? sample
                                        : larger(larger(pixels.s0, pixels.s1),
                                                 larger(pixels.s2, pixels.s3));
      sum += sample;
      largest = first ? most : larger(largest, most);
      first = false;
    }
  }
  // Not as an arm of the choice: PoCL 6 with LLVM 18 moves it there and aborts the process ("did
  // not reach a fixpoint", https://github.com/pocl/pocl/issues/1608).
  const float mean = sum / (float)max(1, samples_x * samples_y);
  STORE(take_max ? largest : mean, dst, id);
}

// Rows [picture, x_min, y_min, x_max, y_max]; the first of picture -1 ends the list.
bool is_listed(__global const float* regions, int region) {
  for (int r = 0; r <= region; ++r) {
    if (regions[r * 5] == -1.0f) return false;
  }
  return true;
}

REAL coordinate(float value) {
  return isnan(value) ? (REAL)0 : (REAL)clamp(value, -1e9f, 1e9f);
}

int limited(REAL position, int size) {
  return (int)clamp(position, (REAL)0, (REAL)size);
}

#define LISTED_REGION                                                \
  if (!is_listed(regions, region)) {                                 \
    STORE(0.0f, dst, id);                                            \
    return;                                                          \
  }                                                                  \
  const int picture = clamp((int)regions[region * 5], 0, batch - 1); \
  const REAL x_min = coordinate(regions[region * 5 + 1]);            \
  const REAL y_min = coordinate(regions[region * 5 + 2]);            \
  const REAL x_max = coordinate(regions[region * 5 + 3]);            \
  const REAL y_max = coordinate(regions[region * 5 + 4]);

// Between the pixels around a point of [0, height) x [0, width).
float between(__global const stored* plane, int height, int width, REAL y, REAL x) {
  const int top = (int)y;
  const int left = (int)x;
  const int bottom = min(top + 1, height - 1);
  const int right = min(left + 1, width - 1);
  const float across = (float)(x - (REAL)left);
  const float a = LOAD(plane, top * width + left);
  const float b = LOAD(plane, bottom * width + left);
  const float upper = a + (LOAD(plane, top * width + right) - a) * across;
  const float lower = b + (LOAD(plane, bottom * width + right) - b) * across;
  return upper + (lower - upper) * (float)(y - (REAL)top);
}

// ROIPooling: whole pixels [x, y) of a bin.
int2 max_bin(REAL from, REAL to, REAL scale, int bin, int bins, int size) {
  const REAL start = round(from * scale);
  const REAL length = max(round(to * scale) - start + (REAL)1, (REAL)1);
  const REAL step = length / (REAL)bins;
  return (int2)(limited(floor((REAL)bin * step) + start, size),
                limited(ceil((REAL)(bin + 1) * step) + start, size));
}

// A position between pixels, below 0 for a bin outside.
REAL bilinear_bin(REAL from, REAL to, int bin, int bins, int size) {
  const REAL last = (REAL)(size - 1);
  REAL position = (from + to) / (REAL)2 * last;
  if (bins > 1) {
    const REAL step = (to - from) * last / (REAL)(bins - 1);
    position = bin == bins - 1 ? to * last : from * last + (REAL)bin * step;
  }
  return position >= (REAL)0 && position <= last ? position : (REAL)-1;
}

__kernel void roi_pooling(__global const stored* src, __global const float* regions,
                          __global stored* dst, int count, int channels, int bins_y, int bins_x,
                          int height, int width, int batch, int bilinear, float scale) {
  REGION_PLACE
  LISTED_REGION
  src += ((size_t)picture * channels + c) * height * width;
  if (bilinear) {
    const REAL y = bilinear_bin(y_min, y_max, by, bins_y, height);
    const REAL x = bilinear_bin(x_min, x_max, bx, bins_x, width);
    const bool outside = y < (REAL)0 || x < (REAL)0;
    STORE(
        outside ? 0.0f : between(src, height, width, outside ? (REAL)0 : y, outside ? (REAL)0 : x),
        dst, id);
    return;
  }
  const int2 ys = max_bin(y_min, y_max, (REAL)scale, by, bins_y, height);
  const int2 xs = max_bin(x_min, x_max, (REAL)scale, bx, bins_x, width);
  float largest = 0.0f;
  for (int y = ys.x; y < ys.y; ++y) {
    for (int x = xs.x; x < xs.y; ++x) {
      const float value = LOAD(src, y * width + x);
      largest = y == ys.x && x == xs.x ? value : larger(largest, value);
    }
  }
  STORE(largest, dst, id);
}

// PSROIPooling: bins are `group` by `group`; parts of a region are parts_y by parts_x (bilinear).
__kernel void psroi_pooling(__global const stored* src, __global const float* regions,
                            __global stored* dst, int count, int channels, int bins_y, int bins_x,
                            int height, int width, int batch, int maps, int bilinear, int parts_y,
                            int parts_x, float factor) {
  REGION_PLACE
  LISTED_REGION
  const REAL scale = (REAL)factor;
  const size_t plane = (size_t)height * width;
  src += (size_t)picture * channels * maps * plane;
  if (!bilinear) {
    const REAL left = round(x_min) * scale;
    const REAL top = round(y_min) * scale;
    const REAL step_x = max((round(x_max) + (REAL)1) * scale - left, (REAL)0.1) / (REAL)bins_x;
    const REAL step_y = max((round(y_max) + (REAL)1) * scale - top, (REAL)0.1) / (REAL)bins_y;
    const int2 ys = (int2)(limited(floor(top + (REAL)by * step_y), height),
                           limited(ceil(top + (REAL)(by + 1) * step_y), height));
    const int2 xs = (int2)(limited(floor(left + (REAL)bx * step_x), width),
                           limited(ceil(left + (REAL)(bx + 1) * step_x), width));
    src += (size_t)((c * bins_y + by) * bins_x + bx) * plane;
    float sum = 0.0f;
    for (int y = ys.x; y < ys.y; ++y) {
      for (int x = xs.x; x < xs.y; ++x) sum += LOAD(src, y * width + x);
    }
    const int pixels = max(0, ys.y - ys.x) * max(0, xs.y - xs.x);
    STORE(pixels > 0 ? sum / (float)pixels : 0.0f, dst, id);
    return;
  }
  const REAL step_x = (x_max - x_min) * scale / (REAL)parts_x;
  const REAL step_y = (y_max - y_min) * scale / (REAL)parts_y;
  const REAL way_x = bins_x > 1 ? (REAL)bx / (REAL)(bins_x - 1) : (REAL)0.5;
  const REAL way_y = bins_y > 1 ? (REAL)by / (REAL)(bins_y - 1) : (REAL)0.5;
  float sum = 0.0f;
  for (int part = 0; part < parts_y * parts_x; ++part) {
    const REAL y =
        (y_min * scale + (REAL)(part / parts_x) * step_y + way_y * step_y) * (REAL)(height - 1);
    const REAL x =
        (x_min * scale + (REAL)(part % parts_x) * step_x + way_x * step_x) * (REAL)(width - 1);
    if (y >= (REAL)0 && x >= (REAL)0 && y < (REAL)height && x < (REAL)width) {
      sum += between(src + (size_t)(part * channels + c) * plane, height, width, y, x);
    }
  }
  STORE(sum / (float)(parts_y * parts_x), dst, id);
}

// CropAndResize: positions in float, as ONNX Runtime has them, since what is inside and what is
// nearest depends on their last bits: no product is fused with a sum.
float crop_position(float from, float to, int i, int count, int size) {
#pragma OPENCL FP_CONTRACT OFF
  const float last = (float)(size - 1);
  const float middle = 0.5f * (from + to) * last;
  const float step = (to - from) * last / (float)max(count - 1, 1);
  const float begin = from * last;
  const float way = (float)i * step;
  return count == 1 ? middle : begin + way;
}

__kernel void crop_and_resize(__global const stored* src, __global const float* regions,
                              __global const INDEX* pictures, __global stored* dst, int count,
                              int channels, int bins_y, int bins_x, int height, int width,
                              int batch, int nearest, float outside) {
  REGION_PLACE
  const int picture = (int)clamp((long)pictures[region], 0L, (long)(batch - 1));
  src += ((size_t)picture * channels + c) * height * width;
  regions += (size_t)region * 4;
  const float y = crop_position(regions[0], regions[2], by, bins_y, height);
  const float x = crop_position(regions[1], regions[3], bx, bins_x, width);
  const bool inside = y >= 0.0f && y <= (float)(height - 1) && x >= 0.0f && x <= (float)(width - 1);
  float value = outside;
  if (inside && nearest) value = LOAD(src, (int)round(y) * width + (int)round(x));
  if (inside && !nearest) value = between(src, height, width, (REAL)y, (REAL)x);
  STORE(value, dst, id);
}
