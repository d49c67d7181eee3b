// Depthwise convolutions of bytes with channels last. A work-item computes `segment` pixels of a
// row x a vector of channels, PIXELS at a time in registers, and loops over kh, kw. Weights are
// [kh][kw][c], less their zero point; a tap outside of the picture reads `outside`.
#define PIXELS 4

__kernel void int8_depthwise(__global const SOURCE* src, __global const short* weights,
                             __global const SOURCE* outside, RESULT_ARGUMENTS, int items,
                             int segment, int c, int ih, int iw, int oh, int ow, int kh, int kw,
                             int sh, int sw, int dh, int dw, int ph, int pw
                                 NUMBER_PARAMETERS) {
  if (get_global_id(0) >= (size_t)items) return;
  const int item = get_global_id(0);
  const int blocks = (c + WIDTH - 1) / WIDTH;
  const int segments = (ow + segment - 1) / segment;
  const int place = item / blocks;
  // The last vector overlaps the one before it instead of going beyond the channels.
  const int channel = min((item - place * blocks) * WIDTH, c - WIDTH);
  const int row = place / segments;
  const int begin = (place - row * segments) * segment;
  const int end = min(begin + segment, ow);
  const int n = row / oh;
  const int top = (row - n * oh) * sh - ph;
  src += (size_t)n * ih * iw * c + channel;
  weights += channel;
  outside += channel;
  for (int first = begin; first < end; first += PIXELS) {
    intw sums[PIXELS];
#pragma unroll
    for (int p = 0; p < PIXELS; ++p) sums[p] = (intw)(0);
    const int left = first * sw - pw;
    for (int h = 0; h < kh; ++h) {
      const int y = top + h * dh;
      const bool row_inside = (uint)y < (uint)ih;
      for (int w = 0; w < kw; ++w) {
        const intw factors =
            HET_JOIN(convert_int, WIDTH)(HET_JOIN(vload, WIDTH)(0, weights + (h * kw + w) * c));
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) {
          const int x = left + w * dw + p * sw;
          const bool inside = row_inside && (uint)x < (uint)iw;
          const uint pixel = ((uint)y * (uint)iw + (uint)x) * (uint)c;
          const uint at = inside ? pixel : 0;
          __global const SOURCE* from = inside ? src + at : outside;
          sums[p] += HET_JOIN(convert_int, WIDTH)(HET_JOIN(vload, WIDTH)(0, from)) * factors;
        }
      }
    }
#pragma unroll
    for (int p = 0; p < PIXELS; ++p) {
      const size_t at = ((size_t)row * ow + first + p) * c + channel;
      if (first + p < end) {
        put_results(sums[p], channel, WIDTH, at, RESULT_VALUES NUMBER_VALUES);
      }
    }
  }
}
