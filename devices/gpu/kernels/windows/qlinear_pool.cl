// Means of windows over bytes with channels last: a work-item computes WIDTH channels of one
// position, in exact sums. `win` lists in, out, kernel, strides, dilations, pads before, three
// numbers each (d, h, w). Bytes are SOURCE and RESULT (uchar or char).
#define IN(d) win[d]
#define OUT(d) win[3 + (d)]
#define KERNEL(d) win[6 + (d)]
#define AT(d, o, k) ((o)*win[9 + (d)] + (k)*win[12 + (d)] - win[15 + (d)])

intw get_bytes(__global const SOURCE* p, int count) {
  if (count >= WIDTH) return HET_JOIN(convert_int, WIDTH)(HET_JOIN(vload, WIDTH)(0, p));
  int lanes[WIDTH];
  for (int i = 0; i < WIDTH; ++i) lanes[i] = i < count ? (int)p[i] : 0;
  return HET_JOIN(vload, WIDTH)(0, lanes);
}

__kernel void qlinear_pool(__global const SOURCE* src, __global RESULT* dst,
                           __constant const int* win, __global const float* src_scale,
                           __global const SOURCE* src_zero, __global const float* dst_scale,
                           __global const RESULT* dst_zero, int channels, int chunks, int positions,
                           int include_pad) {
  const int id = get_global_id(0);
  const int position = id / chunks;
  if (position >= positions) return;
  const int channel = (id - position * chunks) * WIDTH;
  const int lanes = channels - channel;
  const int ow = position % OUT(2);
  const int oh = position / OUT(2) % OUT(1);
  const int od = position / OUT(2) / OUT(1) % OUT(0);
  const int picture = position / OUT(2) / OUT(1) / OUT(0);
  src += channel;
  intw sums = (intw)(0);
  int inside = 0;
  for (int d = 0; d < KERNEL(0); ++d) {
    const int z = AT(0, od, d);
    if ((uint)z >= (uint)IN(0)) continue;
    for (int h = 0; h < KERNEL(1); ++h) {
      const int y = AT(1, oh, h);
      if ((uint)y >= (uint)IN(1)) continue;
      const int row = ((picture * IN(0) + z) * IN(1) + y) * IN(2);
      for (int w = 0; w < KERNEL(2); ++w) {
        const int x = AT(2, ow, w);
        if ((uint)x >= (uint)IN(2)) continue;
        sums += get_bytes(src + (size_t)(row + x) * channels, lanes);
        ++inside;
      }
    }
  }
  sums -= (intw)(inside * (int)src_zero[0]);
  const int whole = KERNEL(0) * KERNEL(1) * KERNEL(2);
  const int count = max(1, include_pad ? whole : inside);
  const float factor = src_scale[0] / ((float)count * dst_scale[0]);
  floatw result = rint(HET_JOIN(convert_float, WIDTH)(sums) * factor) + (float)dst_zero[0];
  result = fmin(fmax(result, (floatw)(LOWEST)), (floatw)(HIGHEST));
  const HET_JOIN(RESULT, WIDTH) bytes = HET_JOIN(HET_JOIN(convert_, RESULT), WIDTH)(result);
  dst += (size_t)position * channels + channel;
  if (lanes >= WIDTH) {
    HET_JOIN(vstore, WIDTH)(bytes, 0, dst);
    return;
  }
  RESULT kept[WIDTH];
  HET_JOIN(vstore, WIDTH)(bytes, 0, kept);
  for (int i = 0; i < lanes; ++i) dst[i] = kept[i];
}
