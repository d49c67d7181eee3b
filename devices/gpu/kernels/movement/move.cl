// Copies of elements of one size, whatever they mean: ITEM is uchar, ushort, uint or ulong. What
// is walked comes as a list of numbers: dims of the outer loops (outermost first), then the steps
// of src, then those of dst, in elements.
#define ITEM4 HET_JOIN(ITEM, 4)

int2 place_of(__constant const int* walk, int rank, int row, int src_at, int dst_at) {
  int2 at = (int2)(src_at, dst_at);
  for (int d = rank - 1; d >= 0; --d) {
    const int position = row % walk[d];
    row /= walk[d];
    at.x += position * walk[rank + d];
    at.y += position * walk[2 * rank + d];
  }
  return at;
}

void copy_run(__global const ITEM* src, __global ITEM* dst, int count) {
  int i = 0;
  for (; i + WIDTH <= count; i += WIDTH) {
    HET_JOIN(vstore, WIDTH)(HET_JOIN(vload, WIDTH)(0, src + i), 0, dst + i);
  }
  for (; i < count; ++i) dst[i] = src[i];
}

// Rows of `length` neighbours on both sides; a work-item copies `piece` of a row.
__kernel void copy_rows(__global const ITEM* src, __global ITEM* dst, __constant const int* walk,
                        int rank, int rows, int length, int pieces, int piece, int src_at,
                        int dst_at) {
  const uint id = get_global_id(0);
  const uint row = id / (uint)pieces;
  if (row >= (uint)rows) return;
  const int begin = (int)(id - row * (uint)pieces) * piece;
  const int2 at = place_of(walk, rank, (int)row, src_at, dst_at);
  copy_run(src + at.x + begin, dst + at.y + begin, min(piece, length - begin));
}

// The same with any step along the rows.
__kernel void copy_steps(__global const ITEM* src, __global ITEM* dst, __constant const int* walk,
                         int rank, int rows, int length, int pieces, int piece, int src_at,
                         int dst_at, int src_step, int dst_step) {
  const uint id = get_global_id(0);
  const uint row = id / (uint)pieces;
  if (row >= (uint)rows) return;
  const int begin = (int)(id - row * (uint)pieces) * piece;
  const int2 at = place_of(walk, rank, (int)row, src_at, dst_at);
  const int end = min(length, begin + piece);
  for (int i = begin; i < end; ++i) dst[at.y + i * dst_step] = src[at.x + i * src_step];
}

// Short rows, `length` 16 at most, and the loop around them; a work-item copies `piece` rows.
__kernel void copy_planes(__global const ITEM* src, __global ITEM* dst, __constant const int* walk,
                          int rank, int rows, int height, int pieces, int piece, int src_at,
                          int dst_at, int length, int src_step, int dst_step, int src_row,
                          int dst_row) {
  const uint id = get_global_id(0);
  const uint row = id / (uint)pieces;
  if (row >= (uint)rows) return;
  const int begin = (int)(id - row * (uint)pieces) * piece;
  const int end = min(height, begin + piece);
  const int2 at = place_of(walk, rank, (int)row, src_at, dst_at);
  src += at.x;
  dst += at.y;
  if (length == 2) {
    for (int i = begin; i < end; ++i) {
      const ITEM a = src[i * src_row];
      const ITEM b = src[i * src_row + src_step];
      dst[i * dst_row] = a;
      dst[i * dst_row + dst_step] = b;
    }
    return;
  }
  for (int i = begin; i < end; ++i) {
    for (int k = 0; k < length; ++k) {
      dst[i * dst_row + k * dst_step] = src[i * src_row + k * src_step];
    }
  }
}

// Part of a plane at its edge, element by element.
void copy_edge(__global const ITEM* src, __global ITEM* dst, int right, int bottom, int src_step,
               int dst_step) {
  for (int j = 0; j < bottom; ++j) {
    for (int i = 0; i < right; ++i) dst[j * dst_step + i] = src[i * src_step + j];
  }
}

// Transposes planes: neighbours of src lie dst_step apart in dst and the other way round. A
// work-item takes `run` tiles of 4 x 4 elements along src's neighbours.
__kernel void copy_tiles(__global const ITEM* src, __global ITEM* dst, __constant const int* walk,
                         int rank, int rows, int height, int width, int across, int strips, int run,
                         int src_at, int dst_at, int src_step, int dst_step) {
  const uint id = get_global_id(0);
  const uint strip = id / (uint)across;
  const uint row = strip / (uint)strips;
  if (row >= (uint)rows) return;
  // x counts dst's neighbours, y those of src.
  const int x = (int)(id - strip * (uint)across) * 4;
  const int begin = (int)(strip - row * (uint)strips) * run * 4;
  const int end = min(height, begin + run * 4);
  const int2 at = place_of(walk, rank, (int)row, src_at, dst_at);
  src += at.x + x * src_step;
  dst += at.y + x;
  int y = begin;
  for (; x + 4 <= width && y + 4 <= end; y += 4) {
    const ITEM4 a = vload4(0, src + y);
    const ITEM4 b = vload4(0, src + y + src_step);
    const ITEM4 c = vload4(0, src + y + 2 * src_step);
    const ITEM4 d = vload4(0, src + y + 3 * src_step);
    const ITEM4 ac_low = (ITEM4)(a.s0, c.s0, a.s1, c.s1);
    const ITEM4 ac_high = (ITEM4)(a.s2, c.s2, a.s3, c.s3);
    const ITEM4 bd_low = (ITEM4)(b.s0, d.s0, b.s1, d.s1);
    const ITEM4 bd_high = (ITEM4)(b.s2, d.s2, b.s3, d.s3);
    __global ITEM* const to = dst + y * dst_step;
    vstore4((ITEM4)(ac_low.s0, bd_low.s0, ac_low.s1, bd_low.s1), 0, to);
    vstore4((ITEM4)(ac_low.s2, bd_low.s2, ac_low.s3, bd_low.s3), 0, to + dst_step);
    vstore4((ITEM4)(ac_high.s0, bd_high.s0, ac_high.s1, bd_high.s1), 0, to + 2 * dst_step);
    vstore4((ITEM4)(ac_high.s2, bd_high.s2, ac_high.s3, bd_high.s3), 0, to + 3 * dst_step);
  }
  copy_edge(src + y, dst + y * dst_step, min(4, width - x), end - y, src_step, dst_step);
}

// dst, dense, from the elements that tables name: position p of dimension d is table d's entry p in
// src, and dst's element the sum of its positions' entries; an entry below 0 gives `fill`. Behind
// the last dimension lie `run` neighbours on both sides. A work-item copies `piece` positions of
// the last dimension. `walk` has the dimensions, then where their tables begin.
__kernel void copy_mapped(__global const ITEM* src, __global ITEM* dst,
                          __constant const int* walk, __global const int* tables,
                          __global const ITEM* fill, int rank, int rows, int run, int pieces,
                          int piece) {
  const uint id = get_global_id(0);
  uint row = id / (uint)pieces;
  if (row >= (uint)rows) return;
  const int length = walk[rank - 1];
  const int begin = (int)(id - row * (uint)pieces) * piece;
  const int end = min(length, begin + piece);
  dst += ((size_t)row * length + begin) * run;
  int at = 0;
  bool inside = true;
  for (int d = rank - 2; d >= 0; --d) {
    const int from = tables[walk[rank + d] + row % walk[d]];
    row /= walk[d];
    inside = inside && from >= 0;
    at += from;
  }
  const __global int* last = tables + walk[2 * rank - 1];
  if (run == 1) {
    for (int p = begin; p < end; ++p) {
      const int from = last[p];
      dst[p - begin] = inside && from >= 0 ? src[at + from] : fill[0];
    }
    return;
  }
  for (int p = begin; p < end; ++p, dst += run) {
    const int from = last[p];
    if (inside && from >= 0) {
      copy_run(src + at + from, dst, run);
    } else {
      const ITEM value = fill[0];
      for (int i = 0; i < run; ++i) dst[i] = value;
    }
  }
}
