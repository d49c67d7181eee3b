// Behind a generated apply(). Every work-item computes WIDTH neighbours of the innermost dimension.

// The first `count` of WIDTH elements with `stride` between them.
floatw load_some(__global const stored* p, int stride, int count) {
  if (stride == 0) return (floatw)(LOAD(p, 0));
  if (stride == 1 && count >= WIDTH) return LOADW(p);
  float lanes[WIDTH];
  for (int i = 0; i < WIDTH; ++i) lanes[i] = i < count ? LOAD(p, i * stride) : 0.0f;
  return HET_JOIN(vload, WIDTH)(0, lanes);
}

void store_some(floatw v, __global stored* p, int count) {
  if (count >= WIDTH) {
    STOREW(v, p);
    return;
  }
  float lanes[WIDTH];
  HET_JOIN(vstore, WIDTH)(v, 0, lanes);
  for (int i = 0; i < count; ++i) STORE(lanes[i], p, i);
}
