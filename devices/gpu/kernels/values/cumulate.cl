// Running sums or, with PRODUCT, products along rows; with REVERSE from the end. A work-item takes
// one row. Sums of floats carry what is lost in rounding along.
#ifdef TYPE
#define AT(p, i) ((p)[i])
#define PUT(v, p, i) ((p)[i] = (TYPE)(v))
#else
#define TYPE stored
#define AT(p, i) LOAD(p, i)
#define PUT(v, p, i) STORE(v, p, i)
#define FLOATS
#endif

__kernel void cumulate(__global const TYPE* src, __global TYPE* dst, int outer, int length,
                       int inner, int exclusive, int reverse) {
  const int x = get_global_id(0);
  const int block = get_global_id(1);
  if (x >= inner || block >= outer) return;
  const size_t start = (size_t)block * length * inner + x;
#ifdef PRODUCT
  VALUE total = 1;
#else
  VALUE total = 0;
  VALUE lost = 0;
#endif
  for (int step = 0; step < length; ++step) {
    const size_t at = start + (size_t)(reverse ? length - 1 - step : step) * inner;
    const VALUE v = AT(src, at);
    if (exclusive) PUT(total, dst, at);
#if defined PRODUCT
    total *= v;
#elif defined FLOATS
    const VALUE next = total + (v - lost);
    // Infinity less infinity is no number.
    lost = isfinite(next) ? (next - total) - (v - lost) : 0;
    total = next;
#else
    total += v;
#endif
    if (!exclusive) PUT(total, dst, at);
  }
}
