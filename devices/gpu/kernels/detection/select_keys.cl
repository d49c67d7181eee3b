// The largest keys of rows, in order. Keys are different from each other, or 0: nothing. Work-items
// count how many keys of a chunk come before their own. A key is one number or, with WIDE_KEYS,
// two: the second decides between equal first ones and is 0 for nothing.
#ifdef WIDE_KEYS
typedef ulong2 any_key;
#define NOTHING ((ulong2)(0, 0))
#define IS_NOTHING(key) ((key).y == 0)
#define COMES_BEFORE(a, b) ((a).x > (b).x || ((a).x == (b).x && (a).y > (b).y))
#else
typedef ulong any_key;
#define NOTHING 0
#define IS_NOTHING(key) ((key) == 0)
#define COMES_BEFORE(a, b) ((a) > (b))
#endif

__kernel void clear_keys(__global any_key* keys, int count) {
  const int i = get_global_id(0);
  if (i < count) keys[i] = NOTHING;
}

// The first k keys of every `chunk` keys of a row, dst[row][chunk][k]; dst was cleared.
__kernel void select_keys(__global const any_key* keys, __global any_key* dst, int rows, int length,
                          int chunk, int chunks, int k) {
  const int i = get_global_id(0);
  const int row = get_global_id(1);
  if (i >= length || row >= rows) return;
  keys += (size_t)row * length;
  const any_key own = keys[i];
  if (IS_NOTHING(own)) return;
  const int part = i / chunk;
  const int begin = part * chunk;
  const int end = min(length, begin + chunk);
  int before = 0;
  int j = begin;
#ifndef WIDE_KEYS
  // Comparisons of vectors are -1 where they hold.
  long8 held = 0;
  for (; j + 8 <= end; j += 8) held += vload8(0, keys + j) > (ulong8)(own);
  const long4 four = held.lo + held.hi;
  before = -(int)(four.s0 + four.s1 + four.s2 + four.s3);
#endif
  for (; j < end; ++j) before += COMES_BEFORE(keys[j], own);
  if (before < k) dst[((size_t)row * chunks + part) * k + before] = own;
}
