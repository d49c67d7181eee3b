#include "inference/decoders/texts/step_scores.h"

#include "inference/decoders/output_ports.h"

namespace het {

Result<std::string> StepScores::layout_of(const DecoderConfig& config,
                                          const std::vector<Port>& inputs, const Port& port) {
  const Shape& shape = port.desc.shape;
  if (!config.layout.empty()) {
    if (is_sized_at_run_time(port) || shape.size() == config.layout.size()) return config.layout;
    return error(StatusCode::ShapeMismatch, "converter '{}': layout {} does not fit '{}' {}",
                 config.converter, config.layout, port.name, to_string(port.desc));
  }
  if (is_sized_at_run_time(port)) return std::string("NTC");
  const int64_t batch = picture_batch(inputs);
  // [batch, classes] is a vector for each picture.
  if (shape.size() == 2 && shape[0] != batch) return std::string("TC");
  if (shape.size() == 3) {
    const auto is_batch = [&](int64_t dim) {
      return dim == batch || dim == kUnknownDim || batch == kUnknownDim;
    };
    if (is_batch(shape[0])) return std::string("NTC");
    if (is_batch(shape[1])) return std::string("TNC");
    return error(StatusCode::ShapeMismatch,
                 "converter '{}': neither the first nor the second dimension of '{}' {} is the "
                 "batch of the picture input, {}; say which by layout (NTC, TNC)",
                 config.converter, port.name, to_string(port.desc), batch);
  }
  return error(StatusCode::ShapeMismatch,
               "converter '{}' reads [batch, steps, classes], [steps, batch, classes] or [steps, "
               "classes], '{}' is {}",
               config.converter, port.name, to_string(port.desc));
}

Result<StepScores> StepScores::read(const Tensor& tensor, std::string_view layout,
                                    int64_t batch_index) {
  const Shape& shape = tensor.shape();
  if (shape.size() != layout.size())
    return error(StatusCode::ShapeMismatch, "scores of steps with the layout {} came as {}", layout,
                 to_string(tensor.desc()));
  const bool whole = layout != "NTC";
  const int64_t batch = layout == "TC" ? 1 : shape[whole ? 1 : 0];
  if (batch_index >= batch)
    return error(StatusCode::ShapeMismatch, "picture {} has no scores in {} with the layout {}",
                 batch_index, to_string(tensor.desc()), layout);
  HET_ASSIGN(OutputValues values,
             whole ? OutputValues::whole(tensor) : OutputValues::batch_item(tensor, batch_index));
  StepScores scores(std::move(values));
  scores.steps_ = static_cast<size_t>(shape[whole ? 0 : 1]);
  scores.classes_ = static_cast<size_t>(shape.back());
  scores.first_ = whole ? static_cast<size_t>(batch_index) * scores.classes_ : 0;
  scores.stride_ = whole ? static_cast<size_t>(batch) * scores.classes_ : scores.classes_;
  return scores;
}

}  // namespace het
