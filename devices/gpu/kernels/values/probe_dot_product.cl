// Products of four bytes, for devices/gpu/memory/probes.cpp.
#pragma OPENCL EXTENSION cl_khr_integer_dot_product : enable
__kernel void probe(__global const uint* a, __global const uint* b, __global int* results,
                    int count) {
  const int i = get_global_id(0);
  if (i >= count) return;
  results[2 * i] = dot_4x8packed_us_int(a[i], b[i]);
  results[2 * i + 1] = dot_4x8packed_ss_int(a[i], b[i]);
}
