#include <algorithm>
#include <cmath>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

bool is_softmax(const Node& node) {
  return node.op_type() == "SoftmaxCrossEntropyLoss";
}

/// For NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: scores [n, c, d...], labels [n,
/// d...], weights [c].
Status infer_loss(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"ignore_index", AttributeType::Int},
                                                  {"reduction", AttributeType::String}}));
  HET_TRY(check_input(context, 0, "scores", kFloatTypes));
  HET_TRY(check_rank(context, 0, "scores", 2, kAnyRank));
  HET_TRY(check_input(context, 1, "labels", kIndexTypes));
  const Shape& scores = context.shape(0);
  Shape labels = scores;
  labels.erase(labels.begin() + 1);
  if (context.shape(1) != labels) {
    return error(StatusCode::ShapeMismatch, "labels have shape {}, but scores of {} need {}",
                 to_string(context.shape(1)), to_string(scores), to_string(labels));
  }
  if (context.has_input(2)) {
    HET_TRY(check_same_type(context, 0, 2));
    if (context.shape(2) != Shape{scores[1]}) {
      return error(StatusCode::ShapeMismatch, "weights have shape {}, but must be [{}]",
                   to_string(context.shape(2)), scores[1]);
    }
  }
  const std::string reduction = context.attributes().get_string("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    return error(StatusCode::InvalidArgument, "reduction is '{}', allowed are none, sum and mean",
                 reduction);
  }
  context.set_output(0, context.type(0), reduction == "none" ? labels : Shape{});
  if (is_softmax(context.node())) context.set_output(1, context.type(0), scores);
  return {};
}

/// Scores as [batch, classes, area].
struct ScoreDims {
  int64_t batch;
  int64_t classes;
  int64_t area;

  int64_t at(int64_t n, int64_t c, int64_t i) const { return (n * classes + c) * area + i; }
};

/// Logarithms of the softmax over the classes.
void log_softmax(const ScoreDims& dims, std::vector<double>& scores) {
  if (scores.empty()) return;
  for (int64_t n = 0; n < dims.batch; ++n) {
    for (int64_t i = 0; i < dims.area; ++i) {
      const auto score = [&](int64_t c) -> double& {
        return scores[static_cast<size_t>(dims.at(n, c, i))];
      };
      double peak = score(0);
      for (int64_t c = 1; c < dims.classes; ++c) peak = std::max(peak, score(c));
      double sum = 0;
      for (int64_t c = 0; c < dims.classes; ++c) sum += std::exp(score(c) - peak);
      for (int64_t c = 0; c < dims.classes; ++c) score(c) -= peak + std::log(sum);
    }
  }
}

/// Loss of each label and the sum of the weights that count; ignored labels lose 0 and weigh 0.
struct Losses {
  std::vector<double> values;
  double weight = 0;
};

Result<Losses> label_losses(const ScoreDims& dims, const std::vector<double>& log_probabilities,
                            const std::vector<int64_t>& labels, const std::vector<double>& weights,
                            const Attributes& attributes) {
  Losses losses;
  const bool may_ignore = attributes.has("ignore_index");
  const int64_t ignored = attributes.get_int("ignore_index", 0);
  for (size_t k = 0; k < labels.size(); ++k) {
    const int64_t label = labels[k];
    if (may_ignore && label == ignored) {
      losses.values.push_back(0);
      continue;
    }
    if (label < 0 || label >= dims.classes) {
      return error(StatusCode::InvalidArgument, "label {} is outside [0, {})", label, dims.classes);
    }
    const auto n = static_cast<int64_t>(k) / dims.area;
    const auto i = static_cast<int64_t>(k) % dims.area;
    const double weight = weights.empty() ? 1.0 : weights[static_cast<size_t>(label)];
    const double loss = -log_probabilities[static_cast<size_t>(dims.at(n, label, i))] * weight;
    losses.values.push_back(loss);
    losses.weight += weight;
  }
  return losses;
}

/// In double: weight * -log(probability) of each label; the mean divides by the sum of weights.
Status evaluate_loss(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const ScoreDims dims{x.shape()[0], x.shape()[1], element_count(std::span(x.shape()).subspan(2))};
  HET_ASSIGN(const std::vector<int64_t> labels, to_int64_vector(context.input(1)));
  const std::string reduction = context.attributes().get_string("reduction", "mean");
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const auto as_double = [](T value) { return static_cast<double>(value); };
    std::vector<double> scores(static_cast<size_t>(x.element_count()));
    std::transform(x.data<T>(), x.data<T>() + scores.size(), scores.begin(), as_double);
    std::vector<double> weights;
    if (context.has_input(2)) {
      for (const T weight : context.input(2).values<T>()) weights.push_back(as_double(weight));
    }
    if (is_softmax(context.node())) log_softmax(dims, scores);
    HET_ASSIGN(const Losses losses,
               label_losses(dims, scores, labels, weights, context.attributes()));
    T* dst = context.output(0).data<T>();
    if (reduction == "none") {
      std::transform(losses.values.begin(), losses.values.end(), dst, numeric_cast<T, double>);
    } else {
      double sum = 0;
      for (const double value : losses.values) sum += value;
      *dst = numeric_cast<T>(reduction == "sum" ? sum : sum / losses.weight);
    }
    if (context.has_output(1)) {
      std::transform(scores.begin(), scores.end(), context.output(1).data<T>(),
                     numeric_cast<T, double>);
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_cross_entropy_loss(OpRegistry& registry) {
  registry.add({"NegativeLogLikelihoodLoss", "", 22, 2, 3, infer_loss, evaluate_loss});
  registry.add({"SoftmaxCrossEntropyLoss", "", 13, 2, 3, infer_loss, evaluate_loss});
}

}  // namespace het
