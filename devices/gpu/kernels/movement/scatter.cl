// Updates of dst, which holds the data already. INDEX is the type of the places. `combine`, GET and
// PUT are generated for the elements' type. A place outside its dimension is moved to the nearest
// one inside. Updates of one element come in their order, whichever work-items run first.
int inside(INDEX place, int length) {
  const long wanted = (long)place;
  return (int)clamp(wanted < 0 ? wanted + length : wanted, (long)0, (long)(length - 1));
}

// dst[.. places[i0, i1 ..] ..] along one axis: a work-item takes all updates along it. `walk` has
// the other dimensions of the places, their steps there and in dst.
__kernel void scatter_elements(__global ITEM* dst, __global const INDEX* places,
                               __global const ITEM* updates, __constant const int* walk, int rank,
                               int columns, int count, int update_step, int step, int length) {
  const int id = get_global_id(0);
  if (id >= columns) return;
  int rest = id;
  int from = 0;
  int to = 0;
  for (int d = rank - 1; d >= 0; --d) {
    const int position = rest % walk[d];
    rest /= walk[d];
    from += position * walk[rank + d];
    to += position * walk[2 * rank + d];
  }
  for (int i = 0; i < count; ++i, from += update_step) {
    const int at = to + inside(places[from], length) * step;
    PUT(combine(GET(dst, at), GET(updates, from)), dst, at);
  }
}

// Slices of `inner` elements at tuples of places; a work-item takes one element of `run` tuples.
// `walk` has the dimensions that a tuple counts in, then their steps.
__kernel void scatter_tuples(__global ITEM* dst, __global const INDEX* places,
                             __global const ITEM* updates, __constant const int* walk, int length,
                             int tuples, int run, int inner) {
  const uint id = get_global_id(0);
  const int element = (int)(id % (uint)inner);
  const int first = (int)(id / (uint)inner) * run;
  const int end = min(tuples, first + run);
  for (int t = first; t < end; ++t) {
    int at = element;
    for (int i = 0; i < length; ++i) {
      at += inside(places[(size_t)t * length + i], walk[i]) * walk[length + i];
    }
    PUT(combine(GET(dst, at), GET(updates, (size_t)t * inner + element)), dst, at);
  }
}
