// Any convolution by its definition: a work-item computes one output, loops over kd, kh, kw, ic.
// With SRC and WEIGHTS, types of whole numbers, sums wrap around in 32 bits; `bias` has the zero
// points of the weights then (ZERO_STEP 1: one per channel) and `addend` that of the source.
#ifdef SRC
#define NUMBER_PARAMETERS
typedef SRC source;
typedef WEIGHTS weight;
typedef WEIGHTS offset;
typedef uint result;
typedef uint total;
#define TERM(sum, s, w) ((sum) + ((uint)(s)-src_zero) * ((uint)(w)-weights_zero))
#define SRC_AT(i) src[i]
#define WEIGHT_AT(i) weights[i]
#else
typedef stored source;
typedef stored weight;
typedef float offset;
typedef stored result;
typedef float total;
#define TERM(sum, s, w) fma(s, w, sum)
#define SRC_AT(i) LOAD(src, i)
#define WEIGHT_AT(i) LOAD(weights, i)
#endif

// Where a tap lies in the source along one dimension; negative or beyond the end: nowhere.
#ifdef TRANSPOSED
int source_of(int out, int k, int stride, int dilation, int pad, int size) {
  const int at = out + pad - k * dilation;
  return at >= 0 && at % stride == 0 && at / stride < size ? at / stride : -1;
}
#else
int source_of(int out, int k, int stride, int dilation, int pad, int size) {
  const int at = out * stride - pad + k * dilation;
  return at < size ? at : -1;
}
#endif

__kernel void conv_general(__global const source* src, __global const weight* weights,
                           __global const offset* bias, __global const source* addend,
                           __global result* dst, int outputs, int oc, int ic, int group_oc,
                           int group_ic, int step_oc, int step_ic, int id, int ih, int iw, int od,
                           int oh, int ow, int kd, int kh, int kw, int sd, int sh, int sw, int dd,
                           int dh, int dw, int pd, int ph, int pw NUMBER_PARAMETERS) {
  if (get_global_id(0) >= (size_t)outputs) return;
  const int index = get_global_id(0);
  const int c = index % oc;
  int pixel = index / oc;
  const int x = pixel % ow;
  pixel /= ow;
  const int y = pixel % oh;
  pixel /= oh;
  const int z = pixel % od;
  const int n = pixel / od;
  const int group = c / group_oc;
#ifdef TRANSPOSED
  weights += (size_t)group * group_ic * step_ic + (size_t)(c - group * group_oc) * step_oc;
#else
  weights += (size_t)c * step_oc;
#endif
  src += (size_t)n * id * ih * iw * ic + group * group_ic;
#ifdef SRC
  uint src_zero = 0;
  uint weights_zero = 0;
  if (addend) src_zero = (uint)addend[0];
  if (bias) weights_zero = (uint)bias[c * ZERO_STEP];
#endif
  total sum = 0;
  for (int d = 0; d < kd; ++d) {
    const int at_d = source_of(z, d, sd, dd, pd, id);
    if (at_d < 0) continue;
    for (int h = 0; h < kh; ++h) {
      const int at_h = source_of(y, h, sh, dh, ph, ih);
      if (at_h < 0) continue;
      for (int w = 0; w < kw; ++w) {
        const int at_w = source_of(x, w, sw, dw, pw, iw);
        if (at_w < 0) continue;
        const size_t from = ((size_t)(at_d * ih + at_h) * iw + at_w) * ic;
        const size_t tap = (size_t)(d * kh + h) * kw + w;
        for (int i = 0; i < group_ic; ++i) {
          sum = TERM(sum, SRC_AT(from + i), WEIGHT_AT(tap + (size_t)i * step_ic));
        }
      }
    }
  }
#ifdef SRC
  dst[index] = sum;
#else
#ifdef BIAS
  sum += bias[c];
#endif
  float other = 0.0f;
#ifdef SUM
  other = LOAD(addend, index);
#endif
  STORE(tail((floatw)(sum), (floatw)(other) NUMBER_VALUES).s0, dst, index);
#endif
}
