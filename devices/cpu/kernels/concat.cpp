#include <algorithm>
#include <cstring>

#include "devices/cpu/parallel.h"
#include "devices/cpu/plan_builder.h"
#include "inference/registration.h"

namespace het::cpu {
namespace {

constexpr int64_t kGrainBytes = 32 * 1024;

/// Copies `outer` runs of the inputs, one of each behind the other. With one run, inputs that lie
/// in place already cost nothing.
class RunConcat final : public Kernel {
 public:
  RunConcat(int64_t outer, std::vector<int64_t> run_bytes)
      : outer_(outer), run_bytes_(std::move(run_bytes)) {
    for (const int64_t bytes : run_bytes_) row_bytes_ += bytes;
  }

  std::string_view implementation() const override { return "own_copy"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    if (outer_ > 1) {
      copy_rows(args);
      return {};
    }
    int64_t offset = 0;
    for (size_t i = 0; i < run_bytes_.size(); ++i) {
      const int64_t bytes = run_bytes_[i];
      const std::byte* src = args.inputs[i];
      std::byte* dst = args.outputs[0] + offset;
      offset += bytes;
      if (src == dst) continue;
      parallel_for(bytes, kGrainBytes, [&](int64_t begin, int64_t end) {
        std::memcpy(dst + begin, src + begin, static_cast<size_t>(end - begin));
      });
    }
    return {};
  }

 private:
  void copy_rows(const KernelArgs& args) const {
    parallel_for(outer_, std::max<int64_t>(kGrainBytes / std::max<int64_t>(row_bytes_, 1), 1),
                 [&](int64_t begin, int64_t end) {
                   std::byte* dst = args.outputs[0] + begin * row_bytes_;
                   for (int64_t o = begin; o < end; ++o) {
                     for (size_t i = 0; i < run_bytes_.size(); ++i) {
                       const int64_t bytes = run_bytes_[i];
                       std::memcpy(dst, args.inputs[i] + o * bytes, static_cast<size_t>(bytes));
                       dst += bytes;
                     }
                   }
                 });
  }

  int64_t outer_;
  std::vector<int64_t> run_bytes_;
  int64_t row_bytes_ = 0;
};

/// Channels of blocked float inputs whose borders lie inside blocks: every block of the output is
/// put together from pieces. Loop order: image, output block, piece, pixel.
class BlockedConcat final : public Kernel {
 public:
  BlockedConcat(const TensorSpec& dst, const std::vector<int64_t>& channels)
      : block_(block_of(dst.format)), images_(dst.shape[0]) {
    for (size_t i = 2; i < dst.shape.size(); ++i) pixels_ *= dst.shape[i];
    blocks_ = (dst.shape[1] + block_ - 1) / block_;
    pieces_.resize(static_cast<size_t>(blocks_));
    int64_t first = 0;
    for (size_t i = 0; i < channels.size(); ++i) {
      int64_t c = 0;
      while (c < channels[i]) {
        const int64_t to = first + c;
        const int64_t lanes =
            std::min({channels[i] - c, block_ - c % block_, block_ - to % block_});
        pieces_[static_cast<size_t>(to / block_)].push_back(
            {i, c / block_, c % block_, to % block_, lanes});
        c += lanes;
      }
      input_blocks_.push_back((channels[i] + block_ - 1) / block_);
      first += channels[i];
    }
    padding_ = blocks_ * block_ - first;
  }

  std::string_view implementation() const override { return "own_blocked"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    auto* dst = reinterpret_cast<float*>(args.outputs[0]);
    const int64_t plane = pixels_ * block_;
    const int64_t plane_bytes = plane * static_cast<int64_t>(sizeof(float));
    parallel_for(images_ * blocks_, std::max<int64_t>(kGrainBytes / plane_bytes, 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t k = begin; k < end; ++k) {
                     const int64_t n = k / blocks_;
                     const int64_t b = k % blocks_;
                     float* to = dst + k * plane;
                     for (const Piece& piece : pieces_[static_cast<size_t>(b)]) {
                       const auto* src = reinterpret_cast<const float*>(args.inputs[piece.input]);
                       const int64_t blocks = input_blocks_[piece.input];
                       copy_lanes(src + (n * blocks + piece.block) * plane + piece.from,
                                  to + piece.to, piece.lanes);
                     }
                     if (b + 1 == blocks_ && padding_ > 0) {
                       for (int64_t p = 0; p < pixels_; ++p) {
                         std::fill_n(to + (p + 1) * block_ - padding_, padding_, 0.0f);
                       }
                     }
                   }
                 });
    return {};
  }

 private:
  struct Piece {
    size_t input;
    int64_t block;  ///< of the input
    int64_t from;   ///< first lane in it
    int64_t to;     ///< first lane in the output's block
    int64_t lanes;
  };

  void copy_lanes(const float* src, float* dst, int64_t lanes) const {
    if (lanes == block_) {
      std::memcpy(dst, src, static_cast<size_t>(pixels_ * block_) * sizeof(float));
      return;
    }
    for (int64_t p = 0; p < pixels_; ++p) {
      for (int64_t i = 0; i < lanes; ++i) dst[p * block_ + i] = src[p * block_ + i];
    }
  }

  int64_t block_;
  int64_t images_;
  int64_t pixels_ = 1;
  int64_t blocks_ = 0;
  int64_t padding_ = 0;
  std::vector<std::vector<Piece>> pieces_;
  std::vector<int64_t> input_blocks_;
};

/// The format in which most of the inputs' elements are.
Format majority_format(PlanBuilder& builder, const Node& node) {
  std::vector<std::pair<Format, int64_t>> votes;
  for (const Value* input : node.inputs()) {
    const TensorSpec& spec = builder.home(*input);
    if (spec.shape.size() < 3) return Format::Plain;
    const auto vote = std::find_if(votes.begin(), votes.end(),
                                   [&](const auto& v) { return v.first == spec.format; });
    const int64_t count = element_count(spec.shape);
    if (vote == votes.end()) {
      votes.emplace_back(spec.format, count);
    } else {
      vote->second += count;
    }
  }
  const auto best = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return best->first;
}

Result<bool> plan_concat(PlanBuilder& builder, const Node& node) {
  const Value& dst = *node.output();
  const ElementType type = builder.kept_type(dst);
  if (byte_width(type) == 0) return false;
  const auto rank = static_cast<int64_t>(dst.desc().shape.size());
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", 0), rank));
  Format format = majority_format(builder, node);
  std::vector<int64_t> channels;
  bool aligned = true;
  for (const Value* input : node.inputs()) {
    if (input == nullptr || input->desc().type != dst.desc().type) return false;
    if (axis != 1 || rank < 2) continue;
    channels.push_back(input->desc().shape[1]);
    if (input != node.inputs().back()) aligned &= channels.back() % block_of(format) == 0;
  }
  if (is_blocked(format) && !aligned && type != ElementType::Float32) {
    // oneDNN's bfloat16 kernels have the channels last.
    format = type == ElementType::BFloat16 ? Format::ChannelsLast : Format::Plain;
  }
  const TensorSpec out_spec{type, dst.desc().shape, format};
  std::vector<TensorId> inputs;
  for (const Value* input : node.inputs()) {
    HET_ASSIGN(inputs.emplace_back(), builder.read(*input, format, type));
  }
  const TensorId out = builder.write(dst, out_spec);
  if (is_blocked(format) && axis == 1 && !aligned) {
    builder.add_step(node, std::make_unique<BlockedConcat>(out_spec, channels), std::move(inputs),
                     {out});
    return true;
  }
  // Physical position of the axis.
  size_t position = static_cast<size_t>(axis);
  if (format == Format::ChannelsLast && axis >= 1) {
    position = axis == 1 ? static_cast<size_t>(rank - 1) : static_cast<size_t>(axis - 1);
  }
  const std::vector<int64_t> dims = physical_dims(out_spec);
  int64_t outer = 1;
  for (size_t d = 0; d < position; ++d) outer *= dims[d];
  std::vector<int64_t> runs;
  for (const TensorId id : inputs) {
    const auto bytes = static_cast<int64_t>(size_bytes(builder.tensor(id).spec));
    runs.push_back(outer == 0 ? 0 : bytes / outer);
  }
  Step& step = builder.add_step(node, std::make_unique<RunConcat>(outer, std::move(runs)),
                                std::move(inputs), {out});
  if (outer == 1) step.in_place = InPlace::Concat;
  return true;
}

}  // namespace

HET_REGISTRATION void register_concat(KernelRegistry& registry) {
  registry.add("", "Concat", plan_concat);
}

}  // namespace het::cpu
