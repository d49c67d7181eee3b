#include "inference/decoders/slice.h"

#include <algorithm>

#include "inference/decoders/output_ports.h"

namespace het {
namespace {

bool has_batch(const DecoderConfig& config, size_t rank) {
  return rank > 1 && config.layout != "C";
}

Status check_slice(const DecoderConfig& config, int64_t count, const TensorDesc& desc) {
  const int64_t end = static_cast<int64_t>(config.slice[0]) + config.slice[1];
  if (end <= count) return {};
  return error(StatusCode::ShapeMismatch,
               "converter '{}' shall read {} values from value {} on, {} has {} per picture",
               config.converter, config.slice[1], config.slice[0], to_string(desc), count);
}

}  // namespace

Result<OutputValues> vector_values(const DecoderConfig& config, const Tensor& tensor,
                                   int64_t batch_index) {
  const bool batched = has_batch(config, tensor.shape().size());
  if (!batched && batch_index != 0)
    return error(StatusCode::ShapeMismatch, "converter '{}' finds no picture {} in {}",
                 config.converter, batch_index, to_string(tensor.desc()));
  HET_ASSIGN(OutputValues values,
             batched ? OutputValues::batch_item(tensor, batch_index) : OutputValues::whole(tensor));
  if (config.slice.size() != 2) return values;
  HET_TRY(check_slice(config, static_cast<int64_t>(values.size()), tensor.desc()));
  values.keep(static_cast<size_t>(config.slice[0]), static_cast<size_t>(config.slice[1]));
  return values;
}

Result<int64_t> sliced_count(const DecoderConfig& config, const std::vector<Port>& inputs,
                             const Port& port) {
  const Shape& shape = port.desc.shape;
  const size_t first = has_batch(config, shape.size()) ? 1 : 0;
  if (first == 1) {
    const Status batch = expect_batch(config.converter, inputs, port);
    if (!batch.ok()) return Failure(batch.with_context("say layout C where there is no batch"));
  }
  const std::span<const int64_t> item = std::span<const int64_t>(shape).subspan(first);
  const bool is_known = !shape.empty() && !is_sized_at_run_time(port) &&
                        std::ranges::none_of(item, [](int64_t dim) { return dim < 0; });
  const int64_t count = is_known ? element_count(item) : kUnknownDim;
  if (config.slice.size() != 2) return count;
  if (is_known) HET_TRY(check_slice(config, count, port.desc));
  return config.slice[1];
}

}  // namespace het
