// Functions of expressions over one type of integers, which takes the place of TYPE in this text.
// Integers wrap around; division and remainder by 0 give 0, as those of the lowest value by -1
// would overflow.
bool is_minus_one(TYPE a) { return a == (TYPE)-1 && (TYPE)-1 < 0; }

TYPE integer_div(TYPE a, TYPE b) {
  if (b == 0) return 0;
  return is_minus_one(b) ? (TYPE)(0 - (ulong)a) : (TYPE)(a / b);
}

TYPE integer_fmod(TYPE a, TYPE b) {
  return b == 0 || is_minus_one(b) ? (TYPE)0 : (TYPE)(a % b);
}

TYPE integer_mod(TYPE a, TYPE b) {
  const TYPE rest = integer_fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? (TYPE)(rest + b) : rest;
}

// A shift by the width or more, or by less than 0, leaves what sign extension leaves.
bool is_shift(TYPE b) { return b >= 0 && (ulong)b < 8 * sizeof(TYPE); }

TYPE integer_left(TYPE a, TYPE b) { return is_shift(b) ? (TYPE)((ulong)a << (ulong)b) : (TYPE)0; }

TYPE integer_right(TYPE a, TYPE b) {
  if (is_shift(b)) return (TYPE)(a >> b);
  return a < 0 ? (TYPE)-1 : (TYPE)0;
}

// Exact modulo 2^64; a negative exponent gives the truncated fraction.
TYPE integer_pow(TYPE a, long e) {
  if (e < 0) {
    if (is_minus_one(a)) return e % 2 == 0 ? (TYPE)1 : (TYPE)-1;
    return a == 1 ? (TYPE)1 : (TYPE)0;
  }
  ulong result = 1;
  ulong factor = (ulong)a;
  for (ulong rest = (ulong)e; rest > 0; rest >>= 1) {
    if (rest & 1) result *= factor;
    factor *= factor;
  }
  return (TYPE)result;
}
