#include "inference/ops/movement/gather_index.h"

#include "inference/ops/op_checks.h"

namespace het {
namespace {

Result<int64_t> normalize_index(int64_t index, int64_t dimension) {
  if (index < -dimension || index >= dimension) {
    return error(StatusCode::InvalidArgument, "index {} is outside [{}, {})", index, -dimension,
                 dimension);
  }
  return index < 0 ? index + dimension : index;
}

}  // namespace

Result<int64_t> check_gather(const InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kWholeByteTypes));
  HET_TRY(check_input(context, 1, "indices", kIndexTypes));
  HET_TRY(check_attributes(context.attributes(), {{"axis", AttributeType::Int}}));
  return normalize_axis(context.attributes().get_int("axis", 0), context.rank(0));
}

Result<std::vector<int64_t>> read_indices(const Tensor& indices, int64_t dimension) {
  HET_ASSIGN(std::vector<int64_t> values, to_int64_vector(indices));
  for (int64_t& value : values) {
    HET_ASSIGN(value, normalize_index(value, dimension));
  }
  return values;
}

Result<std::vector<int64_t>> read_index_tuples(const Tensor& indices, std::span<const int64_t> dims,
                                               std::span<const int64_t> strides) {
  HET_ASSIGN(const std::vector<int64_t> values, to_int64_vector(indices));
  const auto length = static_cast<size_t>(indices.shape().back());
  const std::span<const int64_t> leading = indices.shape();
  const auto count = static_cast<size_t>(element_count(leading.first(leading.size() - 1)));
  std::vector<int64_t> offsets(count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t d = 0; d < length; ++d) {
      HET_ASSIGN(const int64_t index, normalize_index(values[i * length + d], dims[d]));
      offsets[i] += index * strides[d];
    }
  }
  return offsets;
}

}  // namespace het
