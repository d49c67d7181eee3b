// What kernels over rows share. LANES work-items walk along one row together; with more than one
// they are a work-group, which reaches every barrier.
#if LANES > 1
#define ROW_OF(row, rows) const int row = get_global_id(1)
#define LANE ((int)get_local_id(0))
#else
#define ROW_OF(row, rows)           \
  const int row = get_global_id(0); \
  if (row >= rows) return
#define LANE 0
#endif
// Vectors of a row are taken LANES * WIDTH elements apart, what is left one by one.
#define ROW_STEP (LANES * WIDTH)
#define FULL(length) ((length) / WIDTH * WIDTH)

float sum_of(floatw v) {
  float lanes[WIDTH];
  HET_JOIN(vstore, WIDTH)(v, 0, lanes);
  float sum = 0.0f;
  for (int i = 0; i < WIDTH; ++i) sum += lanes[i];
  return sum;
}

// NaN wins.
float larger(float a, float b) {
  return isnan(a) || a > b ? a : b;
}
floatw larger_each(floatw a, floatw b) {
  return select(select(b, a, a > b), a, isnan(a));
}
float smaller(float a, float b) {
  return isnan(a) || a < b ? a : b;
}
floatw smaller_each(floatw a, floatw b) {
  return select(select(b, a, a < b), a, isnan(a));
}

float max_of(floatw v) {
  float lanes[WIDTH];
  HET_JOIN(vstore, WIDTH)(v, 0, lanes);
  float most = lanes[0];
  for (int i = 1; i < WIDTH; ++i) most = larger(most, lanes[i]);
  return most;
}

// The lanes' values as one; `scratch` has LANES elements. Any `join` goes up a tree in local
// memory; those that sub-groups know (SUBGROUP_...) are joined there first. Never in a branch, though
// all lanes take it: PoCL 6 computes nonsense behind such a barrier.
#if LANES > 1
#define OVER_LANES_BY_TREE(v, scratch, join)                                            \
  {                                                                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                                       \
    scratch[LANE] = v;                                                                  \
    for (int half_of = LANES / 2; half_of > 0; half_of /= 2) {                          \
      barrier(CLK_LOCAL_MEM_FENCE);                                                     \
      if (LANE < half_of) scratch[LANE] = join(scratch[LANE], scratch[LANE + half_of]); \
    }                                                                                   \
    barrier(CLK_LOCAL_MEM_FENCE);                                                       \
    v = scratch[0];                                                                     \
  }
#else
#define OVER_LANES_BY_TREE(v, scratch, join)
#endif

#if LANES > 1 && defined SUBGROUPS
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#define OVER_LANES(v, scratch, join)                                                         \
  {                                                                                          \
    v = SUBGROUP_##join(v);                                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                            \
    if (get_sub_group_local_id() == 0) scratch[get_sub_group_id()] = v;                      \
    barrier(CLK_LOCAL_MEM_FENCE);                                                            \
    v = scratch[0];                                                                          \
    for (uint group = 1; group < get_num_sub_groups(); ++group) v = join(v, scratch[group]); \
  }
#define SUBGROUP_PLUS(v) sub_group_reduce_add(v)
#define SUBGROUP_fmax(v) sub_group_reduce_max(v)
#define SUBGROUP_fmin(v) sub_group_reduce_min(v)
// What sub-groups make of NaN is left to the driver.
float larger_of_subgroup(float v) {
  const int has_nan = sub_group_any(isnan(v));
  const float most = sub_group_reduce_max(v);
  return has_nan ? NAN : most;
}
float smaller_of_subgroup(float v) {
  const int has_nan = sub_group_any(isnan(v));
  const float least = sub_group_reduce_min(v);
  return has_nan ? NAN : least;
}
#else
#define OVER_LANES(v, scratch, join) OVER_LANES_BY_TREE(v, scratch, join)
#endif
#define PLUS(a, b) ((a) + (b))
