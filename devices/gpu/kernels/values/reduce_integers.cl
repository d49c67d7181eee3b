// Reductions of integers of TYPE, computed in WIDE (long or ulong): sums and products wrap around,
// means are rounded towards zero. A work-item reduces one row.
__kernel void reduce_integers(__global const TYPE* src, __global TYPE* dst, int outer, int length,
                              int inner) {
  const int x = get_global_id(0);
  const int block = get_global_id(1);
  if (x >= inner || block >= outer) return;
  src += (size_t)block * length * inner + x;
#if defined PRODUCT
  WIDE total = 1;
#elif defined LARGEST || defined SMALLEST
  WIDE total = src[0];
#else
  WIDE total = 0;
#endif
  for (int i = 0; i < length; ++i) {
    const WIDE v = src[(size_t)i * inner];
#if defined PRODUCT
    total *= v;
#elif defined LARGEST
    total = v > total ? v : total;
#elif defined SMALLEST
    total = v < total ? v : total;
#elif defined MAGNITUDES
    total += v < 0 ? -v : v;
#elif defined SQUARES
    total += v * v;
#else
    total += v;
#endif
  }
#ifdef MEAN
  total /= length;
#endif
  dst[(size_t)block * inner + x] = (TYPE)total;
}
