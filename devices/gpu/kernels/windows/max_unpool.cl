// Every value goes where its index says, of several at one place the last one, whichever work-items
// run first: places get owners, the largest positions of values that go there.
__kernel void free_places(__global int* owners, int places) {
  const int i = get_global_id(0);
  if (i < places) owners[i] = -1;
}

__kernel void claim_places(__global const long* indices, __global int* owners, int count,
                           int places) {
  const int i = get_global_id(0);
  if (i < count) atomic_max(owners + (int)clamp(indices[i], 0L, (long)(places - 1)), i);
}

// `dims` lists the dimensions of dst, then those that indices count in: dst may be larger.
__kernel void take_owned(__global const stored* src, __global const int* owners,
                         __global stored* dst, __constant const int* dims, int rank, int count) {
  const int i = get_global_id(0);
  if (i >= count) return;
  int rest = i;
  int place = 0;
  int step = 1;
  bool inside = true;
  for (int d = rank - 1; d >= 0; --d) {
    const int position = rest % dims[d];
    rest /= dims[d];
    inside = inside && position < dims[rank + d];
    place += position * step;
    step *= dims[rank + d];
  }
  const int owner = owners[inside ? place : 0];
  float value = 0.0f;
  if (inside && owner >= 0) value = LOAD(src, owner);
  STORE(value, dst, i);
}
