#include <algorithm>
#include <numeric>

#include "inference/ops/pool.h"
#include "inference/passes/fusions/constant_scale.h"
#include "inference/passes/fusions/lowered_qlinear.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// Input positions of the pools: scale and zero point follow each tensor.
constexpr size_t kSrc = 0;
constexpr size_t kDstScale = 3;

/// The order of dimensions that takes channels to the place of dimension 1, or back.
std::vector<int64_t> channel_order(size_t rank, bool to_first) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (to_first) {
    std::rotate(order.begin() + 1, order.end() - 1, order.end());
  } else {
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  }
  return order;
}

Value* transposed(Model& model, const Node& node, Value* x, bool to_first) {
  const std::vector<int64_t> order = channel_order(x->desc().shape.size(), to_first);
  Shape shape;
  for (const int64_t d : order) shape.push_back(x->desc().shape[static_cast<size_t>(d)]);
  Attributes attributes;
  attributes.set("perm", order);
  return add_value(model, node, to_first ? "/channels_first" : "/channels_last", "Transpose", {x},
                   {ElementType::Float32, std::move(shape), Layout::Plain}, std::move(attributes));
}

/// Sums of whole pictures.
Value* global_sums(Model& model, const Node& node, Value* x, const PoolAttributes& pool) {
  std::vector<int64_t> axes(x->desc().shape.size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  const auto count = static_cast<int64_t>(axes.size());
  Value* list = model.add_constant(node.name() + "/axes", Tensor::from<int64_t>({count}, axes));
  return add_value(model, node, "/sums", "ReduceSum", {x, list},
                   {ElementType::Float32, pool.output_shape, Layout::Plain});
}

/// Sums under a window: a convolution of every channel with ones.
Result<Value*> window_sums(Model& model, const Node& node, Value* x, const PoolAttributes& pool) {
  const Shape& shape = x->desc().shape;
  Shape weights_shape{shape[1], 1};
  weights_shape.insert(weights_shape.end(), pool.kernel.begin(), pool.kernel.end());
  HET_ASSIGN(Tensor ones, Tensor::allocate({ElementType::Float32, weights_shape}));
  std::fill_n(ones.data<float>(), ones.element_count(), 1.0f);
  // The last window may reach past the pool's padding.
  std::vector<int64_t> pads = pool.pads_begin;
  for (size_t d = 0; d < pool.kernel.size(); ++d) {
    const int64_t reach = (pool.output[d] - 1) * pool.strides[d] + pool.extent(d);
    pads.push_back(std::max<int64_t>(0, reach - pool.pads_begin[d] - shape[d + 2]));
  }
  Attributes attributes;
  attributes.set("group", shape[1]);
  attributes.set("strides", pool.strides);
  attributes.set("dilations", pool.dilations);
  attributes.set("pads", std::move(pads));
  return add_value(model, node, "/sums", "Conv",
                   {x, model.add_constant(node.name() + "/ones", std::move(ones))},
                   {ElementType::Float32, pool.output_shape, Layout::Plain}, std::move(attributes));
}

/// How many elements each position's sum has: all of the window, or those inside the picture.
std::vector<float> counts_of(const PoolAttributes& pool, const Shape& shape) {
  const Window3 window = window3(pool, std::span(shape).subspan(2));
  std::vector<float> counts;
  if (pool.count_include_pad) return {static_cast<float>(window.kernel_count())};
  const auto inside = [&](size_t d, int64_t o) {
    int64_t count = 0;
    for (int64_t k = 0; k < window.kernel[d]; ++k) {
      const int64_t at = window.input_at(d, o, k);
      count += at >= 0 && at < window.in[d] ? 1 : 0;
    }
    return count;
  };
  for (int64_t z = 0; z < window.out[0]; ++z) {
    for (int64_t y = 0; y < window.out[1]; ++y) {
      const int64_t count = inside(0, z) * inside(1, y);
      for (int64_t x = 0; x < window.out[2]; ++x) {
        counts.push_back(static_cast<float>(std::max<int64_t>(1, count * inside(2, x))));
      }
    }
  }
  if (std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end()) {
    counts.resize(1);
  }
  return counts;
}

Status lower_pool(Model& model, Node& node) {
  const std::optional<ConstantScale> src = tensor_scale(node, kSrc + 1);
  const std::optional<ConstantScale> dst = tensor_scale(node, kDstScale);
  if (!src || !dst) return {};
  const bool last = node.attributes().get_int("channels_last", 0) != 0 &&
                    node.input(kSrc)->desc().shape.size() > 2;
  Shape shape = node.input(kSrc)->desc().shape;
  if (last) std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
  const Result<PoolAttributes> pool = pool_attributes(node, shape);
  // Sums that float holds exactly.
  constexpr int64_t kMostTaps = (1 << 24) / 255;
  const int64_t taps = pool ? element_count(pool->kernel) : 0;
  if (taps < 1 || taps > kMostTaps) return {};
  Value* x = centred(model, node, kSrc);
  if (last) x = transposed(model, node, x, true);
  Value* sums = nullptr;
  if (node.op_type() == "QLinearGlobalAveragePool") {
    sums = global_sums(model, node, x, *pool);
  } else {
    HET_ASSIGN(sums, window_sums(model, node, x, *pool));
  }
  std::vector<float> factors = counts_of(*pool, shape);
  Shape factors_shape;
  if (factors.size() > 1) {
    factors_shape = pool->output_shape;
    factors_shape[0] = factors_shape[1] = 1;
  }
  for (float& factor : factors) factor = src->scales[0] / (factor * dst->scales[0]);
  Value* steps = rescaled(model, node, sums, Tensor::from<float>(factors_shape, factors));
  if (last) steps = transposed(model, node, steps, false);
  store_steps(model, node, steps, kDstScale);
  return {};
}

/// Inputs: scale and zero point of the output, then each part with its own.
void lower_concat(Model& model, Node& node) {
  std::vector<Value*> parts;
  for (size_t i = 2; i < node.inputs().size(); i += 3) {
    parts.push_back(dequantised(model, node, i, "/part" + std::to_string(parts.size())));
  }
  Attributes attributes;
  attributes.set("axis", node.attributes().get_int("axis", 0));
  Value* joined = add_value(model, node, "/joined", "Concat", std::move(parts),
                            as_float(*node.output()), std::move(attributes));
  store_real(model, node, joined, 0);
}

bool is_static(const Node& node) {
  const auto known = [](const Value* value) {
    return value == nullptr || value->desc().is_static();
  };
  return std::all_of(node.inputs().begin(), node.inputs().end(), known) &&
         node.output()->desc().is_static();
}

}  // namespace

Status lower_qlinear_pools(Model& model) {
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (is_detached(node) || node.op() == nullptr || node.domain() != "com.microsoft") continue;
    const bool is_concat = node.op_type() == "QLinearConcat";
    const bool is_pool =
        node.op_type() == "QLinearAveragePool" || node.op_type() == "QLinearGlobalAveragePool";
    if ((!is_concat && !is_pool) || !is_static(node)) continue;
    if (is_concat) {
      lower_concat(model, node);
    } else {
      HET_TRY(lower_pool(model, node));
    }
  }
  return {};
}

}  // namespace het
