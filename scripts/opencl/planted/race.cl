// Planted: work-items read what their neighbours write to local memory, without a barrier.
__kernel void channel_scale(__global const INPUT0_TYPE* from, __global OUTPUT0_TYPE* to) {
  __local OUTPUT0_TYPE row[4];
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  const int plane = get_global_id(2);
  const int at = plane * INPUT0_PITCHES[1] + y * INPUT0_PITCHES[2] + x * INPUT0_PITCHES[3];
  row[get_local_id(0)] = from[at] * SCALES[0];
  to[at] = row[(get_local_id(0) + 1) % 4];
}
