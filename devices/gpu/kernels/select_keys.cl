// The largest keys of rows, in order. Keys are different from each other, or 0: nothing. Work-items
// count how many keys of a chunk come before their own.

__kernel void clear_keys(__global ulong* keys, int count) {
  const int i = get_global_id(0);
  if (i < count) keys[i] = 0;
}

// The first k keys of every `chunk` keys of a row, dst[row][chunk][k]; dst was cleared.
__kernel void select_keys(__global const ulong* keys, __global ulong* dst, int rows, int length,
                          int chunk, int chunks, int k) {
  const int i = get_global_id(0);
  const int row = get_global_id(1);
  if (i >= length || row >= rows) return;
  keys += (size_t)row * length;
  const ulong own = keys[i];
  if (own == 0) return;
  const int part = i / chunk;
  const int begin = part * chunk;
  const int end = min(length, begin + chunk);
  int before = 0;
  for (int j = begin; j < end; ++j) before += keys[j] > own;
  if (before < k) dst[((size_t)row * chunks + part) * k + before] = own;
}
