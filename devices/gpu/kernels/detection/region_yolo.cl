// het.RegionYolo: a work-item computes one cell of one region; entry e of cell i lies at
// e * area + i. The logistic function of x, y, objectness and, without SOFTMAX, of the classes.
float logistic(float x) { return 1.0f / (1.0f + exp(-x)); }

__kernel void region_yolo(__global const stored* src, __global stored* dst, int images,
                          int regions, int area, int coords, int classes, int src_channels,
                          int softmax) {
  const int i = get_global_id(0);
  const int region = get_global_id(1);
  if (i >= area || region >= images * regions) return;
  const int entries = coords + 1 + classes;
  const int image = region / regions;
  src += ((size_t)image * src_channels + (size_t)(region % regions) * entries) * area + i;
  dst += (size_t)region * entries * area + i;
  for (int e = 0; e < entries; ++e) {
    const float v = LOAD(src, (size_t)e * area);
    const int bent = e < 2 || e == coords || (!softmax && e > coords);
    STORE(bent ? logistic(v) : v, dst, (size_t)e * area);
  }
  if (!softmax || classes == 0) return;
  src += (size_t)(coords + 1) * area;
  dst += (size_t)(coords + 1) * area;
  float most = LOAD(src, 0);
  for (int c = 1; c < classes; ++c) most = fmax(most, LOAD(src, (size_t)c * area));
  float sum = 0.0f;
  for (int c = 0; c < classes; ++c) sum += exp(LOAD(src, (size_t)c * area) - most);
  for (int c = 0; c < classes; ++c) {
    STORE(exp(LOAD(src, (size_t)c * area) - most) / sum, dst, (size_t)c * area);
  }
}

// het.ReorgYolo: dst is [images, channels, height, width] of a source's memory seen as
// [channels / stride^2, height * stride, width * stride]. A work-item copies one element.
__kernel void reorg_yolo(__global const stored* src, __global stored* dst, int images,
                         int channels, int height, int width, int stride) {
  const int x = get_global_id(0);
  const int c = get_global_id(1);
  const int n = get_global_id(2);
  if (x >= height * width || c >= channels || n >= images) return;
  const int group = channels / (stride * stride);
  const int offset = c / group;
  const int h = x / width;
  const size_t row =
      (size_t)(n * group + c % group) * height * stride + h * stride + offset / stride;
  const size_t from = row * width * stride + x % width * stride + offset % stride;
  STORE(LOAD(src, from), dst, ((size_t)n * channels + c) * height * width + x);
}
