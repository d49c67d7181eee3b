// Behind a generated tail(). Products of stacks of matrices, dst = tail(alpha a b + beta bias).
// Columns of b come in panels of PANEL = VECTORS * WIDTH, padded with zeros; a work-item owns ROWS
// rows of one panel in registers and runs along the depth.
#define PANEL (VECTORS * WIDTH)

// What stands behind the sums, for WIDTH columns of one row.
void finish_row(floatw v, __global stored* dst, __global const stored* bias,
                __global const stored* sum, size_t at, int row, int column, int n, float alpha,
                float beta, int bias_row, int bias_column NUMBER_PARAMETERS) {
  const int count = n - column;
  v *= alpha;
  if (bias) {
    v += beta * load_strided(bias + (size_t)row * bias_row + (size_t)column * bias_column,
                             bias_column, count);
  }
  floatw added = (floatw)(0.0f);
  if (sum) added = load_strided(sum + at, 1, count);
  store_lanes(tail(v, added NUMBER_VALUES), dst + at, count);
}

// Dimension 0: blocks of rows, or panels with PANELS_FIRST; 1: the other; 2: matrices times slices
// of the depth. offsets[matrix] says where its a, b and dst begin. With more than one slice the
// sums go to `partial`, [slices][matrices][m][n].
__kernel void matmul(__global const stored* a, __global const stored* b,
                     __global const stored* bias, __global const stored* sum, __global stored* dst,
                     __global float* partial, __global const int* offsets, int matrices, int m,
                     int n, int k, int a_row, int a_depth, int b_panel, int b_depth, int dst_row,
                     int slices, int slice_depth, float alpha, float beta, int bias_row,
                     int bias_column NUMBER_PARAMETERS) {
#ifdef PANELS_FIRST
  const int column = get_global_id(0) * PANEL;
  const int row = get_global_id(1) * ROWS;
#else
  const int row = get_global_id(0) * ROWS;
  const int column = get_global_id(1) * PANEL;
#endif
  const int matrix = get_global_id(2) % matrices;
  const int slice = get_global_id(2) / matrices;
  if (row >= m || column >= n || slice >= slices) return;
  const int begin = slice * slice_depth;
  const int end = min(k, begin + slice_depth);
  a += offsets[3 * matrix] + (size_t)begin * a_depth;
  b += offsets[3 * matrix + 1] + (size_t)(column / PANEL) * b_panel + (size_t)begin * b_depth;
  __global const stored* rows[ROWS];
  floatw sums[ROWS][VECTORS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    rows[r] = a + (size_t)min(row + r, m - 1) * a_row;
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) sums[r][v] = (floatw)(0.0f);
  }
  size_t at = 0;
  for (int i = begin; i < end; ++i) {
    floatw right[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) right[v] = LOADW(b + v * WIDTH);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const floatw left = (floatw)(LOAD(rows[r], at));
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) sums[r][v] = fma(left, right[v], sums[r][v]);
    }
    b += b_depth;
    at += a_depth;
  }
  // Walked by loops from here: unrolled, what is done to a result would be ROWS * VECTORS times as
  // much code.
  float results[ROWS * PANEL];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      HET_JOIN(vstore, WIDTH)(sums[r][v], r * VECTORS + v, results);
    }
  }
#pragma unroll 1
  for (int i = 0; i < ROWS * VECTORS; ++i) {
    const int y = row + i / VECTORS;
    const int x = column + i % VECTORS * WIDTH;
    if (y >= m || x >= n) continue;
    if (slices == 1) {
      const size_t to = offsets[3 * matrix + 2] + (size_t)y * dst_row + x;
      finish_row(HET_JOIN(vload, WIDTH)(i, results), dst, bias, sum, to, y, x, n, alpha, beta,
                 bias_row, bias_column NUMBER_VALUES);
    } else {
      __global float* out = partial + (((size_t)slice * matrices + matrix) * m + y) * n + x;
      for (int c = 0; c < min(WIDTH, n - x); ++c) out[c] = results[i * WIDTH + c];
    }
  }
}

// Adds the slices. Dimension 0: WIDTH columns, 1: rows of all matrices.
__kernel void add_slices(__global const float* partial, __global const stored* bias,
                         __global const stored* sum, __global stored* dst,
                         __global const int* offsets, int rows, int m, int n, int dst_row,
                         int slices, float alpha, float beta, int bias_row, int bias_column NUMBER_PARAMETERS) {
  const int x = get_global_id(0) * WIDTH;
  const int row = get_global_id(1);
  if (x >= n || row >= rows) return;
  const size_t at = (size_t)row * n + x;
  floatw total = (floatw)(0.0f);
  for (int s = 0; s < slices; ++s) {
    __global const float* p = partial + (size_t)s * rows * n + at;
    if (n - x >= WIDTH) {
      total += HET_JOIN(vload, WIDTH)(0, p);
    } else {
      float lanes[WIDTH];
      for (int i = 0; i < WIDTH; ++i) lanes[i] = i < n - x ? p[i] : 0.0f;
      total += HET_JOIN(vload, WIDTH)(0, lanes);
    }
  }
  const size_t to = offsets[row / m * 3 + 2] + (size_t)(row % m) * dst_row + x;
  finish_row(total, dst, bias, sum, to, row % m, x, n, alpha, beta, bias_row, bias_column NUMBER_VALUES);
}
