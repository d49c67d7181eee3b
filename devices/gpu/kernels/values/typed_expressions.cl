// Functions of generated expressions over scalars of any type.
ushort bfloat16_bits(float value) {
  const uint bits = as_uint(value);
  if (isnan(value)) return (ushort)((bits >> 16) | 0x40);
  return (ushort)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float real_mod(float a, float b) {
  const float rest = fmod(a, b);
  if (rest == 0.0f) return copysign(0.0f, b);
  return (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

float real_sign(float a) { return a > 0.0f ? 1.0f : a < 0.0f ? -1.0f : a != a ? a : 0.0f; }

// round(value) + zero, halves to even, limited to a range; NaN counts as 0.
long quantized(float value, long zero, long lowest, long highest) {
  const float bounded = isnan(value) ? 0.0f : clamp(value, -1e12f, 1e12f);
  return clamp((long)rint(bounded) + zero, lowest, highest);
}

float fake_quantized(float x, float low, float high, float to_low, float to_high, float steps) {
  // Not fmin() and fmax(), for which a limit that is NaN is none.
  if (x <= (high < low ? high : low)) return to_low;
  if (x > (low < high ? high : low)) return to_high;
  return rint((x - low) / (high - low) * steps) / steps * (to_high - to_low) + to_low;
}
