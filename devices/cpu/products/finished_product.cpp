#include "devices/cpu/products/finished_product.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "devices/cpu/formats/cache_size.h"
#include "devices/cpu/loops/elementwise_loop.h"
#include "devices/cpu/loops/finish_loops.h"
#include "devices/cpu/products/dense.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

/// With fewer rows for each thread they share the channels instead.
constexpr int64_t kFewRows = 16;
/// Rows of a strip read the weights once.
constexpr int64_t kLeastStrip = 48;
/// Scales of results below this have no inverse that is finished with.
constexpr float kLeastScale = 1e-37f;
/// Values that are finished at a time.
constexpr int64_t kFinishedValues = 2048;

/// The tail as an expression of one operand.
ElementwiseProgram program_of(const FusedTail& tail) {
  ElementwiseProgram program{1, {}};
  for (const TailStep& step : tail) {
    ElementwiseInstruction next = step.expression;
    next.a = static_cast<uint8_t>(program.instructions.size());
    program.instructions.push_back(next);
  }
  return program;
}

/// What becomes of float32 rows.
class Finish {
 public:
  explicit Finish(const Node& node)
      : type_(node.output()->desc().type),
        reads_floats_(node.input(0)->desc().type == ElementType::Float32),
        channels_(node.input(1)->desc().shape[node.op_type() == "Int8MatMul" ? 1 : 0]) {
    const Int8Product product = int8_product_of(node);
    if (type_ != ElementType::Float32) {
      std::vector<float> scales = product.dst_scales;
      std::vector<float> zeros(product.dst_zeros.begin(), product.dst_zeros.end());
      if (zeros.empty()) zeros = {static_cast<float>(product.dst_zero)};
      if (scales.size() == 1) scales.resize(kSharedSteps, scales[0]);
      steps_ = ChannelSteps(scales, zeros, type_ == ElementType::Int8);
      if (product.tail.size() == 1 && is_finished_activation(product.tail[0].expression)) {
        activation_ = product.tail[0].expression;
        return;
      }
    }
    has_code_ = !product.tail.empty();
    if (has_code_) code_ = make_elementwise_code(program_of(product.tail));
  }

  /// Sums of bytes are finite.
  bool reads_floats() const { return reads_floats_; }
  int64_t channels() const { return channels_; }
  int64_t row_bytes() const {
    return channels_ * (type_ == ElementType::Float32 ? int64_t{sizeof(float)} : 1);
  }

  /// `values` is changed.
  void run(float* values, int64_t rows, std::byte* dst) const {
    const int64_t some = std::max<int64_t>(kFinishedValues / channels_, 1);
    for (int64_t row = 0; row < rows; row += some) {
      const auto count = static_cast<size_t>(std::min(some, rows - row) * channels_);
      run_some(values + row * channels_, count, dst + row * row_bytes());
    }
  }

 private:
  /// One scale of all channels is repeated for vectors of any length.
  static constexpr size_t kSharedSteps = 64;

  void run_some(float* values, size_t count, std::byte* dst) const {
    if (type_ == ElementType::Float32) {
      const ElementwiseSource source{values, ElementType::Float32};
      return run_elementwise(code_, &source, reinterpret_cast<float*>(dst), count);
    }
    if (has_code_) run_elementwise_in_place(code_, values, count);
    finish_rows(activation_ ? &*activation_ : nullptr, values, steps_, count, dst);
  }

  ElementType type_;
  bool reads_floats_;
  int64_t channels_;
  std::optional<ElementwiseInstruction> activation_;  ///< all of the tail, in one pass
  bool has_code_ = false;                             ///< else a pass before that
  ElementwiseCode code_;
  ChannelSteps steps_;  ///< of bytes
};

class FinishedState final : public KernelState {
 public:
  std::vector<std::unique_ptr<KernelState>> slots;
};

class FinishedKernel final : public Kernel {
 public:
  FinishedKernel(std::unique_ptr<Kernel> product, Finish finish, int64_t rows, int64_t strip,
                 int64_t src_row_bytes)
      : product_(std::move(product)),
        finish_(std::move(finish)),
        rows_(rows),
        strip_(strip),
        src_row_bytes_(src_row_bytes),
        team_(strip < rows ? team_size() : 1),
        values_bytes_(whole_lines(static_cast<size_t>(strip * finish_.channels()) * sizeof(float))),
        slot_bytes_(values_bytes_ + whole_lines(product_->scratch_bytes())) {}

  std::string_view implementation() const override { return product_->implementation(); }
  bool keeps_non_finite() const override { return !finish_.reads_floats(); }
  size_t scratch_bytes() const override { return static_cast<size_t>(team_) * slot_bytes_; }

  Result<std::unique_ptr<KernelState>> create_state() const override {
    auto state = std::make_unique<FinishedState>();
    for (int64_t slot = 0; slot < team_; ++slot) {
      HET_ASSIGN(state->slots.emplace_back(), product_->create_state());
    }
    return std::unique_ptr<KernelState>(std::move(state));
  }

  Status execute(const KernelArgs& args, KernelState* state) const override {
    auto& slots = static_cast<FinishedState*>(state)->slots;
    if (strip_ == rows_) {
      HET_TRY(multiply(args, 0, 0, slots[0].get()));
      auto* const values = reinterpret_cast<float*>(args.scratch);
      parallel_for(rows_, kFinishedValues / finish_.channels() + 1,
                   [&](int64_t begin, int64_t end) {
                     finish_.run(values + begin * finish_.channels(), end - begin,
                                 args.outputs[0] + begin * finish_.row_bytes());
                   });
      return {};
    }
    std::atomic<bool> failed = false;
    const int64_t strips = (rows_ + strip_ - 1) / strip_;
    in_slots(team_, strips, [&](int64_t slot, int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        // The last strip has rows of the one before it again, which is not stored twice.
        const int64_t first = std::min(k * strip_, rows_ - strip_);
        const int64_t known = k * strip_ - first;
        if (!multiply(args, slot, first, slots[static_cast<size_t>(slot)].get()).ok())
          failed = true;
        finish_.run(values_of(args, slot) + known * finish_.channels(), strip_ - known,
                    args.outputs[0] + k * strip_ * finish_.row_bytes());
      }
    });
    if (failed) return error(StatusCode::Internal, "oneDNN refused a strip of a product");
    return {};
  }

 private:
  static size_t whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

  float* values_of(const KernelArgs& args, int64_t slot) const {
    return reinterpret_cast<float*>(args.scratch + static_cast<size_t>(slot) * slot_bytes_);
  }

  /// The strip that begins with row `first`.
  Status multiply(const KernelArgs& args, int64_t slot, int64_t first, KernelState* state) const {
    std::byte* const src = args.inputs[0] + first * src_row_bytes_;
    auto* const values = reinterpret_cast<std::byte*>(values_of(args, slot));
    KernelArgs of_strip;
    of_strip.inputs = &src;
    of_strip.outputs = &values;
    of_strip.scratch = values + values_bytes_;
    return product_->execute(of_strip, state);
  }

  std::unique_ptr<Kernel> product_;
  Finish finish_;
  int64_t rows_;
  int64_t strip_;
  int64_t src_row_bytes_;
  int64_t team_;
  size_t values_bytes_;
  size_t slot_bytes_;
};

}  // namespace

int64_t finished_strip(int64_t rows, int64_t channels) {
  const int64_t team = team_size();
  if (rows < team * kFewRows) return rows;
  const int64_t fitting =
      second_level_bytes() / 4 / (channels * static_cast<int64_t>(sizeof(float)));
  const int64_t strip = std::min(std::max(fitting, kLeastStrip), (rows + team - 1) / team);
  // As many strips, all of nearly the same length.
  const int64_t strips = (rows + strip - 1) / strip;
  return (rows + strips - 1) / strips;
}

bool can_finish(const Node& node) {
  const Int8Product product = int8_product_of(node);
  const bool has_inverses =
      std::ranges::all_of(product.dst_scales, [](float scale) { return scale > kLeastScale; });
  return has_inverses && std::ranges::none_of(product.tail, [](const TailStep& step) {
           return step.sum || step.expression.kind == ElementwiseKind::Round;
         });
}

bool prefers_finished(const Node& node, const Int8Arithmetic& arithmetic) {
  const bool is_slow = std::ranges::any_of(tail_of(node.attributes()), [](const TailStep& step) {
    return is_slow_in_onednn(step.expression);
  });
  if (!can_finish(node) || (!is_slow && arithmetic.dst_factors.empty())) return false;
  const Result<Int8Arithmetic> values = int8_values(node);
  return values && has_onednn_int8(node, *values);
}

std::unique_ptr<Kernel> make_finished_kernel(std::unique_ptr<Kernel> product, const Node& node,
                                             int64_t rows, int64_t strip, int64_t src_row_bytes) {
  return std::make_unique<FinishedKernel>(std::move(product), Finish(node), rows, strip,
                                          src_row_bytes);
}

}  // namespace het::cpu
