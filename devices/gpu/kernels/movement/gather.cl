// Elements chosen by computed places: ITEM as in move.cl, INDEX the type of the places (int, long,
// or for one_hot float). A place outside its dimension is moved to the nearest one inside.

int inside(INDEX place, int length) {
  const long wanted = (long)place;
  return (int)clamp(wanted < 0 ? wanted + length : wanted, (long)0, (long)(length - 1));
}

void copy_run(__global const ITEM* src, __global ITEM* dst, int count) {
  int i = 0;
  for (; i + WIDTH <= count; i += WIDTH) {
    HET_JOIN(vstore, WIDTH)(HET_JOIN(vload, WIDTH)(0, src + i), 0, dst + i);
  }
  for (; i < count; ++i) dst[i] = src[i];
}

// dst[outer][index][inner] = src[outer][places[index]][inner]; `piece` elements a work-item.
__kernel void gather_rows(__global const ITEM* src, __global const INDEX* places,
                          __global ITEM* dst, int length, int count, int inner, int rows,
                          int pieces, int piece) {
  const uint id = get_global_id(0);
  const uint row = id / (uint)pieces;
  if (row >= (uint)rows) return;
  const int begin = (int)(id - row * (uint)pieces) * piece;
  const size_t from = (size_t)(row / (uint)count) * length + inside(places[row % (uint)count], length);
  copy_run(src + from * inner + begin, dst + (size_t)row * inner + begin,
           min(piece, inner - begin));
}

// Rows of `inner` elements at tuples of places: `walk` has the dimensions that a tuple counts in,
// then their steps. Every `per_batch` tuples belong to the next `batch` elements of src.
__kernel void gather_tuples(__global const ITEM* src, __global const INDEX* places,
                            __global ITEM* dst, __constant const int* walk, int length,
                            int per_batch, int batch, int inner, int rows, int pieces, int piece) {
  const uint id = get_global_id(0);
  const uint row = id / (uint)pieces;
  if (row >= (uint)rows) return;
  const int begin = (int)(id - row * (uint)pieces) * piece;
  int from = (int)(row / (uint)per_batch) * batch + begin;
  for (int i = 0; i < length; ++i) {
    from += inside(places[(size_t)row * length + i], walk[i]) * walk[length + i];
  }
  copy_run(src + from, dst + (size_t)row * inner + begin, min(piece, inner - begin));
}

// dst[i0, i1 ...] = src[i0, places[i0, i1 ...], ...]: `walk` has dst's dimensions, then src's steps.
__kernel void gather_elements(__global const ITEM* src, __global const INDEX* places,
                              __global ITEM* dst, __constant const int* walk, int rank, int axis,
                              int length, int count) {
  const uint id = get_global_id(0);
  if (id >= (uint)count) return;
  int rest = (int)id;
  int from = 0;
  for (int d = rank - 1; d >= 0; --d) {
    const int position = d == axis ? inside(places[id], length) : rest % walk[d];
    rest /= walk[d];
    from += position * walk[rank + d];
  }
  dst[id] = src[from];
}

// dst[outer][depth][inner] = values[places[outer][inner] is the depth].
__kernel void one_hot(__global const INDEX* places, __global const ITEM* values,
                      __global ITEM* dst, int depth, int inner, int count) {
  const uint id = get_global_id(0);
  if (id >= (uint)count) return;
  const uint row = id / (uint)inner;
  const long at = (long)(row % (uint)depth);
  const long hot = (long)places[(size_t)(row / (uint)depth) * inner + id % (uint)inner];
  dst[id] = values[hot == at || hot + depth == at ? 1 : 0];
}

// Rows [time][batch] or [batch][time] of `inner` elements, the first lengths[batch] of each batch
// in reverse.
__kernel void reverse_sequence(__global const ITEM* src, __global const INDEX* lengths,
                               __global ITEM* dst, int times, int batches, int inner,
                               int batch_first, int count) {
  const uint id = get_global_id(0);
  if (id >= (uint)count) return;
  const int row = (int)(id / (uint)inner);
  const int batch = batch_first ? row / times : row % batches;
  const int time = batch_first ? row % times : row / batches;
  const int length = (int)clamp((long)lengths[batch], (long)0, (long)times);
  const int from = time < length ? length - 1 - time : time;
  const int at = batch_first ? batch * times + from : from * batches + batch;
  dst[id] = src[(size_t)at * inner + id % (uint)inner];
}

// Keeps what lies on one side of a diagonal of every matrix.
__kernel void trilu(__global const ITEM* src, __global const INDEX* diagonal, __global ITEM* dst,
                    int rows, int columns, int upper, int count) {
  const uint id = get_global_id(0);
  if (id >= (uint)count) return;
  const int column = (int)(id % (uint)columns);
  const int row = (int)(id / (uint)columns % (uint)rows);
  const long at = (long)row + clamp((long)diagonal[0], -(long)rows - 1, (long)columns + 1);
  dst[id] = (upper ? column >= at : column <= at) ? src[id] : 0;
}
