#include <algorithm>

#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

/// Types that move as whole bytes, and all types.
constexpr std::string_view kBytes = "f32 u8 f16 i64 bool f64 i16 u32 i8 bf16 f8e5m2";
constexpr std::string_view kAll = "f32 u8 f16 i64 bool i4 uint2 f4e2m1 f8e4m3 f64";
constexpr std::string_view kMovedTypes = "f32 i64 f16 u8 f64 i32 i8 bf16 u16 i16 u32 u64";

int64_t length(const Shape& shape) {
  return static_cast<int64_t>(shape.size());
}

/// Indices below `bound` (the generator must not ask for any when that is 0), some negative.
Tensor indices(Draw& d, const Shape& shape, int64_t bound) {
  const double low = d.flag() ? static_cast<double>(-bound) : 0;
  return d.tensor(d.type("i64 i32"), shape, low, static_cast<double>(bound - 1));
}

void shape_of(Draw& d) {
  d.input(d.type(), d.shape());
  d.attributes(d.generator().attributes);
}

void transpose(Draw& d) {
  const Shape shape = d.shape(0, 5);
  d.input(d.type(), shape);
  if (d.flag()) d.attribute("perm", d.permutation(length(shape)));
}

void concat(Draw& d) {
  const ElementType type = d.type();
  Shape shape = d.shape(1);
  const int64_t axis = d.axis(length(shape));
  const int64_t parts = d.between(1, 4);
  const bool equal = d.flag();  // channels may then stay in blocks
  for (int64_t i = 0; i < parts; ++i) {
    if (i > 0 && !equal)
      shape[static_cast<size_t>(axis < 0 ? axis + length(shape) : axis)] = d.dim();
    d.input(type, shape);
  }
  d.attribute("axis", axis);
}

void flatten(Draw& d) {
  const Shape shape = d.shape();
  d.input(d.type(), shape);
  if (shape.empty() || d.flag()) d.attribute("axis", d.between(-length(shape), length(shape)));
}

/// Merges and splits the dimensions, then hides some behind 0 and -1.
void reshape(Draw& d) {
  const Shape from = d.shape();
  d.input(d.type(), from);
  Shape to;
  for (const int64_t dim : from) {
    const bool merge = !to.empty() && d.below(3) == 2;
    if (merge) {
      to.back() *= dim;
    } else if (dim % 2 == 0 && dim > 0 && d.below(3) == 2) {
      to.insert(to.end(), {2, dim / 2});
    } else {
      to.push_back(dim);
    }
  }
  const bool has_zero = std::count(from.begin(), from.end(), 0) > 0;
  if (has_zero) {
    d.attribute("allowzero", int64_t{1});
  } else if (!to.empty()) {
    const auto at = static_cast<size_t>(d.below(length(to)));
    const int64_t how = d.below(3);
    if (how == 1) to[at] = -1;
    if (how == 2 && at < from.size() && to[at] == from[at]) to[at] = 0;
  }
  d.ints(to);
}

void squeeze(Draw& d) {
  Shape shape = d.shape();
  Ints axes;
  for (int64_t i = 0; i < length(shape); ++i) {
    if (d.below(3) == 2) continue;
    shape[static_cast<size_t>(i)] = 1;
    axes.push_back(d.flag() ? i : i - length(shape));
  }
  d.input(d.type(), shape);
  if (d.below(4) != 3) d.ints(axes);
}

void unsqueeze(Draw& d) {
  const Shape shape = d.shape(0, 3);
  const int64_t added = d.between(0, 3);
  d.input(d.type(), shape);
  Ints axes = d.permutation(length(shape) + added);
  axes.resize(static_cast<size_t>(added));
  for (int64_t& axis : axes) {
    if (d.flag()) axis -= length(shape) + added;
  }
  d.ints(axes);
}

void expand(Draw& d) {
  const Shape full = d.shape();
  const bool swapped = d.flag();  // the wanted shape may be the smaller one
  d.input(d.type(), swapped ? full : d.broadcastable(full));
  d.ints(swapped ? d.broadcastable(full) : full);
}

void tile(Draw& d) {
  const Shape shape = d.shape(1);
  d.input(d.type(), shape);
  Ints repeats;
  for (size_t i = 0; i < shape.size(); ++i) repeats.push_back(d.pick<int64_t>({1, 1, 2, 3, 0}));
  d.ints(repeats);
}

void slice(Draw& d) {
  const Shape shape = d.shape(1);
  d.input(d.type(), shape);
  const Ints axes = d.axes(length(shape), 1);
  Ints starts, ends, steps;
  for (const int64_t axis : axes) {
    const int64_t dim = shape[static_cast<size_t>(axis < 0 ? axis + length(shape) : axis)];
    steps.push_back(d.pick<int64_t>({1, 1, 2, -1, -2, 3}));
    starts.push_back(d.between(-dim - 2, dim + 2));
    ends.push_back(d.flag()           ? d.between(-dim - 2, dim + 2)
                   : steps.back() > 0 ? INT64_MAX
                                      : INT64_MIN);
  }
  const bool in_order = d.flag();
  Ints first(axes.size());
  for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<int64_t>(i);
  if (in_order) {
    for (size_t i = 0; i < axes.size(); ++i) starts[i] = d.between(-shape[i], shape[i]);
  }
  d.ints(starts);
  d.ints(ends);
  const bool with_steps = d.flag();
  if (!in_order) {
    d.ints(axes);
  } else if (with_steps) {
    d.omit();
  }
  // Without steps an end far below 0 gives nothing, which is fine.
  if (with_steps) d.ints(steps);
}

void pad(Draw& d) {
  const ElementType type = d.type();
  const std::string mode = d.word("constant edge reflect wrap");
  const Shape shape = d.shape(1);
  d.input(type, shape);
  Ints axes = d.flag() ? d.axes(length(shape), 1) : Ints();
  const bool some = !axes.empty();
  if (!some) {
    for (int64_t i = 0; i < length(shape); ++i) axes.push_back(i);
  }
  Ints pads;
  for (size_t i = 0; i < 2 * axes.size(); ++i) {
    const int64_t axis = axes[i % axes.size()];
    const int64_t dim = shape[static_cast<size_t>(axis < 0 ? axis + length(shape) : axis)];
    // Mirrored and repeated elements must exist; cutting off must leave something of the front.
    const int64_t most = mode == "constant" ? 3 : std::clamp<int64_t>(dim - 1, 0, 3);
    const int64_t width = d.between(0, most);
    pads.push_back(d.below(4) == 3 && 2 * width <= dim ? -width : width);
  }
  d.ints(pads);
  const bool valued = d.flag() && mode == "constant";
  if (valued) {
    d.weights(type, {});
  } else if (some) {
    d.omit();
  }
  if (some) d.ints(axes);
  if (mode != "constant" || d.flag()) d.attribute("mode", mode);
}

void split(Draw& d) {
  Shape shape = d.shape(1);
  const int64_t axis = d.axis(length(shape));
  const int64_t parts = d.between(1, 4);
  d.call().outputs = static_cast<size_t>(parts);
  int64_t& dim = shape[static_cast<size_t>(axis < 0 ? axis + length(shape) : axis)];
  const int64_t how = d.below(3);
  if (how == 0) dim = parts * d.size();
  if (how == 1) {  // num_outputs pieces of which the last may be shorter
    const int64_t piece = d.size();
    dim = piece * (parts - 1) + d.between(1, piece);
    d.attribute("num_outputs", parts);
  }
  Ints sizes;
  if (how == 2) {
    dim = 0;
    for (int64_t i = 0; i < parts; ++i) {
      sizes.push_back(d.dim());
      dim += sizes.back();
    }
  }
  d.attribute("axis", axis);
  d.input(d.type(), shape);
  if (how == 2) d.ints(sizes);
}

void gather(Draw& d) {
  Shape shape = d.shape(1);
  const int64_t axis = d.axis(length(shape));
  int64_t& dim = shape[static_cast<size_t>(axis < 0 ? axis + length(shape) : axis)];
  dim = std::max<int64_t>(dim, 1);
  d.input(d.type(), shape);
  d.input(indices(d, d.shape(0, 2), dim));
  if (axis != 0 || d.flag()) d.attribute("axis", axis);
}

void gather_elements(Draw& d) {
  Shape shape = d.shape(1);
  const int64_t axis = d.axis(length(shape));
  const auto at = static_cast<size_t>(axis < 0 ? axis + length(shape) : axis);
  shape[at] = std::max<int64_t>(shape[at], 1);
  Shape index_shape = shape;
  for (int64_t& dim : index_shape) dim = d.between(std::min<int64_t>(dim, 1), dim);
  index_shape[at] = d.size();
  d.input(d.type(), shape);
  d.input(indices(d, index_shape, shape[at]));
  if (axis != 0 || d.flag()) d.attribute("axis", axis);
}

/// Index tuples, each number below its own dimension.
Tensor index_tuples(Draw& d, Shape shape, const Shape& data) {
  const Tensor raw = d.tensor(ElementType::Int64, shape, 0, 1e6);
  const auto values = raw.values<int64_t>();
  const int64_t tuple = shape.back();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] %= data[i % static_cast<size_t>(tuple)];
  }
  return raw;
}

void gather_nd(Draw& d) {
  const Shape batch = d.shape(0, 2);
  const int64_t tuple = d.between(1, 2);
  Shape data = batch;
  Shape indexed;
  for (int64_t i = 0; i < tuple; ++i) indexed.push_back(d.size());
  data.insert(data.end(), indexed.begin(), indexed.end());
  for (int64_t more = d.below(2); more > 0; --more) data.push_back(d.dim());
  Shape index_shape = batch;
  for (int64_t more = d.below(2); more > 0; --more) index_shape.push_back(d.dim());
  index_shape.push_back(tuple);
  d.input(d.type(), data);
  d.input(index_tuples(d, index_shape, indexed));
  if (!batch.empty()) d.attribute("batch_dims", length(batch));
}

/// Of a reduction only what gives the same in every order: duplicate indices are avoided.
void scatter_elements(Draw& d) {
  const ElementType type = d.type();
  Shape shape = d.shape(1, 3);
  const int64_t axis = d.axis(length(shape));
  const auto at = static_cast<size_t>(axis < 0 ? axis + length(shape) : axis);
  shape[at] = std::max<int64_t>(shape[at], 1);
  Shape index_shape = shape;
  for (int64_t& dim : index_shape) dim = d.between(std::min<int64_t>(dim, 1), dim);
  d.input(type, shape);
  d.input(indices(d, index_shape, shape[at]));
  d.input(type, index_shape);
  d.attribute("axis", axis);
  if (d.generator().type != "Scatter") d.attributes("reduction:s=|none|add|mul|max|min");
}

void scatter_nd(Draw& d) {
  const ElementType type = d.type();
  Shape data;
  const int64_t tuple = d.between(1, 2);
  for (int64_t i = 0; i < tuple; ++i) data.push_back(d.size());
  const Shape indexed = data;
  Shape rest;
  for (int64_t more = d.below(2); more > 0; --more) rest.push_back(d.dim());
  data.insert(data.end(), rest.begin(), rest.end());
  const int64_t count = d.dim();
  Shape updates{count};
  updates.insert(updates.end(), rest.begin(), rest.end());
  d.input(type, data);
  d.input(index_tuples(d, {count, tuple}, indexed));
  d.input(type, updates);
  d.attributes("reduction:s=|none|add|mul|max|min");
}

void tensor_scatter(Draw& d) {
  const ElementType type = d.type();
  const int64_t axis = d.pick<int64_t>({-2, 1, 2});
  Shape cache{d.size(), d.size(), d.size(), d.size()};
  const auto at = static_cast<size_t>(axis < 0 ? axis + 4 : axis);
  Shape update = cache;
  update[at] = d.between(1, cache[at]);
  const bool circular = d.flag();
  d.input(type, cache);
  d.input(type, update);
  if (d.flag()) {
    const int64_t most = circular ? cache[at] - 1 : cache[at] - update[at];
    d.input(ElementType::Int64, {cache[0]}, 0, static_cast<double>(most));
  }
  d.attribute("axis", axis);
  if (circular) d.attribute("mode", std::string("circular"));
}

void depth_to_space(Draw& d) {
  const int64_t block = d.between(1, 3);
  d.input(d.type(), {d.dim(), d.size() * block * block, d.dim(), d.dim()});
  d.attribute("blocksize", block);
  d.attributes("mode:s=|DCR|CRD");
}

void space_to_depth(Draw& d) {
  const int64_t block = d.between(1, 3);
  d.input(d.type(), {d.dim(), d.dim(), d.dim() * block, d.dim() * block});
  d.attribute("blocksize", block);
}

void trilu(Draw& d) {
  d.input(d.type(), d.shape(2));
  if (d.flag()) {
    d.input(Tensor::scalar<int64_t>(d.between(-3, 3)));
  }
  d.attributes("upper:i=|0|1");
}

void one_hot(Draw& d) {
  const Shape shape = d.shape(0, 3);
  const int64_t depth = d.size();
  const double bound = static_cast<double>(depth) + 1;  // some lie outside: all off
  d.input(d.type("i64 i32 f32 u8"), shape, -bound, bound);
  d.ints({depth});
  d.input(d.type(), {2});
  d.attribute("axis", d.between(-length(shape) - 1, length(shape)));
}

void compress(Draw& d) {
  const Shape shape = d.shape(1);
  const ElementType type = d.type();
  d.input(type, shape);
  int64_t most = element_count(shape);
  if (d.flag()) {
    const int64_t axis = d.axis(length(shape));
    most = shape[static_cast<size_t>(axis < 0 ? axis + length(shape) : axis)];
    d.attribute("axis", axis);
  }
  d.input(ElementType::Bool, {d.between(0, std::min<int64_t>(most, 20))});
}

void unique(Draw& d) {
  const Shape shape = d.shape(1, 3);
  d.input(d.type(), shape, 0, 3);
  if (d.flag()) d.attribute("axis", d.axis(length(shape)));
  d.attributes("sorted:i=|0|1");
  d.call().outputs = static_cast<size_t>(d.between(1, 4));
}

void reverse_sequence(Draw& d) {
  const Shape shape{d.size(), d.size(), d.dim()};
  const int64_t batch = d.below(2);
  d.input(d.type(), shape);
  d.input(d.tensor(ElementType::Int64, {shape[static_cast<size_t>(batch)]}, 1,
                   static_cast<double>(shape[static_cast<size_t>(1 - batch)])));
  d.attribute("batch_axis", batch);
  d.attribute("time_axis", 1 - batch);
}

void center_crop_pad(Draw& d) {
  const Shape shape = d.shape(1);
  d.input(d.type(), shape);
  Ints axes = d.flag() ? d.axes(length(shape), 1) : Ints();
  Ints wanted;
  const size_t count = axes.empty() ? shape.size() : axes.size();
  for (size_t i = 0; i < count; ++i) wanted.push_back(d.size());
  d.ints(wanted);
  if (!axes.empty()) d.attribute("axes", axes);
}

void constant_of_shape(Draw& d) {
  d.call().inputs.push_back({Draw::list(ElementType::Int64, d.shape()), false});
  if (d.flag()) d.attribute("value", d.tensor(d.type(), {1}));
}

void eye_like(Draw& d) {
  d.input(d.type(), {d.dim(), d.dim()});
  d.attributes("k:i=|1|-2 dtype:i=|1|7|11|10");
}

void range(Draw& d) {
  const ElementType type = d.type();
  const auto scalar = [&](double value) {
    Tensor one = d.tensor(type, {}, value, value);
    d.input(one);
  };
  const int64_t step = d.pick<int64_t>({1, 2, -1, 3});
  const int64_t start = d.between(0, 5);
  scalar(static_cast<double>(start));
  scalar(static_cast<double>(start + step * d.between(0, 6)));
  scalar(static_cast<double>(step));
}

constexpr Generator kMoverTable[] = {
    {"", "Shape", shape_of, kAll, -2, 2, "start:i=|1|-1|-9 end:i=|2|-1|9"},
    {"", "Size", shape_of, kAll},
    {"", "Transpose", transpose, kBytes},
    {"", "Concat", concat, kBytes},
    {"", "Flatten", flatten, kAll},
    {"", "Reshape", reshape, kAll},
    {"", "Squeeze", squeeze, kAll},
    {"", "Unsqueeze", unsqueeze, kAll},
    {"", "Expand", expand, kBytes},
    {"", "Tile", tile, kBytes},
    {"", "Slice", slice, kBytes},
    {"", "Pad", pad, kBytes},
    {"", "Split", split, kBytes},
    {"", "Gather", gather, kBytes},
    {"", "GatherElements", gather_elements, kBytes},
    {"", "GatherND", gather_nd, kBytes},
    {"", "Scatter", scatter_elements, kMovedTypes},
    {"", "ScatterElements", scatter_elements, kMovedTypes},
    {"", "ScatterND", scatter_nd, kMovedTypes},
    {"", "TensorScatter", tensor_scatter, kBytes},
    {"", "DepthToSpace", depth_to_space, kBytes},
    {"", "SpaceToDepth", space_to_depth, kBytes},
    {"", "Trilu", trilu, kBytes},
    {"", "OneHot", one_hot, "f32 i64 u8 bool f16"},
    {"", "Compress", compress, kBytes},
    {"", "Unique", unique, kMovedTypes},
    {"", "ReverseSequence", reverse_sequence, kBytes},
    {"", "CenterCropPad", center_crop_pad, kBytes},
    {"", "ConstantOfShape", constant_of_shape, "f32 i64 u8 bool f16"},
    {"", "EyeLike", eye_like, "f32 i64 u8 f64 f16"},
    {"", "Range", range, "f32 i64 i32 f64 i16"},
};

}  // namespace

std::span<const Generator> mover_generators() {
  return kMoverTable;
}

}  // namespace het::oracle
