#include <algorithm>

#include "inference/ops/onnx_type.h"
#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

/// Shapes of two factors: stacks that broadcast, or vectors.
struct Factors {
  explicit Factors(Draw& d) {
    const Shape stack = d.shape(0, 2);
    const int64_t m = d.dim();
    const int64_t k = d.dim();
    const int64_t n = d.dim();
    a = d.flag() ? d.broadcastable(stack) : stack;
    b = d.flag() ? stack : d.broadcastable(stack);
    a.insert(a.end(), {m, k});
    b.insert(b.end(), {k, n});
    const int64_t vectors = d.below(8);
    if (vectors == 6) a = {k};
    if (vectors == 7) b = {k};
  }
  Shape a;
  Shape b;
};

void matmul(Draw& d) {
  const ElementType type = d.type();
  const Factors factors(d);
  d.input(type, factors.a);
  d.flag() ? d.weights(type, factors.b) : d.input(type, factors.b);
}

void gemm(Draw& d) {
  const ElementType type = d.type();
  const int64_t m = d.dim();
  const int64_t k = d.dim();
  const int64_t n = d.dim();
  const bool transposed_a = d.flag();
  const bool transposed_b = d.flag();
  d.input(type, transposed_a ? Shape{k, m} : Shape{m, k});
  d.weights(type, transposed_b ? Shape{n, k} : Shape{k, n});
  if (d.flag()) d.weights(type, d.broadcastable({m, n}));
  if (transposed_a) d.attribute("transA", int64_t{1});
  if (transposed_b) d.attribute("transB", int64_t{1});
  if (is_float(type)) d.attributes("alpha:f=|0.5|2 beta:f=|0.25|0|2");
}

/// Letters are dimensions; every operand has the shape that its letters say.
void einsum(Draw& d) {
  const ElementType type = d.type();
  const std::string equation = d.word(
      "ij->ji ij,jk->ik ij,jk ij,jk->ki ii->i ii bij,bjk->bik ij->i ij-> i,j->ij "
      "...ij,...jk->...ik bhid,bhjd->bhij ij,ij->ij ij,jk,kl->il iji->j ...i->...");
  const Shape stack = d.shape(0, 1);
  int64_t sizes[26];
  for (int64_t& size : sizes) size = 0;
  const std::string operands = equation.substr(0, equation.find("->"));
  Shape shape;
  for (size_t i = 0; i <= operands.size(); ++i) {
    if (i == operands.size() || operands[i] == ',') {
      d.input(type, shape);
      shape.clear();
    } else if (operands[i] == '.') {
      shape.insert(shape.end(), stack.begin(), stack.end());
      i += 2;
    } else {
      int64_t& size = sizes[operands[i] - 'a'];
      if (size == 0) size = d.size();
      shape.push_back(size);
    }
  }
  d.attribute("equation", equation);
}

/// 8-bit values, a scale and a zero point that one tensor has.
struct Quantised {
  ElementType type;
  double zero_low;
  double zero_high;
};

Quantised quantised(Draw& d, std::string_view types = "u8 i8") {
  const ElementType type = d.type(types);
  return type == ElementType::UInt8 ? Quantised{type, 100, 150} : Quantised{type, -20, 20};
}

/// Scale and zero point of these shapes.
void scale_and_zero(Draw& d, const Quantised& q, double low, double high, const Shape& shape = {}) {
  d.constant(d.tensor(ElementType::Float32, shape, low, high));
  d.constant(d.tensor(q.type, shape, q.zero_low, q.zero_high));
}

void matmul_integer(Draw& d) {
  const Quantised a = quantised(d);
  const Quantised b = quantised(d, "i8 u8");
  const Factors factors(d);
  const int64_t zero_points = d.below(4);
  d.input(a.type, factors.a, -128, 255);
  d.weights(b.type, factors.b, -128, 255);
  if (zero_points == 0) return;
  // A vector has one row, or one column.
  const Shape rows{factors.a.size() < 2 ? 1 : factors.a[factors.a.size() - 2]};
  const Shape columns{factors.b.size() < 2 ? 1 : factors.b.back()};
  d.weights(a.type, zero_points == 3 ? rows : Shape{}, a.zero_low, a.zero_high);
  if (zero_points == 1) return;
  d.weights(b.type, zero_points == 3 ? columns : Shape{}, b.zero_low, b.zero_high);
}

void qlinear_matmul(Draw& d) {
  const Quantised a = quantised(d);
  const Quantised b = quantised(d, "i8 u8");
  const Factors factors(d);
  const bool per_column = d.flag() && factors.b.size() == 2;
  d.input(a.type, factors.a, -128, 255);
  scale_and_zero(d, a, 0.01, 0.05);
  d.weights(b.type, factors.b, -128, 255);
  scale_and_zero(d, b, 0.01, 0.05, per_column ? Shape{factors.b.back()} : Shape{});
  scale_and_zero(d, a, 0.05, 0.2);
}

void qlinear_conv(Draw& d) {
  const Quantised x = quantised(d);
  const Quantised w = quantised(d, "i8 u8");
  const bool depthwise = d.below(4) == 3;
  const int64_t groups = depthwise ? d.size() : d.pick<int64_t>({1, 1, 2});
  const int64_t ic = depthwise ? 1 : d.size();
  const int64_t oc = depthwise ? 1 : d.size();
  const int64_t kernel = d.pick<int64_t>({1, 3, 2});
  const int64_t pad = kernel / 2;
  const bool per_channel = d.flag();
  d.input(x.type, {d.dim(), groups * ic, d.between(3, 9), d.between(3, 9)}, -128, 255);
  scale_and_zero(d, x, 0.01, 0.05);
  d.weights(w.type, {groups * oc, ic, kernel, kernel}, -128, 255);
  const bool symmetric = d.flag();
  scale_and_zero(d, symmetric ? Quantised{w.type, 0, 0} : w, 0.01, 0.05,
                 per_channel ? Shape{groups * oc} : Shape{});
  scale_and_zero(d, x, 0.05, 0.2);
  if (d.flag()) d.weights(ElementType::Int32, {groups * oc}, -1000, 1000);
  if (groups != 1) d.attribute("group", groups);
  d.attribute("pads", Ints{pad, pad, pad, pad});
  d.attributes("strides:is=|2,2|1,2");
}

void qlinear_binary(Draw& d) {
  const Quantised q = quantised(d);
  const Shape shape = d.shape();
  d.input(q.type, shape, -128, 255);
  scale_and_zero(d, q, 0.01, 0.05);
  d.input(q.type, d.broadcastable(shape), -128, 255);
  scale_and_zero(d, q, 0.01, 0.05);
  scale_and_zero(d, q, 0.01, 0.05);
}

void qlinear_unary(Draw& d) {
  const Quantised q = quantised(d);
  d.input(q.type, d.shape(), -128, 255);
  scale_and_zero(d, q, 0.01, 0.05);
  scale_and_zero(d, q, 0.005, 0.02);
  d.attributes(d.generator().attributes);
}

void qlinear_pool(Draw& d) {
  const Quantised q = quantised(d);
  const bool last = d.flag();
  const int64_t n = d.dim();
  const int64_t c = d.dim();
  const int64_t h = d.between(2, 9);
  const int64_t w = d.between(2, 9);
  d.input(q.type, last ? Shape{n, h, w, c} : Shape{n, c, h, w}, -128, 255);
  scale_and_zero(d, q, 0.01, 0.05);
  scale_and_zero(d, q, 0.01, 0.05);
  if (last) d.attribute("channels_last", int64_t{1});
  d.attributes(d.generator().attributes);
}

void qlinear_concat(Draw& d) {
  const Quantised q = quantised(d);
  Shape shape = d.shape(1);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = d.axis(rank);
  scale_and_zero(d, q, 0.01, 0.05);
  for (int64_t parts = d.between(1, 3); parts > 0; --parts) {
    d.input(q.type, shape, -128, 255);
    scale_and_zero(d, q, 0.01, 0.05);
    shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = d.dim();
  }
  d.attribute("axis", axis);
}

/// Scale and zero point of one for all, of one for each index of an axis, or in blocks.
struct Grid {
  Grid(Draw& d, Shape& shape) {
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t how = rank == 0 ? 0 : d.below(3);
    if (how == 0) return;
    const int64_t axis = d.axis(rank);
    int64_t& length = shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
    d.attribute("axis", axis);
    if (how == 1) {
      scale = {length};
      return;
    }
    const int64_t block = d.between(1, 4);
    const int64_t blocks = d.between(1, 3);
    length = block * blocks;
    scale = shape;
    scale[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = blocks;
    d.attribute("block_size", block);
  }
  Shape scale;
};

void quantize_linear(Draw& d) {
  const ElementType real = d.type("f32 f16 bf16");
  const ElementType type = d.type("u8 i8 u16 i16 i4 u4 i2 u2 f8e4m3 f8e5m2 f4e2m1");
  Shape shape = d.shape();
  const Grid grid(d, shape);
  d.input(real, shape, -20, 20);
  d.ordinary_weights(real, grid.scale, 0.05, 0.5);
  const bool narrow = !is_integer(type);
  if (!narrow && d.flag()) {
    const bool packed = bit_width(type) < 8;
    d.weights(type, grid.scale, packed ? 0 : 2, packed ? 0 : 7);
  } else {
    d.attribute("output_dtype", onnx_type_code(type));
  }
  if (narrow) d.attributes("saturate:i=|0|1");
  // By default the division is rounded to a narrow scale's type; the CPU device divides in float32.
  if (real != ElementType::Float32) d.attribute("precision", onnx_type_code(ElementType::Float32));
}

void dequantize_linear(Draw& d) {
  const ElementType real = d.type("f32 f16 bf16");
  const ElementType type = d.type("u8 i8 u16 i16 i32 i4 u4 i2 u2 f8e4m3 f8e5m2 f4e2m1");
  Shape shape = d.shape();
  const Grid grid(d, shape);
  d.input(type, shape, -1000, 1000);
  d.weights(real, grid.scale, 0.05, 0.5);
  if (is_integer(type) && type != ElementType::Int32 && d.flag()) d.weights(type, grid.scale, 2, 7);
}

void dynamic_quantize_linear(Draw& d) {
  Shape shape = d.shape();
  for (int64_t& dim : shape) dim = std::max<int64_t>(dim, 1);
  d.input(ElementType::Float32, shape, d.pick<double>({-3, 0.5, -9}), d.pick<double>({4, -0.25}));
  d.call().outputs = 3;
}

void fake_quantize(Draw& d) {
  const ElementType type = d.type();
  const Shape shape = d.shape();
  Shape one;
  if (shape.size() >= 2 && d.flag()) {
    one = Shape(shape.size(), 1);
    one[1] = shape[1];
  }
  d.input(type, shape, -4, 4);
  // No multiples of a quarter: devices that turn the formula into another one may round a value
  // half way between two levels to the other side.
  d.weights(type, one, -1.97, -1.78);
  d.weights(type, one, 1.28, 1.47);
  d.weights(type, one, -2, -1);
  d.weights(type, one, 1, 2);
  d.attributes("levels:i=256|255|2|16");
}

constexpr std::string_view kMicrosoft = "com.microsoft";

constexpr Generator kProductTable[] = {
    {"", "MatMul", matmul, kSummed},
    {"", "Gemm", gemm, kSummed},
    {"", "Einsum", einsum, "f32 f16 f64 i32 bf16"},
    {"", "MatMulInteger", matmul_integer},
    {.type = "QLinearMatMul", .make = qlinear_matmul, .rounds = true},
    {.type = "QLinearConv", .make = qlinear_conv, .rounds = true},
    {.domain = kMicrosoft, .type = "QLinearAdd", .make = qlinear_binary, .rounds = true},
    {.domain = kMicrosoft, .type = "QLinearMul", .make = qlinear_binary, .rounds = true},
    {.domain = kMicrosoft, .type = "QLinearSigmoid", .make = qlinear_unary, .rounds = true},
    {.domain = kMicrosoft,
     .type = "QLinearLeakyRelu",
     .make = qlinear_unary,
     .types = "u8",
     .attributes = "alpha:f=|0.25",
     .rounds = true},
    {.domain = kMicrosoft,
     .type = "QLinearAveragePool",
     .make = qlinear_pool,
     .types = "u8",
     .attributes = "kernel_shape:is=2,2|1,2 strides:is=|2,2 pads:is=|1,0,0,1 "
                   "count_include_pad:i=|1 ceil_mode:i=|1",
     .rounds = true},
    {.domain = kMicrosoft,
     .type = "QLinearGlobalAveragePool",
     .make = qlinear_pool,
     .rounds = true},
    {.domain = kMicrosoft, .type = "QLinearConcat", .make = qlinear_concat, .rounds = true},
    {"", "QuantizeLinear", quantize_linear},
    {"", "DequantizeLinear", dequantize_linear},
    {"com.microsoft", "QuantizeLinear", quantize_linear},
    {"com.microsoft", "DequantizeLinear", dequantize_linear},
    {"", "DynamicQuantizeLinear", dynamic_quantize_linear},
    {"het", "FakeQuantize", fake_quantize, kFloats},
};

}  // namespace

std::span<const Generator> product_generators() {
  return kProductTable;
}

}  // namespace het::oracle
