// What int8 products share; stands before their kernels. Bytes of the source are SOURCE (uchar or
// char), packed by four in a uint; weights are signed bytes. Results are RESULT (uchar or char)
// within LOWEST and HIGHEST or, without it, floats.
typedef HET_JOIN(uint, WIDTH) uintw;

// The sum of four products of bytes of `a` and those of every lane of `b`, added to `sums`. With
// DOT_PRODUCT by an instruction of the device, else by ordinary ones: both are exact.
#ifdef DOT_PRODUCT
#pragma OPENCL EXTENSION cl_khr_integer_dot_product : enable
#define ADD_LANE(lane) sums.lane += DOT_BYTES(a, b.lane)
intw dot4(intw sums, uint a, uintw b) {
  ADD_LANE(s0);
  ADD_LANE(s1);
  ADD_LANE(s2);
  ADD_LANE(s3);
#if WIDTH >= 8
  ADD_LANE(s4);
  ADD_LANE(s5);
  ADD_LANE(s6);
  ADD_LANE(s7);
#endif
#if WIDTH >= 16
  ADD_LANE(s8);
  ADD_LANE(s9);
  ADD_LANE(sa);
  ADD_LANE(sb);
  ADD_LANE(sc);
  ADD_LANE(sd);
  ADD_LANE(se);
  ADD_LANE(sf);
#endif
  return sums;
}
int sum4(uint a) {
  return DOT_BYTES(a, 0x01010101u);
}
#else
// Byte `i` of a uint as a number.
#define SOURCE_BYTE(a, i) ((int)(SOURCE)((a) >> (8 * (i))))
#define WEIGHT_BYTE(b, i) (HET_JOIN(as_int, WIDTH)((b) << (24 - 8 * (i))) >> 24)
intw dot4(intw sums, uint a, uintw b) {
  sums += (intw)(SOURCE_BYTE(a, 0)) * WEIGHT_BYTE(b, 0);
  sums += (intw)(SOURCE_BYTE(a, 1)) * WEIGHT_BYTE(b, 1);
  sums += (intw)(SOURCE_BYTE(a, 2)) * WEIGHT_BYTE(b, 2);
  sums += (intw)(SOURCE_BYTE(a, 3)) * WEIGHT_BYTE(b, 3);
  return sums;
}
int sum4(uint a) {
  return SOURCE_BYTE(a, 0) + SOURCE_BYTE(a, 1) + SOURCE_BYTE(a, 2) + SOURCE_BYTE(a, 3);
}
#endif

#ifdef RESULT
typedef RESULT element;
#else
typedef stored element;
#endif

floatw get_elements(__global const element* p, int count) {
#ifdef RESULT
  if (count >= WIDTH) return HET_JOIN(convert_float, WIDTH)(HET_JOIN(vload, WIDTH)(0, p));
  float lanes[WIDTH];
  for (int i = 0; i < WIDTH; ++i) lanes[i] = i < count ? (float)p[i] : 0.0f;
  return HET_JOIN(vload, WIDTH)(0, lanes);
#else
  return load_lanes(p, count);
#endif
}

void put_elements(floatw v, __global element* p, int count) {
#ifdef RESULT
  const HET_JOIN(RESULT, WIDTH) bytes = HET_JOIN(HET_JOIN(convert_, RESULT), WIDTH)(v);
  if (count >= WIDTH) {
    HET_JOIN(vstore, WIDTH)(bytes, 0, p);
    return;
  }
  RESULT lanes[WIDTH];
  HET_JOIN(vstore, WIDTH)(bytes, 0, lanes);
  for (int i = 0; i < count; ++i) p[i] = lanes[i];
#else
  store_lanes(v, p, count);
#endif
}

// Of each output channel: `offsets` and `biases` are added to its sum, which counts in `scales`,
// and the result in `steps`.
#define RESULT_ARGUMENTS                                                                          \
  __global const int *offsets, __global const float *scales, __global const float *biases,        \
      __global const float *steps, __global const element *addend,                                \
      __global element *dst, float sum_scale, float sum_zero, float dst_zero
#define RESULT_VALUES \
  offsets, scales, biases, steps, addend, dst, sum_scale, sum_zero, dst_zero

// The results of up to WIDTH channels from `channel` on, stored at `at`.
void put_results(intw sums, int channel, int count, size_t at,
                 RESULT_ARGUMENTS NUMBER_PARAMETERS) {
  const intw whole = sums + HET_JOIN(vload, WIDTH)(0, offsets + channel);
  floatw result = HET_JOIN(convert_float, WIDTH)(whole);
  result += HET_JOIN(vload, WIDTH)(0, biases + channel);
  result *= HET_JOIN(vload, WIDTH)(0, scales + channel);
  floatw other = (floatw)(0.0f);
#ifdef SUM
  other = get_elements(addend + at, count);
#ifdef RESULT
  other = (other - sum_zero) * sum_scale;
#endif
#endif
  result = tail(result, other NUMBER_VALUES);
#ifdef STEPS
  result /= HET_JOIN(vload, WIDTH)(0, steps + channel);
#endif
#ifdef RESULT
  result = fmin(fmax(rint(result) + dst_zero, (floatw)(LOWEST)), (floatw)(HIGHEST));
#endif
  put_elements(result, dst + at, count);
}
