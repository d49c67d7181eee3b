// Copies between formats and between float and half. FROM and TO are the types in memory.
#ifdef FROM_HALF
#define GET(p, i) vload_half((i), (p))
#else
#define GET(p, i) ((p)[i])
#endif
#ifdef TO_HALF
#define PUT(v, p, i) vstore_half((v), (i), (p))
#else
#define PUT(v, p, i) ((p)[i] = (v))
#endif

// One element a work-item.
__kernel void convert(__global const FROM* src, __global TO* dst, int count) {
  const int i = get_global_id(0);
  if (i < count) PUT(GET(src, i), dst, i);
}

// dst[n][column][row] = src[n][row][column]; 4 x 4 elements a work-item.
__kernel void transpose(__global const FROM* src, __global TO* dst, int rows, int columns) {
  const int column = get_global_id(0) * 4;
  const int row = get_global_id(1) * 4;
  const size_t n = (size_t)get_global_id(2) * rows * columns;
  if (column >= columns || row >= rows) return;
  src += n;
  dst += n;
  const int c_end = min(columns, column + 4);
  const int r_end = min(rows, row + 4);
  for (int c = column; c < c_end; ++c) {
    for (int r = row; r < r_end; ++r) {
      PUT(GET(src, (size_t)r * columns + c), dst, (size_t)c * rows + r);
    }
  }
}
