#include "tools/accuracy/class_scores.h"

#include "tools/accuracy/top_k_metric.h"

namespace het {
namespace {

/// Values per batch item; 0 where the output is not one per item.
size_t values_per_item(const Tensor& tensor, size_t batch) {
  const auto count = static_cast<size_t>(tensor.element_count());
  return count % batch == 0 ? count / batch : 0;
}

}  // namespace

Result<std::vector<size_t>> best_classes(const InferRequest& request, size_t item, size_t batch,
                                         size_t labels) {
  std::vector<size_t> several;
  std::vector<size_t> fitting;
  for (size_t k = 0; k < request.outputs().size(); ++k) {
    const Tensor& tensor = request.output(k);
    const size_t count = values_per_item(tensor, batch);
    if (!is_float(tensor.type()) || count < 2) continue;
    several.push_back(k);
    if (count == labels) fitting.push_back(k);
  }
  if (several.size() > 1) several = fitting;
  if (several.size() != 1) {
    return error(StatusCode::NotSupported,
                 "no output or several may be the scores of {} classes: choose with -output_names",
                 labels);
  }
  const Tensor& tensor = request.output(several.front());
  HET_ASSIGN(const std::vector<float> values, to_float_vector(tensor));
  const size_t count = values_per_item(tensor, batch);
  return largest(std::span(values).subspan(item * count, count), kRankedClasses);
}

}  // namespace het
