// DynamicQuantizeLinear: the range of all values in two steps, then bytes.
__kernel void range_parts(__global const stored* src, __global float* parts, int count, int step) {
  const int id = get_global_id(0);
  if (id >= step) return;
  float lowest = 0.0f;
  float highest = 0.0f;
  for (int i = id; i < count; i += step) {
    const float value = LOAD(src, i);
    lowest = value < lowest ? value : lowest;
    highest = highest < value ? value : highest;
  }
  parts[2 * id] = lowest;
  parts[2 * id + 1] = highest;
}

// round(value) + zero in 0 to 255, halves to even; NaN counts as 0.
int to_byte(float value, int zero) {
  const float bounded = isnan(value) ? 0.0f : clamp(value, -1e6f, 1e6f);
  return clamp((int)rint(bounded) + zero, 0, 255);
}

// One work-item. `used` keeps scale and zero point in float for the last step.
__kernel void range_scale(__global const float* parts, __global stored* scale, __global uchar* zero,
                          __global float* used, int count) {
  if (get_global_id(0) > 0) return;
  float lowest = 0.0f;
  float highest = 0.0f;
  for (int i = 0; i < count; ++i) {
    lowest = min(lowest, parts[2 * i]);
    highest = max(highest, parts[2 * i + 1]);
  }
  const float step = lowest == highest ? 1.0f : (highest - lowest) / 255.0f;
  used[0] = step;
  used[1] = (float)to_byte(-lowest / step, 0);
  STORE(step, scale, 0);
  zero[0] = (uchar)used[1];
}

__kernel void to_bytes(__global const stored* src, __global const float* used, __global uchar* dst,
                       int count) {
  const int i = get_global_id(0);
  if (i < count) dst[i] = (uchar)to_byte(LOAD(src, i) / used[0], (int)used[1]);
}
