// Sums of sliding blocks: src is [plane, tap of a block, block]. A work-item adds what lies over
// one pixel. `grid` lists image, block, strides, dilations, pads before and blocks, three numbers
// each (d, h, w).
#define IMAGE(d) grid[d]
#define TAPS(d) grid[3 + (d)]
#define STRIDE(d) grid[6 + (d)]
#define DILATION(d) grid[9 + (d)]
#define BEFORE(d) grid[12 + (d)]
#define BLOCKS(d) grid[15 + (d)]

// Which block has pixel `x` under tap `k` along a dimension; -1 for none.
int block_at(__constant const int* grid, int d, int x, int k) {
  const int from = x + BEFORE(d) - k * DILATION(d);
  const int block = from / STRIDE(d);
  return from >= 0 && block * STRIDE(d) == from && block < BLOCKS(d) ? block : -1;
}

__kernel void col2im(__global const stored* src, __global stored* dst, __constant const int* grid,
                     int count) {
  const int id = get_global_id(0);
  if (id >= count) return;
  int rest = id;
  const int x = rest % IMAGE(2);
  rest /= IMAGE(2);
  const int y = rest % IMAGE(1);
  rest /= IMAGE(1);
  const int z = rest % IMAGE(0);
  const size_t blocks = (size_t)BLOCKS(0) * BLOCKS(1) * BLOCKS(2);
  src += (size_t)(rest / IMAGE(0)) * TAPS(0) * TAPS(1) * TAPS(2) * blocks;
  float sum = 0.0f;
  for (int kd = 0; kd < TAPS(0); ++kd) {
    const int bd = block_at(grid, 0, z, kd);
    if (bd < 0) continue;
    for (int kh = 0; kh < TAPS(1); ++kh) {
      const int bh = block_at(grid, 1, y, kh);
      if (bh < 0) continue;
      for (int kw = 0; kw < TAPS(2); ++kw) {
        const int bw = block_at(grid, 2, x, kw);
        if (bw < 0) continue;
        const int tap = (kd * TAPS(1) + kh) * TAPS(2) + kw;
        const int block = (bd * BLOCKS(1) + bh) * BLOCKS(2) + bw;
        sum += LOAD(src, tap * blocks + block);
      }
    }
  }
  STORE(sum, dst, id);
}
