// dst = (a - a_zero) * (b - b_zero) in whole numbers that wrap around: A, B and SUM (unsigned) are
// their types, WIDE is SUM or, where B is signed, its signed fellow. A work-item keeps ROWS rows x
// WIDTH columns in registers. `pairs` lists the matrices of a and b; zero points lie a_matrix or
// b_matrix from matrix to matrix and a_row or b_column along one, or are null.
#define ROWS 4
typedef HET_JOIN(SUM, WIDTH) sumw;
#define TO_WIDE HET_JOIN(HET_JOIN(convert_, WIDE), WIDTH)
#define AS_SUM HET_JOIN(HET_JOIN(as_, SUM), WIDTH)

// The first `count` of WIDTH elements with `step` between them, zeros behind them.
sumw load_right(__global const B* p, int step, int count) {
  if (step == 1 && count >= WIDTH) return AS_SUM(TO_WIDE(HET_JOIN(vload, WIDTH)(0, p)));
  SUM lanes[WIDTH];
  for (int i = 0; i < WIDTH; ++i) lanes[i] = i < count ? (SUM)p[i * step] : 0;
  return HET_JOIN(vload, WIDTH)(0, lanes);
}

__kernel void integer_matmul(__global const A* a, __global const B* b, __global const A* a_zero,
                             __global const B* b_zero, __global const int* pairs, __global SUM* dst,
                             int m, int n, int k, int a_matrix, int a_row, int b_matrix,
                             int b_column) {
  const int column = get_global_id(0) * WIDTH;
  const int row = get_global_id(1) * ROWS;
  const int matrix = get_global_id(2);
  if (column >= n || row >= m) return;
  const int count = n - column;
  const int left = pairs[2 * matrix];
  const int right = pairs[2 * matrix + 1];
  sumw right_zero = (sumw)(0);
  if (b_zero)
    right_zero = load_right(b_zero + right * b_matrix + column * b_column, b_column, count);
  SUM left_zero[ROWS];
  __global const A* from[ROWS];
  sumw sums[ROWS];
  for (int r = 0; r < ROWS; ++r) {
    const int y = min(row + r, m - 1);
    left_zero[r] = 0;
    if (a_zero) left_zero[r] = (SUM)a_zero[left * a_matrix + y * a_row];
    from[r] = a + ((size_t)left * m + y) * k;
    sums[r] = (sumw)(0);
  }
  b += (size_t)right * k * n + column;
  for (int i = 0; i < k; ++i) {
    const sumw factors = load_right(b + (size_t)i * n, 1, count) - right_zero;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) sums[r] += ((SUM)from[r][i] - left_zero[r]) * factors;
  }
  dst += ((size_t)matrix * m + row) * n + column;
  for (int r = 0; r < ROWS; ++r) {
    SUM lanes[WIDTH];
    HET_JOIN(vstore, WIDTH)(sums[r], 0, lanes);
    const int stored_columns = row + r < m ? min(WIDTH, count) : 0;
    for (int i = 0; i < stored_columns; ++i) dst[(size_t)r * n + i] = lanes[i];
  }
}
