// Arithmetic on half, for devices/gpu/memory/probes.cpp.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void probe(__global const float* a, __global const float* b, __global float* results,
                    int count) {
  const int i = get_global_id(0);
  if (i >= count) return;
  const half left = (half)a[i];
  const half right = (half)b[i];
  const half4 lanes = (half4)(left, right, left, right) * (half4)(right);
  results[2 * i] = (float)(left * right + left);
  results[2 * i + 1] = (float)(lanes.s0 + lanes.s3);
}
