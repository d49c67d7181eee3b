// Elements become unsigned keys, value above, position below: no two are equal and the order of
// keys is the order wanted (equal values by position, NaN as the largest number). Both share 64
// bits or, with WIDE_KEYS, have as many each. Sorted by kernels/detection/select_keys.cl.
#ifdef TYPE
#define AT(p, i) ((p)[i])
#define PUT(v, p, i) ((p)[i] = (v))
#else
#define TYPE stored
#define AT(p, i) LOAD(p, i)
#define PUT(v, p, i) STORE(v, p, i)
#define FLOATS
#endif

#ifdef WIDE_KEYS
typedef ulong rank_bits;
typedef ulong2 key_bits;
#define KEY(rank, position) ((ulong2)(rank, (ulong)(uint) ~(position)))
#define POSITION(key) (~(int)(uint)(key).y)
#else
typedef uint rank_bits;
typedef ulong key_bits;
#define KEY(rank, position) ((ulong)(rank) << 32 | (uint) ~(position))
#define POSITION(key) (~(int)(uint)(key))
#endif

rank_bits rank_of(VALUE v) {
#ifdef FLOATS
  if (isnan(v)) return 0xffffffffu;
  const uint bits = v == 0.0f ? 0u : as_uint((float)v);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
#elif defined UNSIGNED
  return (rank_bits)v;
#elif defined WIDE_KEYS
  return (ulong)v ^ 0x8000000000000000ul;
#else
  return (uint)(int)v ^ 0x80000000u;
#endif
}

// keys[row][position] of src[outer][position][inner].
__kernel void make_keys(__global const TYPE* src, __global key_bits* keys, int outer, int length,
                        int inner, int largest) {
  const int position = get_global_id(0);
  const int row = get_global_id(1);
  if (position >= length || row >= outer * inner) return;
  const size_t at = ((size_t)(row / inner) * length + position) * inner + row % inner;
  const rank_bits rank = rank_of(AT(src, at));
  const rank_bits inverse = ~rank;
  keys[(size_t)row * length + position] = KEY(largest ? rank : inverse, position);
}

// Values and positions of the first k keys of rows.
__kernel void read_keys(__global const key_bits* keys, __global const TYPE* src,
                        __global TYPE* values, __global long* positions, int outer, int length,
                        int inner, int k) {
  const int i = get_global_id(0);
  const int row = get_global_id(1);
  if (i >= k || row >= outer * inner) return;
  const int position = POSITION(keys[(size_t)row * k + i]);
  const size_t block = row / inner;
  const size_t column = row % inner;
  const size_t to = (block * k + i) * inner + column;
  if (values) PUT(AT(src, (block * length + position) * inner + column), values, to);
  if (positions) positions[to] = position;
}
