#include <omp.h>

#include <algorithm>
#include <vector>

#include "devices/cpu/loops/gemm_loops.h"
#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/loops/softmax_loops.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// Scores that a thread works on at a time stay in its cache.
constexpr int64_t kMostScores = 32 * 1024;
/// Multiply-adds that are worth a thread.
constexpr int64_t kAttentionGrain = 32 * 1024;

/// One operand: matrices along the batch dimensions, each with a stride for rows and columns.
struct Matrices {
  int64_t offset = 0;
  Shape batch;
  int64_t row = 0;
  int64_t column = 0;

  static Matrices of(const Attributes& attributes, const std::string& name) {
    Shape strides = attributes.get_ints(name + "_strides");
    Matrices made{
        attributes.get_int(name + "_offset", 0), {}, strides[strides.size() - 2], strides.back()};
    strides.resize(strides.size() - 2);
    made.batch = std::move(strides);
    return made;
  }
  /// Where the matrix of this index begins.
  int64_t begin(const Shape& sizes, int64_t index) const {
    int64_t at = offset;
    for (size_t d = sizes.size(); d-- > 0; index /= sizes[d]) at += index % sizes[d] * batch[d];
    return at;
  }
};

/// softmax(query * key * factor + mask) * value, as attention_parts.h describes it. Keys and values
/// of all matrices are packed first; then rows of scores are made, weighted and multiplied while
/// they are in the cache.
class AttentionKernel final : public Kernel {
 public:
  explicit AttentionKernel(const Attributes& attributes)
      : batch_(attributes.get_ints("shape")),
        depth_(attributes.get_int("depth", 0)),
        columns_(attributes.get_int("columns", 0)),
        factor_(attributes.get_float("factor", 1.0f)),
        value_factor_(attributes.get_float("value_factor", 1.0f)),
        zero_without_keys_(attributes.get_int("zero_without_keys", 0) != 0),
        query_(Matrices::of(attributes, "query")),
        key_(Matrices::of(attributes, "key")),
        value_(Matrices::of(attributes, "value")),
        output_(Matrices::of(attributes, "output")),
        name_(std::string("own_attention_") + simd_target()) {
    keys_ = batch_.back();
    batch_.pop_back();
    queries_ = batch_.back();
    batch_.pop_back();
    matrices_ = element_count(batch_);
    has_mask_ = !attributes.get_ints("mask_strides").empty();
    if (has_mask_) mask_ = Matrices::of(attributes, "mask");
    // Whole blocks of rows, as equal as they can be.
    const int64_t most = std::max(kMostScores / keys_ / gemm_rows(), int64_t{1}) * gemm_rows();
    team_ = omp_get_max_threads();
    const int64_t for_team = std::min((team_ + matrices_ - 1) / matrices_, queries_ / gemm_rows());
    parts_ = std::max({(queries_ + most - 1) / most, for_team, int64_t{1}});
    rows_ = (queries_ + parts_ - 1) / parts_;
    row_floats_ = padded(std::max(rows_ * depth_, rows_ * keys_));
    team_floats_ = row_floats_ + padded(rows_ * keys_);
    key_floats_ = padded(static_cast<int64_t>(gemm_weights_count(key_shape(rows_))));
    value_floats_ = padded(static_cast<int64_t>(gemm_weights_count(value_shape(rows_))));
  }

  std::string_view implementation() const override { return name_; }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(matrices_ * (key_floats_ + value_floats_) + team_ * team_floats_) *
           sizeof(float);
  }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto input = [&](size_t i) { return reinterpret_cast<const float*>(args.inputs[i]); };
    const float* const mask = has_mask_ ? input(3) : nullptr;
    auto* const output = reinterpret_cast<float*>(args.outputs[0]);
    auto* const keys = reinterpret_cast<float*>(args.scratch);
    float* const values = keys + matrices_ * key_floats_;
    float* const team = values + matrices_ * value_floats_;
    const int64_t packed = keys_ * (depth_ + columns_);
    parallel_for(matrices_, kAttentionGrain / packed, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        pack(key_shape(rows_), input(1) + key_.begin(batch_, i), key_, keys + i * key_floats_);
        pack(value_shape(rows_), input(2) + value_.begin(batch_, i), value_,
             values + i * value_floats_);
      }
    });
    parallel_for(matrices_ * parts_, kAttentionGrain / (packed * rows_),
                 [&](int64_t begin, int64_t end) {
                   float* const own = team + omp_get_thread_num() * team_floats_;
                   for (int64_t k = begin; k < end; ++k) {
                     const int64_t i = k / parts_;
                     const int64_t first = k % parts_ * rows_;
                     const int64_t rows = std::min(rows_, queries_ - first);
                     if (rows <= 0) continue;
                     attend(input(0) + query_.begin(batch_, i) + first * query_.row,
                            keys + i * key_floats_, values + i * value_floats_,
                            has_mask_ ? mask + mask_.begin(batch_, i) + first * mask_.row : nullptr,
                            rows, own, output + output_.begin(batch_, i) + first * output_.row);
                   }
                 });
    return {};
  }

 private:
  static int64_t padded(int64_t floats) { return (floats + 15) / 16 * 16; }
  GemmShape key_shape(int64_t rows) const { return {rows, depth_, keys_}; }
  GemmShape value_shape(int64_t rows) const { return {rows, keys_, columns_, output_.row}; }

  static void pack(const GemmShape& shape, const float* plain, const Matrices& strides,
                   float* packed) {
    pack_gemm_panels(shape, plain, strides.row, strides.column, 0, gemm_panels(shape), packed);
  }

  /// Some rows of one matrix.
  void attend(const float* query, const float* keys, const float* values, const float* mask,
              int64_t rows, float* own, float* output) const {
    float* const blocks = own;
    float* const scores = own + row_floats_;
    const GemmShape with_keys = key_shape(rows);
    pack_gemm_rows(with_keys, query, query_.row, query_.column, 0, gemm_row_blocks(with_keys),
                   blocks);
    multiply_gemm_panels(with_keys, blocks, keys, nullptr, nullptr, 0, gemm_panels(with_keys),
                         scores);
    for (int64_t row = 0; row < rows; ++row) {
      float* const row_scores = scores + row * keys_;
      const bool any =
          softmax_scores(row_scores, keys_, factor_, value_factor_,
                         mask != nullptr ? mask + row * mask_.row : nullptr, mask_.column);
      if (!any && zero_without_keys_) std::fill_n(row_scores, keys_, 0.0f);
    }
    const GemmShape with_values = value_shape(rows);
    pack_gemm_rows(with_values, scores, keys_, 1, 0, gemm_row_blocks(with_values), blocks);
    multiply_gemm_panels(with_values, blocks, values, nullptr, nullptr, 0, gemm_panels(with_values),
                         output);
  }

  Shape batch_;
  int64_t matrices_ = 1;
  int64_t queries_ = 0;
  int64_t keys_ = 0;
  int64_t depth_;    ///< of queries and keys
  int64_t columns_;  ///< of values and the result
  float factor_;
  float value_factor_;
  bool zero_without_keys_;
  Matrices query_, key_, value_, mask_, output_;
  bool has_mask_ = false;
  int64_t parts_ = 1;  ///< of the rows of a matrix
  int64_t rows_ = 0;   ///< of a part
  int64_t row_floats_ = 0;
  int64_t team_floats_ = 0;
  int64_t key_floats_ = 0;
  int64_t value_floats_ = 0;
  int64_t team_ = 1;
  std::string name_;
};

Result<bool> plan_attention(PlanBuilder& builder, const Node& node) {
  std::vector<TensorId> inputs;
  for (const Value* input : node.inputs()) {
    HET_ASSIGN(inputs.emplace_back(), builder.read(*input, Format::Plain, ElementType::Float32));
  }
  const TensorId out = builder.write(
      *node.output(), {ElementType::Float32, node.output()->desc().shape, Format::Plain});
  builder.add_step(node, std::make_unique<AttentionKernel>(node.attributes()), std::move(inputs),
                   {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_attention(KernelRegistry& registry) {
  registry.add("het", "Attention", plan_attention);
}

}  // namespace het::cpu
