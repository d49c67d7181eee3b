#include "devices/gpu/kernels/convolution/conv_direct.h"

#include <algorithm>
#include <array>

#include "devices/gpu/kernels/convolution/conv_tiled.h"
#include "devices/gpu/plan/launches.h"

namespace het::gpu {
namespace {

constexpr std::array<DirectTile, 3> kTiles = {{{6, 2}, {4, 3}, {12, 1}}};

/// Work-items of a work-group: neighbouring pixels that share the weights in the first-level cache.
constexpr int64_t kLanes = 8;

/// Up to so many a copy with padding is made.
constexpr int64_t kMostPaddedChannels = 24;
constexpr double kSmallCopy = 65536.0;  ///< elements: whatever the picture's size is

ProgramText program_of(const PlanBuilder& builder, const Convolution& conv) {
  ProgramText text;
  text.file = "conv_direct";
  text.options = convolution_options(builder, conv) + fmt::format(" -DLANES={}", kLanes);
  generate_tail(text, conv.tail);
  return text;
}

/// Size of the picture with what the window reaches around it.
int64_t padded_size(const Window3& window, size_t d) {
  return window.input_at(d, window.out[d] - 1, window.kernel[d] - 1) + window.pads[d] + 1;
}

/// Windows of so many elements are copied side by side: a product has no places of taps to find.
constexpr int64_t kMostGathered = 32;

/// The loop over channels is too short to pay for finding each tap's place, and the copy is about
/// as large as the picture.
bool wants_padded_copy(const DirectProblem& problem) {
  const Window3& window = problem.window;
  if (problem.group != 1 || window.kernel[2] == 1 || window.dilations[2] != 1 ||
      problem.ic > kMostPaddedChannels) {
    return false;
  }
  const int64_t elements = problem.n * problem.ic;
  const auto copied = static_cast<double>(elements * padded_size(window, 1)) *
                      static_cast<double>(padded_size(window, 2));
  return copied <= 2.0 * static_cast<double>(elements * window.in_count()) + kSmallCopy;
}

bool wants_gathered_copy(const DirectProblem& problem) {
  return problem.group == 1 && !problem.is_product() &&
         problem.ic * problem.window.kernel_count() <= kMostGathered;
}

/// Pixels of a row that a work-item of `pad` and `gather` copies.
constexpr int64_t kSegment = 32;

Result<Launch> copy_launch(PlanBuilder& builder, const Convolution& conv, const char* kernel,
                           TensorId dst, int64_t dst_h, int64_t dst_w) {
  const TensorSpec home = builder.home(*conv.src);
  HET_ASSIGN(const TensorId from,
             builder.read(*conv.src, home.format, builder.options().stored_type));
  Launch launch;
  launch.text = program_of(builder, without_tail(conv));
  launch.kernel = kernel;
  launch.args = {Read{from}, Write{dst}, as_int(home.format == Format::Plain)};
  launch.global = {groups_of(dst_w, kSegment) * static_cast<size_t>(conv.n * dst_h), 1, 1};
  launch.local = {kLanes, 1, 1};
  return launch;
}

/// A copy of every window; the problem becomes a product of them. Weights [oc][ic][kh][kw] are the
/// matrix already.
Result<DirectSource> gathered_source(PlanBuilder& builder, const Node& node,
                                     const Convolution& conv, DirectProblem& problem) {
  const Window3 window = problem.window;
  const int64_t run = problem.ic * window.kernel_count();
  const TensorId copy = builder.temporary({builder.options().stored_type,
                                           {conv.n, run, window.out[1], window.out[2]},
                                           Format::ChannelsLast});
  HET_ASSIGN(Launch launch,
             copy_launch(builder, conv, "gather", copy, window.out[1], window.out[2]));
  for (const int64_t value :
       {conv.n, conv.ic, window.in[1], window.in[2], window.out[1], window.out[2], window.kernel[1],
        window.kernel[2], window.strides[1], window.strides[2], window.dilations[1],
        window.dilations[2], window.pads[1], window.pads[2]}) {
    launch.args.emplace_back(as_int(value));
  }
  HET_TRY(builder.add_step(node, std::move(launch)));
  problem.ic = run;
  problem.window = {window.out, window.out, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  return DirectSource{copy, window.out[1], window.out[2], 0, 0};
}

/// A copy with the padding around it.
Result<DirectSource> padded_source(PlanBuilder& builder, const Node& node, const Convolution& conv,
                                   const DirectProblem& problem) {
  const Window3& window = problem.window;
  DirectSource source;
  source.rows = true;
  source.ih = padded_size(window, 1);
  source.iw = padded_size(window, 2);
  source.id = builder.temporary({builder.options().stored_type,
                                 {conv.n, conv.ic, source.ih, source.iw},
                                 Format::ChannelsLast});
  HET_ASSIGN(Launch launch, copy_launch(builder, conv, "pad", source.id, source.ih, source.iw));
  for (const int64_t value : {conv.n, conv.ic, window.in[1], window.in[2], source.ih, source.iw,
                              window.pads[1], window.pads[2]}) {
    launch.args.emplace_back(as_int(value));
  }
  HET_TRY(builder.add_step(node, std::move(launch)));
  return source;
}

}  // namespace

bool DirectProblem::is_product() const {
  return (group == 1 || batched) && window.kernel_count() == 1 && window.in == window.out &&
         window.strides[1] == 1 && window.strides[2] == 1 && window.pads[1] == 0 &&
         window.pads[2] == 0 && osy == 1 && osx == 1;
}

std::string refuse_direct(const Convolution& conv) {
  if (!conv.is_flat()) return "three spatial dimensions";
  if (!conv.has_constants()) return "computed weights";
  return {};
}

DirectProblem problem_without_weights(const Convolution& conv) {
  DirectProblem problem;
  problem.n = conv.n;
  problem.ic = conv.ic;
  problem.oc = conv.oc;
  problem.group = conv.group;
  problem.window = conv.window;
  problem.dst_h = conv.window.out[1];
  problem.dst_w = conv.window.out[2];
  return problem;
}

Result<DirectProblem> direct_problem(const Convolution& conv) {
  DirectProblem problem = problem_without_weights(conv);
  HET_ASSIGN(problem.weights, to_float_vector(conv.weights->constant()));
  return problem;
}

void merge_groups(DirectProblem& problem, int64_t width) {
  const int64_t ic = problem.group_ic();
  const int64_t oc = problem.group_oc();
  const int64_t taps = problem.window.kernel_count();
  int64_t best = 1;
  int64_t least = 0;
  for (int64_t merged = 1; merged <= problem.group && merged <= width; ++merged) {
    if (problem.group % merged != 0) continue;
    const int64_t vectors = (merged * oc + width - 1) / width;
    const int64_t cost = merged * ic * vectors * (problem.group / merged);
    if (merged > 1 && cost > least) continue;
    best = merged;
    least = cost;
  }
  problem.group /= best;
  if (best == 1 || problem.weights.empty()) return;
  std::vector<float> weights(static_cast<size_t>(problem.oc * best * ic * taps));
  const int64_t row = ic * taps;
  for (int64_t c = 0; c < problem.oc; ++c) {
    const auto from = problem.weights.begin() + c * row;
    std::copy(from, from + row, weights.begin() + (c * best + c / oc % best) * row);
  }
  problem.weights = std::move(weights);
}

std::span<const DirectTile> direct_tiles() {
  return kTiles;
}

std::optional<DirectTile> direct_tile(const PlanBuilder& builder, const DirectProblem& problem) {
  if (uses_tiles(builder)) return std::nullopt;
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  const int64_t blocks = (problem.group_oc() + width - 1) / width;
  DirectTile best = kTiles[0];
  double least = 0.0;
  for (const DirectTile& tile : kTiles) {
    const auto items = static_cast<double>(groups_of(problem.pixels(), tile.pixels) *
                                           groups_of(blocks, tile.blocks));
    // Two multiply-adds a cycle, and two loads of a vector or a scalar.
    const auto cycles =
        static_cast<double>(std::max(tile.pixels * tile.blocks, tile.pixels + tile.blocks));
    if (least == 0.0 || items * cycles < least) {
      best = tile;
      least = items * cycles;
    }
  }
  return best;
}

std::vector<float> packed_weights(const DirectProblem& problem, int64_t tile_channels) {
  const int64_t taps = problem.window.kernel_count();
  const int64_t group_oc = problem.group_oc();
  const int64_t group_ic = problem.group_ic();
  const int64_t tiles = (group_oc + tile_channels - 1) / tile_channels;
  std::vector<float> packed(
      static_cast<size_t>(problem.group * tiles * taps * group_ic * tile_channels));
  const float* from = problem.weights.data();
  for (int64_t g = 0; g < problem.group; ++g) {
    for (int64_t c = 0; c < group_oc; ++c) {
      const int64_t tile = g * tiles + c / tile_channels;
      for (int64_t i = 0; i < group_ic; ++i) {
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t row = (tile * taps + tap) * group_ic + i;
          packed[static_cast<size_t>(row * tile_channels + c % tile_channels)] = *from++;
        }
      }
    }
  }
  return packed;
}

Result<DirectSource> direct_source(PlanBuilder& builder, const Node& node, const Convolution& conv,
                                   const DirectProblem& problem) {
  if (!conv.transposed && wants_padded_copy(problem)) {
    return padded_source(builder, node, conv, problem);
  }
  HET_ASSIGN(const TensorId id, builder.read(*conv.src, Format::ChannelsLast));
  return DirectSource{id, problem.window.in[1], problem.window.in[2], problem.window.pads[1],
                      problem.window.pads[2]};
}

int64_t run_of(const DirectProblem& problem, const DirectSource& src) {
  return src.rows ? problem.window.kernel[2] * problem.ic : problem.group_ic();
}

std::vector<int64_t> window_sizes(const DirectProblem& problem, const DirectSource& src) {
  const Window3& window = problem.window;
  return {src.ih,
          src.iw,
          window.out[1],
          window.out[2],
          window.kernel[1],
          src.rows ? 1 : window.kernel[2],
          window.strides[1],
          window.strides[2],
          window.dilations[1],
          window.dilations[2],
          src.ph,
          src.pw};
}

std::vector<int64_t> output_places(const DirectProblem& problem) {
  return {problem.dst_h, problem.dst_w, problem.osy, problem.osx, problem.oy, problem.ox};
}

Status add_direct(PlanBuilder& builder, const Node& node, const Convolution& conv,
                  const DirectProblem& problem, const DirectOperands& operands,
                  std::optional<DirectTile> tile) {
  if (!tile) return add_tiled(builder, node, conv, problem, operands);
  const DirectSource& src = operands.src;
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  const int64_t tile_channels = tile->blocks * width;
  const int64_t tiles = (problem.group_oc() + tile_channels - 1) / tile_channels;
  const std::vector<float> packed = packed_weights(problem, tile_channels);
  HET_ASSIGN(const TensorId weights, builder.stored_constant(packed));
  const int64_t pixels = problem.pixels();
  const int64_t src_elements = problem.n * problem.window.in_count() * problem.ic;
  const bool pixels_first = static_cast<int64_t>(packed.size()) > src_elements;
  Launch launch;
  launch.text = program_of(builder, conv);
  const size_t work_groups =
      groups_of(pixels, tile->pixels * kLanes) * static_cast<size_t>(tiles * problem.group);
  launch.global = {work_groups * kLanes, 1, 1};
  launch.local = {kLanes, 1, 1};
  std::vector<int64_t> values = {pixels, tiles, problem.group, int64_t{pixels_first}};
  launch.args = {Read{src.id}, Read{weights}, Read{operands.tail.bias}, Read{operands.tail.sum}};
  if (problem.is_product()) {
    launch.kernel = fmt::format("multiply_{}x{}", tile->pixels, tile->blocks);
    values.insert(values.end(),
                  {problem.group_ic(), problem.group_oc(), operands.dst.row, operands.dst.first});
  } else {
    launch.kernel = fmt::format("conv_{}x{}", tile->pixels, tile->blocks);
    const int64_t run = run_of(problem, src);
    const std::vector<float> zeros(static_cast<size_t>(run));
    HET_ASSIGN(const TensorId outside, builder.stored_constant(zeros));
    launch.args.emplace_back(Read{outside});
    values.insert(values.end(), {run, problem.ic});
    for (const int64_t value : window_sizes(problem, src)) values.push_back(value);
    values.insert(values.end(),
                  {problem.group_ic(), problem.group_oc(), operands.dst.row, operands.dst.first});
    for (const int64_t value : output_places(problem)) values.push_back(value);
  }
  launch.args.emplace_back(Write{operands.dst.id});
  for (const int64_t value : values) launch.args.emplace_back(as_int(value));
  return builder.add_step(node, std::move(launch));
}

Status plan_direct(PlanBuilder& builder, const Node& node, const Convolution& conv,
                   std::optional<DirectTile> tile) {
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  HET_ASSIGN(DirectProblem problem, direct_problem(conv));
  merge_groups(problem, width);
  DirectOperands operands;
  if (tile && wants_gathered_copy(problem)) {
    HET_ASSIGN(operands.src, gathered_source(builder, node, conv, problem));
  } else {
    HET_ASSIGN(operands.src, direct_source(builder, node, conv, problem));
  }
  // The last vector of a group may read beyond its channels.
  HET_ASSIGN(operands.tail, tail_operands(builder, conv, conv.oc + width));
  if (tile && operands.tail.sum == kNoTensor) {
    operands.dst = builder.write_channels(*conv.dst);
  } else {
    operands.dst = {builder.write(*conv.dst, Format::ChannelsLast), conv.oc, 0};
  }
  return add_direct(builder, node, conv, problem, operands, tile);
}

}  // namespace het::gpu
