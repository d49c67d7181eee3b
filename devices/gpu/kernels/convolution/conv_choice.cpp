#include "devices/gpu/kernels/convolution/conv_choice.h"

#include <algorithm>

#include "devices/gpu/kernels/convolution/conv_tiled.h"
#include "devices/gpu/kernels/convolution/conv_winograd.h"
#include "devices/gpu/opencl/measurements.h"
#include "devices/gpu/plan/launches.h"
#include "devices/gpu/products/timed_run.h"
#include "inference/model/model.h"

namespace het::gpu {
namespace {

/// Multiply-adds: smaller layers keep the rule's way.
constexpr double kLeastWork = 2e6;

/// The rule's first.
std::vector<ConvolutionWay> ways_of(PlanBuilder& builder, const Convolution& conv,
                                    const DirectProblem& problem) {
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  const std::optional<DirectTile> by_rule = direct_tile(builder, problem);
  std::vector<ConvolutionWay> ways;
  if (const int64_t m = winograd_tile(builder, conv); m > 0) ways.push_back({m, {}});
  ways.push_back({0, by_rule});
  for (const DirectTile& tile : direct_tiles()) {
    // Tiles wider than the channels only add zeros.
    if (tile.blocks > 1 && (tile.blocks - 1) * width >= problem.group_oc()) continue;
    ways.push_back({0, tile});
  }
  if (builder.options().fast_algorithms && refuse_winograd(builder, conv).empty()) {
    for (const int64_t m : {2, 4}) ways.push_back({m, {}});
  }
  return ways;
}

/// The convolution alone, nothing fused: a program serves for all tails.
std::unique_ptr<Model> bare_model(const Node& node, const Convolution& conv) {
  auto model = std::make_unique<Model>(node.name());
  Value* const x = model->add_input("x", conv.src->desc());
  Value* const w = model->add_constant("w", conv.weights->constant());
  Attributes attributes = node.attributes();
  set_tail(attributes, {});
  Node* const bare = model->add_node(node.name(), "Conv", "", {x, w}, {"y"}, attributes);
  model->set_desc(bare->output(), conv.dst->desc());
  model->add_output("y", bare->output());
  return model;
}

/// The fastest of a few runs of the node's own steps.
Result<double> seconds_of(PlanBuilder& builder, const Node& node, const Convolution& conv,
                          const std::string& way) {
  const std::unique_ptr<Model> model = bare_model(node, conv);
  PlanOptions options = builder.options();
  options.convolution = way;
  return fastest_run(*model, builder.shared_context(), std::move(options));
}

std::string key_of(const PlanBuilder& builder, const Convolution& conv) {
  const Window3& window = conv.window;
  return fmt::format("Conv {} n{} ic{} oc{} g{} {}x{} k{}x{} s{}x{} d{}x{} p{}x{}{}",
                     to_string(builder.options().stored_type), conv.n, conv.ic, conv.oc, conv.group,
                     window.in[1], window.in[2], window.kernel[1], window.kernel[2],
                     window.strides[1], window.strides[2], window.dilations[1], window.dilations[2],
                     window.pads[1], window.pads[2],
                     builder.options().fast_algorithms ? "" : " exact");
}

}  // namespace

std::string to_string(const ConvolutionWay& way) {
  if (way.winograd > 0) return fmt::format("winograd{}", way.winograd);
  if (!way.tile) return "tiled";
  return fmt::format("direct_{}x{}", way.tile->pixels, way.tile->blocks);
}

ConvolutionWay choose_way(PlanBuilder& builder, const Node& node, const Convolution& conv) {
  // Only the number of channels a group counts here, not the weights.
  DirectProblem problem = problem_without_weights(conv);
  merge_groups(problem, static_cast<int64_t>(builder.hardware().vector_width()));
  const std::vector<ConvolutionWay> ways = ways_of(builder, conv, problem);
  std::vector<std::string> names;
  for (const ConvolutionWay& way : ways) {
    const std::string name = to_string(way);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string chosen = names.front();
  if (!builder.options().convolution.empty()) {
    chosen = builder.options().convolution;
  } else if (Measurements* const measurements = builder.measurements();
             measurements != nullptr && conv.work() >= kLeastWork) {
    chosen = measurements->choose(key_of(builder, conv), names, [&](const std::string& name) {
      return seconds_of(builder, node, conv, name);
    });
  }
  for (const ConvolutionWay& way : ways) {
    if (to_string(way) == chosen) return way;
  }
  return ways.front();
}

}  // namespace het::gpu
