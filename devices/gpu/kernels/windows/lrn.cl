// y = x / (bias + factor * sum of squares over neighbouring channels)^beta. Memory is
// [outer, channels, inner]: inner is 1 for channels last. A work-item computes one element.
__kernel void lrn(__global const stored* src, __global stored* dst, int outer, int channels,
                  int inner, int before, int after, float factor, float beta, float bias) {
  const int x = get_global_id(0);
  const int block = get_global_id(1);
  if (x >= channels * inner || block >= outer) return;
  const int channel = x / inner;
  src += (size_t)block * channels * inner + x;
  dst += (size_t)block * channels * inner + x;
  const int first = max(-channel, -before);
  const int last = min(channels - 1 - channel, after);
  float squares = 0.0f;
  for (int k = first; k <= last; ++k) {
    const float v = LOAD(src, (long)k * inner);
    squares += v * v;
  }
  STORE(LOAD(src, 0) / pow(bias + factor * squares, beta), dst, 0);
}
