// Right sides of products that are computed at run time: columns in panels of PANEL, padded with
// zeros, dst[matrix][panel * panel_step + depth * depth_step + column]. Dimension 0: columns and
// padding, 1: depth, 2: matrices.
__kernel void pack_panels(__global const stored* src, __global stored* dst,
                          __global const int* offsets, int k, int n, int columns, int src_depth, int src_column, int panel, int panel_step,
                          int depth_step, int matrix_step) {
  const int column = get_global_id(0);
  const int depth = get_global_id(1);
  const size_t matrix = get_global_id(2);
  if (column >= columns || depth >= k) return;
  const float value =
      column < n ? LOAD(src + offsets[matrix], (size_t)depth * src_depth + (size_t)column * src_column)
                 : 0.0f;
  STORE(value, dst, matrix * matrix_step + (size_t)(column / panel) * panel_step +
                        (size_t)depth * depth_step + column % panel);
}
