// dst = (a - a_zero) * (b - b_zero) in whole numbers that wrap around: A, B and SUM (unsigned) are
// their types. A work-item computes one element. `pairs` lists the matrices of a and b; zero points
// lie a_matrix or b_matrix from matrix to matrix and a_row or b_column along one, or are null.
__kernel void integer_matmul(__global const A* a, __global const B* b, __global const A* a_zero,
                             __global const B* b_zero, __global const int* pairs, __global SUM* dst,
                             int m, int n, int k, int a_matrix, int a_row, int b_matrix,
                             int b_column) {
  const int column = get_global_id(0);
  const int row = get_global_id(1);
  const int matrix = get_global_id(2);
  if (column >= n || row >= m) return;
  const int left = pairs[2 * matrix];
  const int right = pairs[2 * matrix + 1];
  SUM left_zero = 0;
  SUM right_zero = 0;
  if (a_zero) left_zero = (SUM)a_zero[left * a_matrix + row * a_row];
  if (b_zero) right_zero = (SUM)b_zero[right * b_matrix + column * b_column];
  a += ((size_t)left * m + row) * k;
  b += (size_t)right * k * n + column;
  SUM sum = 0;
  for (int i = 0; i < k; ++i) {
    sum += ((SUM)a[i] - left_zero) * ((SUM)b[(size_t)i * n] - right_zero);
  }
  dst[((size_t)matrix * m + row) * n + column] = sum;
}
