#include "inference/decoders/boxes/tf_outputs.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "inference/decoders/output_ports.h"

namespace het {
namespace {

/// `part` is in lower case.
bool is_called(const Port& port, std::string_view part) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return !std::ranges::search(port.name, part, same).empty();
}

bool is_called_class(const Port& port) {
  return is_called(port, "class") || is_called(port, "label");
}

}  // namespace

Result<TfDetectionOutputs> find_tf_outputs(const DecoderConfig& config,
                                           const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::optional<size_t> boxes;
  std::vector<size_t> rows;
  std::optional<size_t> count;
  for (const size_t index : selected) {
    const Port& port = outputs[index];
    const Shape& shape = port.desc.shape;
    if (is_called(port, "raw_") || is_called(port, "anchor") || is_called(port, "multiclass"))
      continue;
    if (!boxes && matches(shape, {kUnknownDim, kUnknownDim, 4})) {
      boxes = index;
    } else if (matches(shape, {kUnknownDim, kUnknownDim})) {
      rows.push_back(index);
    } else if (!count && matches(shape, {kUnknownDim})) {
      count = index;
    } else {
      boxes.reset();
      break;
    }
  }
  if (!boxes || rows.size() != 2)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads boxes [batch,N,4], classes [batch,N], scores [batch,N] and "
                 "perhaps their number [batch]; the model has {}",
                 config.converter, describe(outputs, selected));
  TfDetectionOutputs found{*boxes, rows[0], rows[1], false, count};
  const bool scores_first =
      is_called(outputs[rows[0]], "score") || is_called_class(outputs[rows[1]]);
  found.named = scores_first || is_called(outputs[rows[1]], "score") ||
                is_called_class(outputs[rows[0]]) || !config.layer_names.empty();
  if (scores_first) std::swap(found.first, found.second);
  return found;
}

}  // namespace het
