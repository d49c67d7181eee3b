#include "inference/passes/fusions/fused_tail.h"

namespace het {

FusedTail tail_of(const Attributes& attributes) {
  const std::vector<std::string> names = attributes.get_strings("tail");
  const std::vector<float> alphas = attributes.get_floats("tail_alphas");
  const std::vector<float> betas = attributes.get_floats("tail_betas");
  FusedTail tail;
  for (size_t i = 0; i < names.size() && i < alphas.size() && i < betas.size(); ++i) {
    if (names[i] == "Sum") {
      tail.push_back({true, {}});
    } else if (const auto kind = elementwise_kind(names[i])) {
      tail.push_back({false, {*kind, 0, 0, alphas[i], betas[i]}});
    }
  }
  return tail;
}

void set_tail(Attributes& attributes, const FusedTail& tail) {
  std::vector<std::string> names;
  std::vector<float> alphas;
  std::vector<float> betas;
  for (const TailStep& step : tail) {
    names.emplace_back(step.sum ? "Sum" : to_string(step.expression.kind));
    alphas.push_back(step.expression.alpha);
    betas.push_back(step.expression.beta);
  }
  attributes.set("tail", std::move(names));
  attributes.set("tail_alphas", std::move(alphas));
  attributes.set("tail_betas", std::move(betas));
}

}  // namespace het
