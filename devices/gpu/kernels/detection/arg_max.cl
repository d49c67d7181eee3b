// Index along a row of the first largest element (SMALLEST: smallest; LAST: the last of equal ones).
// NaN is more extreme than every number. A work-item takes one row.
#ifdef TYPE
#define AT(p, i) ((p)[i])
#define IS_NAN(v) 0
#else
#define TYPE stored
#define AT(p, i) LOAD(p, i)
#define IS_NAN(v) isnan(v)
#endif
#ifdef SMALLEST
#define BEYOND(a, b) ((a) < (b))
#else
#define BEYOND(a, b) ((a) > (b))
#endif

__kernel void arg_max(__global const TYPE* src, __global long* dst, int outer, int length,
                      int inner, int last) {
  const int x = get_global_id(0);
  const int block = get_global_id(1);
  if (x >= inner || block >= outer) return;
  src += (size_t)block * length * inner + x;
  VALUE best = AT(src, 0);
  int index = 0;
  for (int i = 1; i < length; ++i) {
    const VALUE v = AT(src, (size_t)i * inner);
    const int better = !IS_NAN(best) && (IS_NAN(v) || BEYOND(v, best));
    const int equal = v == best || (IS_NAN(v) && IS_NAN(best));
    if (better || (last && equal)) {
      best = v;
      index = i;
    }
  }
  dst[(size_t)block * inner + x] = index;
}
