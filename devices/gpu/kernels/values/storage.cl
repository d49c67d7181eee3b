// Stands before every program. Float values are stored as float or, with STORED_HALF, as half, and
// computed in float: half needs no extension that way. `stored` is the type in memory.
#ifdef STORED_HALF
typedef half stored;
#define LOAD(p, i) vload_half((i), (p))
#define STORE(v, p, i) vstore_half((v), (i), (p))
#define LOAD4(p) vload_half4(0, (p))
// PoCL reads and writes 8 and 16 halves as if they were aligned, up to 7.1 at least: they go over a
// register. It does so with 4, too, where no processor minds.
float8 load_half8(__global const half* p) {
  const ushort8 bits = vload8(0, (__global const ushort*)p);
  return vload_half8(0, (const half*)&bits);
}
void store_half8(float8 v, __global half* p) {
  ushort8 bits;
  vstore_half8(v, 0, (half*)&bits);
  vstore8(bits, 0, (__global ushort*)p);
}
void store_half16(float16 v, __global half* p) {
  store_half8(v.lo, p);
  store_half8(v.hi, p + 8);
}
#define LOAD8(p) load_half8(p)
#define LOAD16(p) ((float16)(load_half8(p), load_half8((p) + 8)))
#define STORE4(v, p) vstore_half4((v), 0, (p))
#define STORE8(v, p) store_half8((v), (p))
#define STORE16(v, p) store_half16((v), (p))
#else
typedef float stored;
#define LOAD(p, i) ((p)[i])
#define STORE(v, p, i) ((p)[i] = (v))
#define LOAD4(p) vload4(0, (p))
#define LOAD8(p) vload8(0, (p))
#define LOAD16(p) vload16(0, (p))
#define STORE4(v, p) vstore4((v), 0, (p))
#define STORE8(v, p) vstore8((v), 0, (p))
#define STORE16(v, p) vstore16((v), 0, (p))
#endif

// Vectors of WIDTH floats: 4, 8 or 16.
#ifdef WIDTH
#define HET_PASTE(a, b) a##b
#define HET_JOIN(a, b) HET_PASTE(a, b)
typedef HET_JOIN(float, WIDTH) floatw;
typedef HET_JOIN(int, WIDTH) intw;
#define LOADW(p) HET_JOIN(LOAD, WIDTH)(p)
#define STOREW(v, p) HET_JOIN(STORE, WIDTH)(v, p)

// The first `count` of WIDTH elements with `stride` between them, the others 0; nothing behind them
// is read. A stride of 0 repeats one element.
floatw load_strided(__global const stored* p, int stride, int count) {
  if (stride == 0) return (floatw)(LOAD(p, 0));
  if (stride == 1 && count >= WIDTH) return LOADW(p);
  float lanes[WIDTH];
  for (int i = 0; i < WIDTH; ++i) lanes[i] = i < count ? LOAD(p, i * stride) : 0.0f;
  return HET_JOIN(vload, WIDTH)(0, lanes);
}

floatw load_lanes(__global const stored* p, int count) {
  return load_strided(p, 1, count);
}

void store_lanes(floatw v, __global stored* p, int count) {
  if (count >= WIDTH) {
    STOREW(v, p);
    return;
  }
  float lanes[WIDTH];
  HET_JOIN(vstore, WIDTH)(v, 0, lanes);
  for (int i = 0; i < count; ++i) STORE(lanes[i], p, i);
}
#endif
