#include <cmath>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

/// Inputs: R (learning rate), T (updates so far), then the tensors of each kind one after the
/// other: all X, all gradients G, all of the first state and, with Adam, of the second. Outputs:
/// the new X and states, in the same way.
size_t states_of(const Node& node) {
  return node.op_type() == "Adam" ? 2 : 1;
}

Status infer_gradient_step(InferContext& context) {
  HET_TRY(
      check_attributes(context.attributes(), {{"alpha", AttributeType::Float},
                                              {"beta", AttributeType::Float},
                                              {"decay_factor", AttributeType::Float},
                                              {"epsilon", AttributeType::Float},
                                              {"mode", AttributeType::String},
                                              {"norm_coefficient", AttributeType::Float},
                                              {"norm_coefficient_post", AttributeType::Float}}));
  const std::string mode = context.attributes().get_string("mode", "standard");
  if (mode != "standard" && mode != "nesterov") {
    return error(StatusCode::InvalidArgument, "mode is '{}', but must be standard or nesterov",
                 mode);
  }
  HET_TRY(check_input(context, 0, "R", kFloatTypes));
  HET_TRY(check_input(context, 1, "T", {ElementType::Int64}));
  if (element_count(context.shape(0)) != 1 || element_count(context.shape(1)) != 1) {
    return error(StatusCode::ShapeMismatch, "R has shape {} and T {}, but both must be one number",
                 to_string(context.shape(0)), to_string(context.shape(1)));
  }
  const size_t kinds = 2 + states_of(context.node());
  const size_t count = (context.input_count() - 2) / kinds;
  if ((context.input_count() - 2) % kinds != 0 || context.output_count() > count * (kinds - 1)) {
    return error(StatusCode::ParseError,
                 "{} inputs and {} outputs: after R and T there must be {} tensors for each one "
                 "that is optimised, and {} outputs",
                 context.input_count(), context.output_count(), kinds, kinds - 1);
  }
  for (size_t i = 0; i < count * kinds; ++i) {
    HET_TRY(check_input(context, 2 + i, "tensor", kFloatTypes));
    const size_t x = 2 + i % count;
    HET_TRY(check_same_type(context, 2 + i, x));
    if (context.shape(2 + i) != context.shape(x)) {
      return error(StatusCode::ShapeMismatch, "input {} has shape {}, but belongs to X of shape {}",
                   2 + i, to_string(context.shape(2 + i)), to_string(context.shape(x)));
    }
  }
  for (size_t i = 0; i < count * (kinds - 1); ++i) {
    context.set_output(i, context.type(2 + i % count), context.shape(2 + i % count));
  }
  return {};
}

/// One element: its value, its gradient and its states.
struct Element {
  double x;
  double g;
  double first;
  double second;
};

/// Attributes and scalars, in ONNX' names.
struct Step {
  double rate;
  double updates;
  double alpha;
  double beta;
  double epsilon;
  double decay;
  double post;
  bool nesterov;

  void adagrad(Element& e) const {
    e.first += e.g * e.g;
    e.x -= rate / (1 + updates * decay) * e.g / (std::sqrt(e.first) + epsilon);
  }
  void adam(Element& e) const {
    e.first = alpha * e.first + (1 - alpha) * e.g;
    e.second = beta * e.second + (1 - beta) * e.g * e.g;
    const double adjusted =
        updates > 0 ? rate * std::sqrt(1 - std::pow(beta, updates)) / (1 - std::pow(alpha, updates))
                    : rate;
    e.x = (1 - post) * (e.x - adjusted * e.first / (std::sqrt(e.second) + epsilon));
  }
  void momentum(Element& e) const {
    e.first = alpha * e.first + (updates > 0 ? beta : 1) * e.g;
    e.x -= rate * (nesterov ? e.g + alpha * e.first : e.first);
  }
};

Result<Step> step_of(const EvaluateContext& context) {
  const Attributes& attributes = context.attributes();
  const auto number = [&](std::string_view name, float fallback) {
    return static_cast<double>(attributes.get_float(name, fallback));
  };
  HET_ASSIGN(const std::vector<double> rate, to_double_vector(context.input(0)));
  HET_ASSIGN(const std::vector<double> updates, to_double_vector(context.input(1)));
  return Step{rate.at(0),
              updates.at(0),
              number("alpha", 0.9f),
              number("beta", 0.999f),
              number("epsilon", 1e-6f),
              number("decay_factor", 0),
              number("norm_coefficient_post", 0),
              attributes.get_string("mode", "standard") == "nesterov"};
}

/// The pseudo code of the operators' pages, in double.
template <void (Step::*kUpdate)(Element&) const>
Status evaluate_gradient_step(EvaluateContext& context) {
  HET_ASSIGN(const Step step, step_of(context));
  const auto norm = static_cast<double>(context.attributes().get_float("norm_coefficient", 0.0f));
  const size_t states = states_of(context.node());
  const size_t count = (context.input_count() - 2) / (2 + states);
  for (size_t t = 0; t < count; ++t) {
    const auto values = [&](size_t kind) {
      return to_double_vector(context.input(2 + kind * count + t));
    };
    HET_ASSIGN(std::vector<double> x, values(0));
    HET_ASSIGN(const std::vector<double> g, values(1));
    HET_ASSIGN(std::vector<double> first, values(2));
    std::vector<double> second(x.size());
    if (states == 2) {
      HET_ASSIGN(second, values(3));
    }
    for (size_t i = 0; i < x.size(); ++i) {
      Element element{x[i], norm * x[i] + g[i], first[i], second[i]};
      (step.*kUpdate)(element);
      x[i] = element.x;
      first[i] = element.first;
      second[i] = element.second;
    }
    const auto store = [&](size_t kind, const std::vector<double>& from) {
      const size_t index = kind * count + t;
      return context.has_output(index) ? store_doubles(from, context.output(index)) : Status();
    };
    HET_TRY(store(0, x));
    HET_TRY(store(1, first));
    if (states == 2) HET_TRY(store(2, second));
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_gradient_step(OpRegistry& registry) {
  const std::string_view domain = "ai.onnx.preview.training";
  registry.add({"Adagrad", domain, 1, 3, kVariadic, infer_gradient_step,
                evaluate_gradient_step<&Step::adagrad>});
  registry.add(
      {"Adam", domain, 1, 3, kVariadic, infer_gradient_step, evaluate_gradient_step<&Step::adam>});
  registry.add({"Momentum", domain, 1, 3, kVariadic, infer_gradient_step,
                evaluate_gradient_step<&Step::momentum>});
}

}  // namespace het
