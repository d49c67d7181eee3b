#include "operators.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Of dimension `axis` of a shape of rank `rank`, as seen from a shape of MYDEV_MOST_RANK dimensions
 * that ends where it ends. */
static int64_t dimension(const Value* value, int axis) {
  const int own = axis - (MYDEV_MOST_RANK - (int)value->rank);
  return own < 0 ? 1 : value->shape[own];
}

/* Floats between neighbours along `axis`; 0 where the value is spread over the output. */
static int64_t stride(const Value* value, int axis) {
  int64_t floats = 1;
  if (dimension(value, axis) == 1) return 0;
  for (int i = axis + 1; i < MYDEV_MOST_RANK; ++i) floats *= dimension(value, i);
  return floats;
}

static const char* pair_problem(const Value* a, const Value* b, const Value* output) {
  for (int axis = 0; axis < MYDEV_MOST_RANK; ++axis) {
    const int64_t x = dimension(a, axis), y = dimension(b, axis);
    if (x != y && x != 1 && y != 1) return "the shapes of its inputs do not fit together";
    if (dimension(output, axis) != (x == 1 ? y : x)) return "its output has another shape";
  }
  return NULL;
}

static const char* matmul_problem(const Value* a, const Value* b, const Value* output) {
  if (a->rank < 2 || b->rank != 2 || output->rank != a->rank)
    return "MatMul takes a second input of two dimensions only";
  if (a->shape[a->rank - 1] != b->shape[0]) return "the shapes of its inputs do not fit together";
  for (uint32_t i = 0; i + 1 < a->rank; ++i) {
    if (output->shape[i] != a->shape[i]) return "its output has another shape";
  }
  return output->shape[a->rank - 1] == b->shape[1] ? NULL : "its output has another shape";
}

static const char* conv_problem(const Step* step, const Value* const* inputs, const Value* output) {
  const Value *x = inputs[0], *w = inputs[1];
  if (x->rank != 4 || w->rank != 4 || output->rank != 4)
    return "Conv takes two spatial dimensions only";
  if (x->shape[1] != w->shape[1]) return "Conv takes one group only";
  if (output->shape[0] != x->shape[0] || output->shape[1] != w->shape[0])
    return "its output has another shape";
  if (step->input_count > 2 && (inputs[2]->rank != 1 || inputs[2]->shape[0] != w->shape[0]))
    return "its bias has another shape";
  for (int i = 0; i < 2; ++i) {
    const int64_t limit = 1 << 20;
    const int64_t s = step->strides[i], d = step->dilations[i], from = step->pads[i],
                  to = step->pads[i + 2], k = w->shape[2 + i];
    if (s < 1 || s > limit || d < 1 || d > limit || from < 0 || from > limit || to < 0 ||
        to > limit || k < 1 || k > limit)
      return "its strides, dilations or pads are out of range";
    const int64_t reach = x->shape[2 + i] + from + to - d * (k - 1) - 1;
    if (output->shape[2 + i] != (reach < 0 ? 0 : reach / s + 1))
      return "its output has another shape";
  }
  return NULL;
}

const char* step_problem(const Step* step, const Value* const* inputs, const Value* output) {
  static const uint32_t least[OP_COUNT] = {1, 1, 2, 2, 2, 2, 1};
  static const uint32_t most[OP_COUNT] = {1, 1, 2, 2, 2, 3, 1};
  if (step->op >= OP_COUNT) return "it is no operator of this device";
  if (step->input_count < least[step->op] || step->input_count > most[step->op])
    return "it has another number of inputs than this device takes";
  switch (step->op) {
    case OP_ADD:
    case OP_MUL:
      return pair_problem(inputs[0], inputs[1], output);
    case OP_MATMUL:
      return matmul_problem(inputs[0], inputs[1], output);
    case OP_CONV:
      return conv_problem(step, inputs, output);
    default:
      if (inputs[0]->rank != output->rank ||
          memcmp(inputs[0]->shape, output->shape, output->rank * sizeof(int64_t)) != 0)
        return "its output has another shape";
      return NULL;
  }
}

static void run_pair(uint32_t op, const Value* const* values, const float* const* sources,
                     const Value* output, float* target) {
  int64_t at[MYDEV_MOST_RANK] = {0};
  const int64_t count = value_floats(output);
  for (int64_t i = 0; i < count; ++i) {
    int64_t a = 0, b = 0;
    for (int axis = 0; axis < MYDEV_MOST_RANK; ++axis) {
      a += at[axis] * stride(values[0], axis);
      b += at[axis] * stride(values[1], axis);
    }
    target[i] = op == OP_ADD ? sources[0][a] + sources[1][b] : sources[0][a] * sources[1][b];
    for (int axis = MYDEV_MOST_RANK - 1; axis >= 0; --axis) {
      if (++at[axis] < dimension(output, axis)) break;
      at[axis] = 0;
    }
  }
}

static void run_matmul(const Value* const* values, const float* const* sources, float* target) {
  const int64_t k = values[1]->shape[0], n = values[1]->shape[1];
  const int64_t rows = k == 0 ? 0 : value_floats(values[0]) / k;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < n; ++column) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i)
        sum += (double)sources[0][row * k + i] * sources[1][i * n + column];
      target[row * n + column] = (float)sum;
    }
  }
}

/* One value of the output of a convolution. */
static double conv_sum(const Step* step, const Value* const* values, const float* picture,
                       const float* weights, int64_t oh, int64_t ow) {
  const int64_t *x = values[0]->shape, *w = values[1]->shape;
  double sum = 0;
  for (int64_t c = 0; c < w[1]; ++c) {
    for (int64_t kh = 0; kh < w[2]; ++kh) {
      const int64_t ih = oh * step->strides[0] - step->pads[0] + kh * step->dilations[0];
      if (ih < 0 || ih >= x[2]) continue;
      for (int64_t kw = 0; kw < w[3]; ++kw) {
        const int64_t iw = ow * step->strides[1] - step->pads[1] + kw * step->dilations[1];
        if (iw < 0 || iw >= x[3]) continue;
        sum += (double)picture[(c * x[2] + ih) * x[3] + iw] * weights[(c * w[2] + kh) * w[3] + kw];
      }
    }
  }
  return sum;
}

static void run_conv(const Step* step, const Value* const* values, const float* const* sources,
                     const Value* output, float* target) {
  const int64_t *x = values[0]->shape, *w = values[1]->shape, *y = output->shape;
  for (int64_t n = 0; n < y[0]; ++n) {
    const float* picture = sources[0] + n * x[1] * x[2] * x[3];
    for (int64_t oc = 0; oc < y[1]; ++oc) {
      const float* weights = sources[1] + oc * w[1] * w[2] * w[3];
      const double bias = step->input_count > 2 ? sources[2][oc] : 0;
      for (int64_t oh = 0; oh < y[2]; ++oh) {
        for (int64_t ow = 0; ow < y[3]; ++ow)
          *target++ = (float)(bias + conv_sum(step, values, picture, weights, oh, ow));
      }
    }
  }
}

void step_run(const Step* step, const Value* const* values, const float* const* sources,
              const Value* output, float* target) {
  const int64_t count = value_floats(output);
  const float* from = sources[0];
  switch (step->op) {
    case OP_ADD:
    case OP_MUL:
      run_pair(step->op, values, sources, output, target);
      break;
    case OP_MATMUL:
      if (count > 0) memset(target, 0, (size_t)count * sizeof(float)); /* sums of nothing */
      run_matmul(values, sources, target);
      break;
    case OP_CONV:
      run_conv(step, values, sources, output, target);
      break;
    case OP_RELU:
      for (int64_t i = 0; i < count; ++i) target[i] = from[i] < 0 ? 0 : from[i];
      break;
    case OP_SIGMOID:
      for (int64_t i = 0; i < count; ++i) target[i] = 1.0f / (1.0f + expf(-from[i]));
      break;
    default:
      if (count > 0) memcpy(target, from, (size_t)count * sizeof(float));
      break;
  }
}
