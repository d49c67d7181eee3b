#include "inference/ops/movement/transpose.h"

#include "devices/cpu/moves/move_kernel.h"
#include "devices/cpu/plan/plan_builder.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

bool is_permutation(const std::vector<int64_t>& perm, const std::vector<int64_t>& wanted) {
  return perm == wanted;
}

/// [0, 2, 3, ..., 1]: channels to the end.
std::vector<int64_t> channels_to_end(size_t rank) {
  std::vector<int64_t> perm = {0};
  for (size_t d = 2; d < rank; ++d) perm.push_back(static_cast<int64_t>(d));
  perm.push_back(1);
  return perm;
}

/// [0, rank - 1, 1, 2, ...]: channels from the end.
std::vector<int64_t> channels_from_end(size_t rank) {
  std::vector<int64_t> perm = {0, static_cast<int64_t>(rank) - 1};
  for (size_t d = 1; d + 1 < rank; ++d) perm.push_back(static_cast<int64_t>(d));
  return perm;
}

Result<bool> plan_transpose(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const Shape& from = src.desc().shape;
  const ElementType type = builder.moved_type(src, dst);
  const size_t width = byte_width(type);
  const size_t rank = from.size();
  if (src.is_constant() || rank < 2 || (width != 1 && width != 2 && width != 4 && width != 8)) {
    return false;
  }
  HET_ASSIGN(const std::vector<int64_t> perm,
             transpose_permutation(node.attributes(), static_cast<int64_t>(rank)));
  const TensorSpec& home = builder.home(src);
  const bool is_float = home.type == type && src.desc().type == ElementType::Float32;
  if (rank >= 3 && rank <= 5 && is_float) {
    // The same bytes read as another format: at most a reorder is needed.
    if (is_permutation(perm, channels_to_end(rank)) && home.format != Format::Plain) {
      HET_ASSIGN(const TensorId in, builder.read(src, Format::ChannelsLast, type));
      builder.write_view(dst, {type, dst.desc().shape, Format::Plain}, in, 0);
      return true;
    }
    if (is_permutation(perm, channels_from_end(rank)) && home.format == Format::Plain) {
      HET_ASSIGN(const TensorId in, builder.read(src, Format::Plain, type));
      builder.write_view(dst, {type, dst.desc().shape, Format::ChannelsLast}, in, 0);
      return true;
    }
  }
  // A blocked source is read in place when its channels fill their blocks.
  Format format = home.type == type ? home.format : Format::Plain;
  if (is_blocked(format) && from[1] % block_of(format) != 0) format = Format::Plain;
  HET_ASSIGN(const TensorId in, builder.read(src, format, type));
  const TensorSpec spec{type, from, format};
  const std::vector<int64_t> physical = row_major_strides(physical_dims(spec));
  const std::vector<int64_t> target = row_major_strides(dst.desc().shape);
  std::vector<int64_t> dims;
  std::vector<int64_t> src_strides;
  std::vector<int64_t> dst_strides;
  for (size_t i = 0; i < rank; ++i) {
    const auto d = static_cast<size_t>(perm[i]);
    if (d == 1 && is_blocked(format)) {
      const int64_t block = block_of(format);
      dims.insert(dims.end(), {from[1] / block, block});
      src_strides.insert(src_strides.end(), {physical[1], 1});
      dst_strides.insert(dst_strides.end(), {target[i] * block, target[i]});
      continue;
    }
    size_t position = d;
    if (format == Format::ChannelsLast && d >= 1) position = d == 1 ? rank - 1 : d - 1;
    dims.push_back(from[d]);
    src_strides.push_back(physical[position]);
    dst_strides.push_back(target[i]);
  }
  StridedMove loops(dims, src_strides, dst_strides, width);
  const TensorId out = builder.write(dst, {type, dst.desc().shape, Format::Plain});
  builder.add_step(node, make_move_kernel({{std::move(loops), 0, 0}}), {in}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_transpose(KernelRegistry& registry) {
  registry.add("", "Transpose", plan_transpose);
}

}  // namespace het::cpu
