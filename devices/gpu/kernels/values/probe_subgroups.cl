// Sums, maxima and votes of sub-groups, for devices/gpu/memory/probes.cpp: the pair itself where
// they are what they should be.
__kernel void probe(__global const float* a, __global const float* b, __global float* results,
                    int count) {
  const int i = get_global_id(0);
  const float own = i < count ? a[i] : 0.0f;
  const float most = sub_group_reduce_max(own);
  const float least = sub_group_reduce_min(own);
  const bool is_size = sub_group_reduce_add(1.0f) == (float)get_sub_group_size();
  const bool is_range = least <= own && own <= most;
  const bool is_there = sub_group_any(own == most) && sub_group_any(own == least);
  if (i >= count) return;
  results[2 * i] = is_size ? own : -1.0f - own;
  results[2 * i + 1] = is_range && is_there ? b[i] : -1.0f - b[i];
}
