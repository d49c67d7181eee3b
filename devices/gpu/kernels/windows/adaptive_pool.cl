// Bin i of `out` covers the elements floor(i * in / out) to ceil((i + 1) * in / out) - 1 of a
// dimension. A work-item takes one bin of a plane: its mean or, with PLACE, its first largest
// element and where in the plane that is.
int2 bin_of(int i, int out, int in) {
  const long first = (long)i * in;
  const long last = first + in + out - 1;
  return (int2)((int)(first / out), (int)(last / out));
}

#ifdef PLACE
__kernel void adaptive_pool(__global const stored* src, __global stored* dst,
                            __global PLACE* places, int count, int id, int ih, int iw, int od,
                            int oh, int ow) {
#else
__kernel void adaptive_pool(__global const stored* src, __global stored* dst, int count, int id,
                            int ih, int iw, int od, int oh, int ow) {
#endif
  const int index = get_global_id(0);
  if (index >= count) return;
  int rest = index;
  const int2 xs = bin_of(rest % ow, ow, iw);
  rest /= ow;
  const int2 ys = bin_of(rest % oh, oh, ih);
  rest /= oh;
  const int2 zs = bin_of(rest % od, od, id);
  src += (size_t)(rest / od) * id * ih * iw;
  int best = (zs.x * ih + ys.x) * iw + xs.x;
  float largest = LOAD(src, best);
  float sum = 0.0f;
  for (int z = zs.x; z < zs.y; ++z) {
    for (int y = ys.x; y < ys.y; ++y) {
      for (int x = xs.x; x < xs.y; ++x) {
        const int at = (z * ih + y) * iw + x;
        const float value = LOAD(src, at);
        sum += value;
        if (value > largest || (isnan(value) && !isnan(largest))) {
          largest = value;
          best = at;
        }
      }
    }
  }
#ifdef PLACE
  STORE(largest, dst, index);
  if (places) places[index] = best;
#else
  const int elements = (zs.y - zs.x) * (ys.y - ys.x) * (xs.y - xs.x);
  STORE(sum / (float)elements, dst, index);
#endif
}
