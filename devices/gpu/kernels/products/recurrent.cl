// Behind rows.cl and generated functions act0(), act1(), act2(). One step of LSTM, GRU or RNN: a
// work-item computes WIDTH hidden units of one sequence. Dimensions: units, sequences, directions.
// Products with the input were done for all steps, xw[direction][row][gate][unit]; recurrence weights
// are r[direction][k][gate][units], with `units` rounded up to WIDTH. States are float,
// [direction][sequence][unit].
#if defined LSTM
#define GATES 4
#elif defined GRU
#define GATES 3
#else
#define GATES 1
#endif

// fmax() and fmin() make a number of NaN.
floatw clipped(floatw x, float limit) {
  return select(fmin(fmax(x, (floatw)(-limit)), (floatw)(limit)), x, isnan(x));
}

floatw load_state(__global const float* p, int count) {
  if (count >= WIDTH) return HET_JOIN(vload, WIDTH)(0, p);
  float lanes[WIDTH];
  for (int i = 0; i < WIDTH; ++i) lanes[i] = i < count ? p[i] : 0.0f;
  return HET_JOIN(vload, WIDTH)(0, lanes);
}

void store_state(floatw v, __global float* p, int count) {
  if (count >= WIDTH) {
    HET_JOIN(vstore, WIDTH)(v, 0, p);
    return;
  }
  float lanes[WIDTH];
  HET_JOIN(vstore, WIDTH)(v, 0, lanes);
  for (int i = 0; i < count; ++i) p[i] = lanes[i];
}

// Fills a state from an initial one, [direction][sequence][unit] or, batch first, [sequence]
// [direction][unit]; with zeros where there is none.
__kernel void start_state(__global const stored* initial, __global float* state, int directions,
                          int batch, int hidden, int batch_first) {
  const int j = get_global_id(0);
  const int n = get_global_id(1);
  const int d = get_global_id(2);
  if (j >= hidden || n >= batch || d >= directions) return;
  const size_t from = (size_t)(batch_first ? n * directions + d : d * batch + n) * hidden + j;
  state[(size_t)(d * batch + n) * hidden + j] = initial ? LOAD(initial, from) : 0.0f;
}

// What all steps know of their place.
#define PLACE                                                                            \
  const int j = get_global_id(0) * WIDTH;                                                \
  const int n = get_global_id(1);                                                        \
  const int d = get_global_id(2);                                                        \
  if (j >= hidden || n >= batch || d >= directions) return;                              \
  const int count = hidden - j;                                                          \
  const int t = reversed >> d & 1 ? sequence - 1 - step : step;                          \
  const size_t x_row = batch_first ? n * sequence + t : t * batch + n;                   \
  const size_t y_row = batch_first ? x_row * directions + d : (t * directions + d) * batch + n; \
  const size_t s_row = batch_first ? n * directions + d : d * batch + n;                 \
  const size_t state = (size_t)(d * batch + n) * hidden;                                 \
  xw += ((size_t)d * sequence * batch + x_row) * GATES * hidden + j;                     \
  r += (size_t)d * hidden * GATES * units + j;                                           \
  if (b) b += (size_t)d * 2 * GATES * hidden + j

// The part of a gate that comes from the input, with its bias; `own` adds that of the state.
floatw from_input(__global const stored* xw, __global const stored* b, int gate, int hidden,
                  int count, int own) {
  floatw v = load_lanes(xw + gate * hidden, count);
  if (b) {
    v += load_lanes(b + gate * hidden, count);
    if (own) v += load_lanes(b + (GATES + gate) * hidden, count);
  }
  return v;
}

#define FINISH_STEP(h)                                             \
  store_state(h, h_after + state + j, count);                      \
  store_lanes(h, y + y_row * hidden + j, count);                    \
  if (y_h) store_lanes(h, y_h + s_row * hidden + j, count)

#if defined LSTM
__kernel void recurrent_step(__global const stored* xw, __global const stored* r,
                             __global const stored* b, __global const stored* p,
                             __global const float* h_before, __global float* h_after,
                             __global float* c, __global stored* y, __global stored* y_h,
                             __global stored* y_c, int directions, int batch, int hidden, int units,
                             int sequence, int step, int reversed, int batch_first, float limit,
                             int input_forget) {
  PLACE;
  floatw sums[GATES];
  for (int g = 0; g < GATES; ++g) sums[g] = from_input(xw, b, g, hidden, count, 1);
  for (int k = 0; k < hidden; ++k) {
    const floatw h = (floatw)(h_before[state + k]);
#pragma unroll
    for (int g = 0; g < GATES; ++g) sums[g] = fma(h, LOADW(r + g * units), sums[g]);
    r += GATES * units;
  }
  if (p) p += (size_t)d * 3 * hidden + j;
  const floatw before = load_state(c + state + j, count);
  floatw input = sums[0];
  if (p) input += load_lanes(p, count) * before;
  input = act0(clipped(input, limit));
  floatw forget = 1.0f - input;
  if (!input_forget) {
    forget = sums[2];
    if (p) forget += load_lanes(p + 2 * hidden, count) * before;
    forget = act0(clipped(forget, limit));
  }
  const floatw cell = forget * before + input * act1(clipped(sums[3], limit));
  floatw output = sums[1];
  if (p) output += load_lanes(p + hidden, count) * cell;
  const floatw next = act0(clipped(output, limit)) * act2(cell);
  store_state(cell, c + state + j, count);
  if (y_c) store_lanes(cell, y_c + s_row * hidden + j, count);
  FINISH_STEP(next);
}
#elif defined GRU
// The update gate and, for the candidate, what the reset gate leaves of the state.
__kernel void gru_gates(__global const stored* xw, __global const stored* r,
                        __global const stored* b, __global const float* h_before,
                        __global float* update, __global float* kept, int directions, int batch,
                        int hidden, int units, int sequence, int step, int reversed,
                        int batch_first, float limit) {
  PLACE;
  floatw z = from_input(xw, b, 0, hidden, count, 1);
  floatw reset = from_input(xw, b, 1, hidden, count, 1);
  for (int k = 0; k < hidden; ++k) {
    const floatw h = (floatw)(h_before[state + k]);
    z = fma(h, LOADW(r), z);
    reset = fma(h, LOADW(r + units), reset);
    r += GATES * units;
  }
  store_state(act0(clipped(z, limit)), update + state + j, count);
  const floatw h = load_state(h_before + state + j, count);
  store_state(act0(clipped(reset, limit)) * h, kept + state + j, count);
}

// With `kept` the candidate's sums are over it; without, the reset gate scales them here.
__kernel void recurrent_step(__global const stored* xw, __global const stored* r,
                             __global const stored* b, __global const float* update,
                             __global const float* kept, __global const float* h_before,
                             __global float* h_after, __global stored* y, __global stored* y_h,
                             int directions, int batch, int hidden, int units, int sequence,
                             int step, int reversed, int batch_first, float limit) {
  PLACE;
  floatw candidate = (floatw)(0.0f);
  floatw z = (floatw)(0.0f);
  if (kept) {
    for (int k = 0; k < hidden; ++k) {
      candidate = fma((floatw)(kept[state + k]), LOADW(r + 2 * units), candidate);
      r += GATES * units;
    }
    candidate += from_input(xw, b, 2, hidden, count, 1);
    z = load_state(update + state + j, count);
  } else {
    z = from_input(xw, b, 0, hidden, count, 1);
    floatw reset = from_input(xw, b, 1, hidden, count, 1);
    if (b) candidate = load_lanes(b + (GATES + 2) * hidden, count);
    for (int k = 0; k < hidden; ++k) {
      const floatw h = (floatw)(h_before[state + k]);
      z = fma(h, LOADW(r), z);
      reset = fma(h, LOADW(r + units), reset);
      candidate = fma(h, LOADW(r + 2 * units), candidate);
      r += GATES * units;
    }
    z = act0(clipped(z, limit));
    candidate = act0(clipped(reset, limit)) * candidate + from_input(xw, b, 2, hidden, count, 0);
  }
  candidate = act1(clipped(candidate, limit));
  const floatw next =
      (1.0f - z) * candidate + z * load_state(h_before + state + j, count);
  FINISH_STEP(next);
}
#else
__kernel void recurrent_step(__global const stored* xw, __global const stored* r,
                             __global const stored* b, __global const float* h_before,
                             __global float* h_after, __global stored* y, __global stored* y_h,
                             int directions, int batch, int hidden, int units, int sequence,
                             int step, int reversed, int batch_first, float limit) {
  PLACE;
  floatw sum = from_input(xw, b, 0, hidden, count, 1);
  for (int k = 0; k < hidden; ++k) {
    sum = fma((floatw)(h_before[state + k]), LOADW(r), sum);
    r += units;
  }
  const floatw next = act0(clipped(sum, limit));
  FINISH_STEP(next);
}
#endif
