#include <algorithm>

#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

constexpr std::string_view kReducedTypes = "f32 f16 f64 i32 i64 u8 i8 bf16 i16 u16 u32 u64";

int64_t rank_of(const Shape& shape) {
  return static_cast<int64_t>(shape.size());
}

int64_t& at(Shape& shape, int64_t axis) {
  return shape[static_cast<size_t>(axis < 0 ? axis + rank_of(shape) : axis)];
}

void reduce(Draw& d) {
  const Shape shape = d.shape(0, 5);
  d.input(d.type(), shape, d.generator().low, d.generator().high);
  const Ints axes = d.axes(rank_of(shape));
  if (d.below(4) != 3) d.ints(axes);
  d.attributes("keepdims:i=|0|1 noop_with_empty_axes:i=|1|0");
}

/// Shape and attributes of what works along one axis.
void along_axis(Draw& d) {
  const Shape shape = d.shape(1, 5);
  d.input(d.type(), shape, d.generator().low, d.generator().high);
  if (d.flag()) d.attribute("axis", d.axis(rank_of(shape)));
  d.attributes(d.generator().attributes);
}

/// Few different values, so that many are equal; no empty axis.
void arg_extreme(Draw& d) {
  Shape shape = d.shape(1);
  const int64_t axis = d.axis(rank_of(shape));
  at(shape, axis) = std::max<int64_t>(at(shape, axis), 1);
  d.input(d.type(), shape, 0, d.pick<double>({1, 3, 100}));
  d.attribute("axis", axis);
  d.attributes("keepdims:i=|0|1 select_last_index:i=|1");
}

void cumulative(Draw& d) {
  const Shape shape = d.shape(1);
  d.input(d.type(), shape, d.generator().low, d.generator().high);
  d.input(Tensor::scalar<int64_t>(d.axis(rank_of(shape))));
  d.attributes("exclusive:i=|1 reverse:i=|1");
}

void top_k(Draw& d) {
  Shape shape = d.shape(1);
  const int64_t axis = d.axis(rank_of(shape));
  d.input(d.type(), shape, 0, d.pick<double>({3, 100}));
  d.ints({d.between(0, at(shape, axis))});
  d.attribute("axis", axis);
  d.attributes("largest:i=|0|1 sorted:i=|1");
  d.call().outputs = 2;
}

void non_zero(Draw& d) {
  d.input(d.type(), d.shape(), 0, 2);
}

/// Channels first, then `spatial` more dimensions.
Shape channelled(Draw& d, int64_t least_spatial, int64_t most_spatial) {
  Shape shape{d.dim(), d.size()};
  for (int64_t more = d.between(least_spatial, most_spatial); more > 0; --more) {
    shape.push_back(more > 2 ? d.between(1, 3) : d.dim());
  }
  return shape;
}

void batch_normalization(Draw& d) {
  const ElementType type = d.type();
  const Shape shape = channelled(d, 0, 3);
  const Shape channels{shape[1]};
  d.input(type, shape);
  d.weights(type, channels);
  d.weights(type, channels);
  d.weights(type, channels);
  d.weights(type, channels, 0.5, 2);
  d.attributes("epsilon:f=|0.25");
  const bool has_elements = std::count(shape.begin(), shape.end(), 0) == 0;
  if (has_elements && d.below(8) == 7) {
    d.attribute("training_mode", int64_t{1});
    d.attributes("momentum:f=|0.5");
    d.call().outputs = static_cast<size_t>(d.pick<int64_t>({1, 3}));
  }
}

void instance_normalization(Draw& d) {
  const ElementType type = d.type();
  const Shape shape = channelled(d, 1, 3);
  d.input(type, shape);
  d.weights(type, {shape[1]});
  d.weights(type, {shape[1]});
  d.attributes("epsilon:f=0.125|0.5");
}

void group_normalization(Draw& d) {
  const ElementType type = d.type();
  const int64_t groups = d.between(1, 4);
  Shape shape = channelled(d, 0, 3);
  shape[1] *= groups;
  d.input(type, shape);
  d.weights(type, {shape[1]});
  d.weights(type, {shape[1]});
  d.attribute("num_groups", groups);
  d.attributes("epsilon:f=0.125|0.5 stash_type:i=|1");
}

void layer_normalization(Draw& d) {
  const ElementType type = d.type();
  const Shape shape = d.shape(1);
  const int64_t axis = d.axis(rank_of(shape));
  const Shape normalized(shape.begin() + (axis < 0 ? axis + rank_of(shape) : axis), shape.end());
  d.input(type, shape);
  d.weights(type, normalized);
  if (d.generator().type == "LayerNormalization") {
    if (d.flag()) d.weights(type, normalized);
    d.call().outputs = static_cast<size_t>(d.pick<int64_t>({1, 1, 3}));
  }
  d.attribute("axis", axis);
  d.attributes("epsilon:f=0.125|0.5");
}

void lrn(Draw& d) {
  d.input(d.type(), channelled(d, 0, 3));
  d.attribute("size", d.between(1, 6));
  d.attributes("alpha:f=|0.25 beta:f=|0.5 bias:f=|2");
}

void mean_variance_normalization(Draw& d) {
  const Shape shape = channelled(d, 2, 2);
  d.input(d.type(), shape);
  if (d.flag()) d.attribute("axes", d.axes(rank_of(shape), 1));
}

void normalize_l2(Draw& d) {
  const Shape shape = d.shape(1);
  d.input(d.type(), shape, 0.25, 2);
  d.ints(d.axes(rank_of(shape)));
  d.attributes("eps:f=0.001|0.5 eps_mode:s=add|max");
}

void det(Draw& d) {
  Shape shape = d.shape(0, 2);
  const int64_t n = d.between(1, 5);
  shape.insert(shape.end(), {n, n});
  d.input(d.type(), shape);
}

/// Matrices with a dominant diagonal, so that each has an inverse that rounding does not move far.
void inverse(Draw& d) {
  const int64_t n = d.dim();
  Shape shape = d.shape(0, 2);
  shape.insert(shape.end(), {n, n});
  const Tensor matrices = d.tensor(ElementType::Float64, shape, -1, 1);
  const auto values = matrices.values<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    const auto place = static_cast<int64_t>(i) % (n * n);
    if (place % (n + 1) == 0) values[i] += static_cast<double>(n + 1);
  }
  d.input(converted(matrices, d.type()));
  d.attributes("adjoint:i=|1|0");
}

constexpr Generator kReductionTable[] = {
    {"", "ReduceSum", reduce, kSummed},
    {"", "ReduceMean", reduce, kSummed},
    {"", "ReduceMax", reduce, kReducedTypes, -100, 100},
    {"", "ReduceMin", reduce, kReducedTypes, -100, 100},
    {"", "ReduceProd", reduce, kSummed, 0.5, 1.5},
    {"", "ReduceL1", reduce, kSummed},
    {"", "ReduceL2", reduce, kSummed},
    {"", "ReduceLogSum", reduce, kFloats, 0.5, 2},
    {"", "ReduceLogSumExp", reduce, kFloats, -20, 20},
    {"", "ReduceSumSquare", reduce, kSummed},
    {"", "ArgMax", arg_extreme, kReducedTypes},
    {"", "ArgMin", arg_extreme, kReducedTypes},
    {"", "Softmax", along_axis, kFloats, -20, 20},
    {"", "LogSoftmax", along_axis, kFloats, -20, 20},
    {"", "Hardmax", along_axis, kFloats},
    {"", "CumSum", cumulative, kSummed},
    {"", "CumProd", cumulative, kSummed, 0.75, 1.25},
    {"", "TopK", top_k, kReducedTypes},
    {"", "NonZero", non_zero, "f32 i64 bool u8 f16 i32 f64"},
    {"", "BatchNormalization", batch_normalization, kFloats},
    {"", "InstanceNormalization", instance_normalization, kFloats},
    {"", "GroupNormalization", group_normalization, kFloats},
    {"", "LayerNormalization", layer_normalization, kFloats},
    {"", "RMSNormalization", layer_normalization, kFloats},
    {"", "LpNormalization", along_axis, kFloats, 0.25, 2, "p:i=|1|2"},
    {"", "LRN", lrn, kFloats},
    {"", "MeanVarianceNormalization", mean_variance_normalization, kFloats},
    {"het", "NormalizeL2", normalize_l2, kFloats},
    {"", "Det", det, kFloats},
    {"het", "Inverse", inverse, kFloats},
};

}  // namespace

std::span<const Generator> reduction_generators() {
  return kReductionTable;
}

}  // namespace het::oracle
