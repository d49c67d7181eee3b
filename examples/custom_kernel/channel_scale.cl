// y[b,f,y,x] = x[b,f,y,x] * SCALES[f]. A work-item is an element; sizes and pitches are macros that
// stand before this text, as in OpenVINO.
__kernel void channel_scale(__global const INPUT0_TYPE* from, __global OUTPUT0_TYPE* to) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  const int feature = get_global_id(2) % OUTPUT0_DIMS[1];
  const int batch = get_global_id(2) / OUTPUT0_DIMS[1];
  const int in = batch * INPUT0_PITCHES[0] + feature * INPUT0_PITCHES[1] + y * INPUT0_PITCHES[2] +
                 x * INPUT0_PITCHES[3];
  const int out = batch * OUTPUT0_PITCHES[0] + feature * OUTPUT0_PITCHES[1] +
                  y * OUTPUT0_PITCHES[2] + x * OUTPUT0_PITCHES[3];
  to[out] = from[in] * SCALES[feature];
}
