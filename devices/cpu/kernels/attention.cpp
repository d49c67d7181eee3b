
#include <algorithm>
#include <array>
#include <vector>

#include "devices/cpu/loops/attention_loops.h"
#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// Multiply-adds that are worth a thread.
constexpr int64_t kAttentionGrain = 32 * 1024;

/// One operand: matrices along the batch dimensions, each with a stride for rows and columns.
struct Matrices {
  int64_t offset = 0;
  Shape batch;
  int64_t row = 0;
  int64_t column = 0;
  int32_t zero = 0;  ///< of bytes

  static Matrices of(const Attributes& attributes, const std::string& name) {
    Shape strides = attributes.get_ints(name + "_strides");
    Matrices made{attributes.get_int(name + "_offset", 0),
                  {},
                  strides[strides.size() - 2],
                  strides.back(),
                  static_cast<int32_t>(attributes.get_int(name + "_zero", 0))};
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

/// The zero point of bytes that are turned into those of the other sign.
int32_t turned_zero(const Matrices& bytes, ElementType type, ElementType wanted) {
  if (type == wanted) return bytes.zero;
  return bytes.zero + (wanted == ElementType::UInt8 ? 128 : -128);
}

/// softmax(query * key * factor + mask) * value, as attention_parts.h describes it. Blocks of rows
/// of scores are made, weighted and multiplied while they are in the cache.
class AttentionKernel final : public Kernel {
 public:
  /// `types`: of query, key, value and the result.
  AttentionKernel(const Attributes& attributes, ElementType product,
                  const std::array<ElementType, 4>& types)
      : batch_(attributes.get_ints("shape")),
        types_(types),
        query_(Matrices::of(attributes, "query")),
        key_(Matrices::of(attributes, "key")),
        value_(Matrices::of(attributes, "value")),
        output_(Matrices::of(attributes, "output")),
        name_(std::string("own_attention_") + simd_target()) {
    choose_products(attributes, product);
    shape_.depth = attributes.get_int("depth", 0);
    shape_.columns = attributes.get_int("columns", 0);
    shape_.factor = attributes.get_float("factor", 1.0f);
    shape_.value_factor = attributes.get_float("value_factor", 1.0f);
    shape_.zero_without_keys = attributes.get_int("zero_without_keys", 0) != 0;
    shape_.zero_for_nan = attributes.get_int("zero_for_nan", 0) != 0;
    shape_.keys = batch_.back();
    batch_.pop_back();
    queries_ = batch_.back();
    batch_.pop_back();
    matrices_ = element_count(batch_);
    has_mask_ = !attributes.get_ints("mask_strides").empty();
    if (has_mask_) mask_ = Matrices::of(attributes, "mask");
    blocks_ = (queries_ + attention_rows() - 1) / attention_rows();
    team_ = team_size();
    // Many matrices, or as many for each thread: one thread packs and reads a matrix.
    constexpr int64_t kManyForThread = 8;
    whole_ = matrices_ % team_ == 0 || matrices_ >= kManyForThread * team_;
    key_bytes_ = attention_keys_bytes(shape_);
    packed_bytes_ = key_bytes_ + attention_values_bytes(shape_);
    block_bytes_ = attention_scratch_bytes(shape_);
  }

  std::string_view implementation() const override { return name_; }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(whole_ ? team_ : matrices_) * packed_bytes_ +
           static_cast<size_t>(team_) * block_bytes_;
  }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const int64_t packed = shape_.keys * (shape_.depth + shape_.columns);
    std::byte* const team =
        args.scratch + static_cast<size_t>(whole_ ? team_ : matrices_) * packed_bytes_;
    const auto scratch = [&] { return team + static_cast<size_t>(team_part()) * block_bytes_; };
    if (whole_) {
      parallel_for(matrices_, kAttentionGrain / (packed * queries_),
                   [&](int64_t begin, int64_t end) {
                     const auto thread = static_cast<size_t>(team_part());
                     std::byte* const own = args.scratch + thread * packed_bytes_;
                     for (int64_t i = begin; i < end; ++i) {
                       pack(args, i, own);
                       for (int64_t b = 0; b < blocks_; ++b) run(args, i, b, own, scratch());
                     }
                   });
      return {};
    }
    const auto packed_of = [&](int64_t matrix) {
      return args.scratch + static_cast<size_t>(matrix) * packed_bytes_;
    };
    parallel_for(matrices_, kAttentionGrain / packed, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) pack(args, i, packed_of(i));
    });
    parallel_for(matrices_ * blocks_, kAttentionGrain / (packed * attention_rows()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t k = begin; k < end; ++k) {
                     const int64_t i = k / blocks_;
                     run(args, i, k % blocks_, packed_of(i), scratch());
                   }
                 });
    return {};
  }

 private:
  /// Of bytes, in integers; else in `product`.
  void choose_products(const Attributes& attributes, ElementType product) {
    shape_.scores_product = is_byte(types_[1]) ? attention_integers() : product;
    shape_.values_product = is_byte(types_[2]) ? attention_integers() : product;
    if (shape_.scores_product == ElementType::Int8) {
      shape_.query_zero = turned_zero(query_, types_[0], ElementType::UInt8);
      shape_.key_zero = turned_zero(key_, types_[1], ElementType::Int8);
    }
    if (shape_.values_product == ElementType::Int8) {
      shape_.value_zero = turned_zero(value_, types_[2], ElementType::Int8);
    }
    shape_.weights_scale = attributes.get_float("weights_scale", 0.0f);
    shape_.weights_zero = static_cast<int32_t>(attributes.get_int("weights_zero", 0));
    if (is_byte(types_[1]) || is_byte(types_[2])) name_ += "_int8";
    if (product == ElementType::BFloat16 && !(is_byte(types_[1]) && is_byte(types_[2]))) {
      name_ += "_bf16";
    }
  }

  AttentionMatrix matrix(const KernelArgs& args, size_t input, const Matrices& matrices,
                         int64_t index, int64_t first_row = 0) const {
    const int64_t at = matrices.begin(batch_, index) + first_row * matrices.row;
    const auto width = static_cast<int64_t>(byte_width(types_[input]));
    return {args.inputs[input] + at * width, types_[input], matrices.row, matrices.column,
            matrices.zero};
  }

  void pack(const KernelArgs& args, int64_t index, std::byte* packed) const {
    pack_attention_keys(shape_, matrix(args, 1, key_, index), packed);
    pack_attention_values(shape_, matrix(args, 2, value_, index), packed + key_bytes_);
  }

  /// One block of rows of a matrix.
  void run(const KernelArgs& args, int64_t index, int64_t number, const std::byte* packed,
           std::byte* scratch) const {
    const int64_t first = queries_ * number / blocks_;
    AttentionBlock block;
    block.rows = queries_ * (number + 1) / blocks_ - first;
    block.query = matrix(args, 0, query_, index, first);
    if (has_mask_) {
      block.mask = reinterpret_cast<const float*>(args.inputs[3]) + mask_.begin(batch_, index) +
                   first * mask_.row;
      block.mask_row = mask_.row;
      block.mask_column = mask_.column;
    }
    block.keys = packed;
    block.values = packed + key_bytes_;
    block.scratch = scratch;
    block.output_type = types_[3];
    block.output_row = output_.row;
    const int64_t at = output_.begin(batch_, index) + first * output_.row;
    block.output = args.outputs[0] + at * static_cast<int64_t>(byte_width(types_[3]));
    attend(shape_, block);
  }

  AttentionShape shape_;
  Shape batch_;
  std::array<ElementType, 4> types_;
  int64_t matrices_ = 1;
  int64_t queries_ = 0;
  int64_t blocks_ = 0;  ///< of the rows of a matrix
  Matrices query_, key_, value_, mask_, output_;
  bool has_mask_ = false;
  bool whole_ = false;  ///< a thread does all of a matrix
  size_t key_bytes_ = 0;
  size_t packed_bytes_ = 0;
  size_t block_bytes_ = 0;
  int64_t team_ = 1;
  std::string name_;
};

Result<bool> plan_attention(PlanBuilder& builder, const Node& node) {
  std::array<ElementType, 4> types;
  std::vector<TensorId> inputs;
  for (const Value* input : node.inputs()) {
    ElementType type = ElementType::Float32;
    if (inputs.size() < 3) {
      if (builder.home(*input).type == ElementType::BFloat16) type = ElementType::BFloat16;
      if (is_byte(input->desc().type)) type = input->desc().type;
      types[inputs.size()] = type;
    }
    HET_ASSIGN(inputs.emplace_back(), builder.read(*input, Format::Plain, type));
  }
  const Value& dst = *node.output();
  types[3] = builder.kept_type(dst);
  const bool narrow =
      builder.options().precision == ElementType::BFloat16 && has_bfloat16_attention();
  const TensorId out = builder.write(dst, {types[3], dst.desc().shape, Format::Plain});
  builder.add_step(
      node,
      std::make_unique<AttentionKernel>(
          node.attributes(), narrow ? ElementType::BFloat16 : ElementType::Float32, types),
      std::move(inputs), {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_attention(KernelRegistry& registry) {
  registry.add("het", "Attention", plan_attention);
}

}  // namespace het::cpu
