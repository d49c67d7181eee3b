#include "inference/decoders/slice.h"

#include <algorithm>

#include "inference/decoders/output_ports.h"

namespace het {
namespace {

Status check_slice(const DecoderConfig& config, int64_t count, const TensorDesc& desc) {
  const int64_t end = static_cast<int64_t>(config.slice[0]) + config.slice[1];
  if (end <= count) return {};
  return error(StatusCode::ShapeMismatch,
               "converter '{}' shall read {} values from value {} on, {} has {} per picture",
               config.converter, config.slice[1], config.slice[0], to_string(desc), count);
}

}  // namespace

Status apply_slice(const DecoderConfig& config, const Tensor& tensor, OutputValues& values) {
  if (config.slice.size() != 2) return {};
  HET_TRY(check_slice(config, static_cast<int64_t>(values.size()), tensor.desc()));
  values.keep(static_cast<size_t>(config.slice[0]), static_cast<size_t>(config.slice[1]));
  return {};
}

Result<int64_t> sliced_count(const DecoderConfig& config, const Port& port) {
  const Shape& shape = port.desc.shape;
  const size_t first = shape.size() > 1 ? 1 : 0;
  const std::span<const int64_t> item = std::span<const int64_t>(shape).subspan(first);
  const bool is_known = !shape.empty() && !is_sized_at_run_time(port) &&
                        std::ranges::none_of(item, [](int64_t dim) { return dim < 0; });
  const int64_t count = is_known ? element_count(item) : kUnknownDim;
  if (config.slice.size() != 2) return count;
  if (is_known) HET_TRY(check_slice(config, count, port.desc));
  return config.slice[1];
}

}  // namespace het
