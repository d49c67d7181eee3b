// Planted: elements are written behind the end of the output.
__kernel void channel_scale(__global const INPUT0_TYPE* from, __global OUTPUT0_TYPE* to) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  const int plane = get_global_id(2);
  const int at = plane * INPUT0_PITCHES[1] + y * INPUT0_PITCHES[2] + x * INPUT0_PITCHES[3];
  to[at + 1] = from[at] * SCALES[0];
}
