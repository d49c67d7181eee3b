#include "inference/ops/windows/resize.h"

#include <algorithm>
#include <limits>

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/plan/strided_space.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

constexpr size_t kMostResized = 3;

/// What is known of every dimension, in the order of the memory.
struct ResizePlan {
  ResizeSettings settings;
  std::vector<ResizeDim> dims;
  std::vector<ResizeTaps> taps;  ///< without an index where the dimension passes unchanged
};

Result<ResizePlan> resize_plan(const Node& node) {
  ResizePlan plan;
  HET_ASSIGN(plan.settings, resize_settings(node.attributes()));
  HET_ASSIGN(
      plan.dims,
      resize_dims(plan.settings, node.input(0)->desc().shape, constant_or_null(node.input(1)),
                  constant_or_null(node.input(2)), constant_or_null(node.input(3))));
  for (const ResizeDim& dim : plan.dims) {
    plan.taps.push_back(dim.is_identity(plan.settings.coordinates)
                            ? ResizeTaps()
                            : resize_taps(plan.settings, dim));
  }
  return plan;
}

template <class T>
void put_channels_last(std::vector<T>& list) {
  std::rotate(list.begin() + 1, list.begin() + 2, list.end());
}

/// First and last dimension that changes; none where all pass.
std::pair<size_t, size_t> resized_range(const ResizePlan& plan) {
  std::pair<size_t, size_t> range{plan.taps.size(), 0};
  for (size_t d = 0; d < plan.taps.size(); ++d) {
    if (plan.taps[d].index.empty()) continue;
    range = {std::min(range.first, d), d};
  }
  return range;
}

std::string refuse_resize(const Node& node) {
  for (size_t i = 1; i < node.inputs().size(); ++i) {
    if (node.input(i) != nullptr && !node.input(i)->is_constant()) {
      return "its region, scales and sizes must be constants";
    }
  }
  const auto plan = resize_plan(node);
  if (!plan) return plan.error().message();
  if (plan->settings.mode == ResizeInterpolation::Nearest) return refuse_move(node);
  const ElementType type = node.input(0)->desc().type;
  if (type != ElementType::Float32) {
    return fmt::format("no GPU kernel interpolates {}", to_string(type));
  }
  const auto [first, last] = resized_range(*plan);
  if (first <= last && last - first >= kMostResized) {
    return "it interpolates between more than three neighbouring dimensions";
  }
  return {};
}

/// A tensor of one element.
Result<TensorId> single(PlanBuilder& builder, ElementType type, double value) {
  const Tensor content = Tensor::scalar(static_cast<float>(value));
  HET_ASSIGN(const Tensor converted, convert_constant(content, {type, {}, Format::Plain}));
  return builder.constant(converted);
}

bool is_outside(const ResizeTaps& taps, size_t position) {
  return !taps.outside.empty() && taps.outside[position];
}

/// Nearest neighbours: every position of the output names one of the input.
Status plan_nearest(PlanBuilder& builder, const Node& node, const ResizePlan& plan, TensorId from,
                    TensorId to) {
  const Shape in = physical_dims(builder.tensor(from).spec);
  const std::vector<int64_t> strides = row_major_strides(in);
  PositionTables tables(in.size());
  bool crops = false;
  for (size_t d = 0; d < in.size(); ++d) {
    const ResizeTaps& taps = plan.taps[d];
    const int64_t out = taps.index.empty() ? in[d] : plan.dims[d].out;
    for (int64_t i = 0; i < out; ++i) {
      const auto at = static_cast<size_t>(i);
      const bool outside = is_outside(taps, at);
      crops = crops || outside;
      tables[d].push_back(outside ? -1 : (taps.index.empty() ? i : taps.index[at]) * strides[d]);
    }
  }
  TensorId fill = kNoTensor;
  if (crops) {
    HET_ASSIGN(fill,
               single(builder, builder.tensor(to).spec.type, plan.settings.extrapolation_value));
  }
  return add_mapped_move(builder, node, from, to, tables, fill);
}

/// Offsets and weights of the dimensions first, first + 1, first + 2; those beyond have one tap.
struct TapLists {
  std::array<int64_t, kMostResized> out{1, 1, 1};
  std::array<int64_t, kMostResized> taps{1, 1, 1};
  std::vector<int64_t> offsets;
  std::vector<float> weights;
};

TapLists tap_lists(const ResizePlan& plan, size_t first, const Shape& in) {
  const std::vector<int64_t> strides = row_major_strides(in);
  TapLists lists;
  for (size_t i = 0; i < kMostResized; ++i) {
    const size_t d = first + i;
    const bool resized = d < in.size() && !plan.taps[d].index.empty();
    // What lies behind the last resized dimension belongs to the inner elements.
    const bool inner = d > resized_range(plan).second || d >= in.size();
    lists.out[i] = inner ? 1 : plan.dims[d].out;
    lists.taps[i] = resized ? static_cast<int64_t>(plan.taps[d].taps) : 1;
    for (int64_t at = 0; at < lists.out[i] * lists.taps[i]; ++at) {
      const auto k = static_cast<size_t>(at);
      const bool outside = resized && is_outside(plan.taps[d], k / plan.taps[d].taps);
      const int64_t index = resized ? plan.taps[d].index[k] : at;
      lists.offsets.push_back(outside ? -1 : inner ? 0 : index * strides[d]);
      lists.weights.push_back(resized ? static_cast<float>(plan.taps[d].weight[k]) : 1.0f);
    }
  }
  return lists;
}

Status plan_interpolation(PlanBuilder& builder, const Node& node, const ResizePlan& plan,
                          TensorId from, TensorId to) {
  const Shape in = physical_dims(builder.tensor(from).spec);
  const auto [changed, last] = resized_range(plan);
  const size_t first = std::min(changed, in.size());
  const std::span<const int64_t> dims = in;
  const int64_t inner = changed > last ? 1 : element_count(dims.subspan(last + 1));
  const int64_t picture = element_count(dims.subspan(first));
  const TapLists lists = tap_lists(plan, first, in);
  HET_ASSIGN(const TensorId offsets, int_list(builder, lists.offsets));
  HET_ASSIGN(const TensorId weights,
             builder.constant(Tensor::from<float>({static_cast<int64_t>(lists.weights.size())},
                                                  std::span<const float>(lists.weights))));
  const int64_t positions = count(builder.tensor(to).spec) / inner;
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  const bool vectors = inner >= width;
  // A CPU finds the taps once for many channels, a GPU has neighbours do them.
  constexpr int64_t kMostTaps = 16;
  const bool runs = vectors && builder.hardware().is_cpu &&
                    lists.taps[0] * lists.taps[1] * lists.taps[2] <= kMostTaps;
  const int64_t run = runs ? 8 : 1;
  const auto chunks = static_cast<int64_t>(groups_of(inner, run * width));
  Launch launch;
  launch.text.file = "sample";
  launch.text.options = row_options(builder);
  launch.kernel = runs ? "resize_run" : vectors ? "resize" : "resize_single";
  launch.local = builder.row_local();
  launch.args = {Read{from},    Write{to},         Read{offsets},
                 Read{weights}, as_int(positions), as_int(picture)};
  for (const int64_t value : lists.out) launch.args.emplace_back(as_int(value));
  for (const int64_t value : lists.taps) launch.args.emplace_back(as_int(value));
  launch.args.emplace_back(cl_float{static_cast<float>(plan.settings.extrapolation_value)});
  launch.args.emplace_back(as_int(inner));
  if (vectors) launch.args.emplace_back(as_int(chunks));
  if (runs) launch.args.emplace_back(as_int(run));
  launch.global[0] = static_cast<size_t>(positions * (vectors ? chunks : inner));
  return builder.add_step(node, std::move(launch));
}

Status plan_resize(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(ResizePlan plan, resize_plan(node));
  const Value& input = *node.input(0);
  // Channels that change must stay beside the other dimensions, as refuse_resize() saw them.
  const bool mixes_channels = plan.taps.size() > 1 && !plan.taps[1].index.empty();
  HET_ASSIGN(const TensorId from,
             builder.read(input, mixes_channels ? Format::Plain : builder.home(input).format));
  const TensorId to = builder.write(*node.output(), builder.tensor(from).spec.format);
  if (builder.tensor(from).spec.format == Format::ChannelsLast) {
    put_channels_last(plan.dims);
    put_channels_last(plan.taps);
  }
  const bool unchanged =
      std::ranges::all_of(plan.taps, [](const auto& t) { return t.index.empty(); });
  if (plan.settings.mode == ResizeInterpolation::Nearest || unchanged) {
    return plan_nearest(builder, node, plan, from, to);
  }
  return plan_interpolation(builder, node, plan, from, to);
}

}  // namespace

HET_REGISTRATION void register_resize(KernelRegistry& registry) {
  registry.add("", "Resize", {refuse_resize, plan_resize});
}

}  // namespace het::gpu
