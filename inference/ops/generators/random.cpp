#include "inference/ops/generators/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"

namespace het {

RandomSequence::RandomSequence(const Node& node) {
  const float seed = node.attributes().get_float("seed", 0.0f);
  if (node.attributes().has("seed")) {
    state_ = std::bit_cast<uint32_t>(seed);
    return;
  }
  state_ = 0xcbf29ce484222325;
  for (const char c : node.name()) {
    state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
}

uint64_t RandomSequence::next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double RandomSequence::uniform() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

double RandomSequence::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

bool is_random(const Node& node) {
  const std::string& type = node.op_type();
  return node.domain().empty() &&
         (type.rfind("Random", 0) == 0 || type == "Bernoulli" || type == "Multinomial");
}

namespace {

/// The type that the attribute dtype names, or the fallback.
Result<ElementType> random_type(const InferContext& context, ElementType fallback,
                                TypeSet allowed) {
  HET_TRY(check_attributes(context.attributes(), {{"dtype", AttributeType::Int},
                                                  {"high", AttributeType::Float},
                                                  {"low", AttributeType::Float},
                                                  {"mean", AttributeType::Float},
                                                  {"sample_size", AttributeType::Int},
                                                  {"scale", AttributeType::Float},
                                                  {"seed", AttributeType::Float},
                                                  {"shape", AttributeType::Ints}}));
  ElementType type = fallback;
  if (context.attributes().has("dtype")) {
    HET_ASSIGN(type, element_type_from_onnx(context.attributes().get_int("dtype", 0)));
  }
  if (!allowed.contains(type)) {
    return error(StatusCode::InvalidArgument, "random values of type {} are not defined",
                 to_string(type));
  }
  return type;
}

Status infer_random(InferContext& context) {
  HET_ASSIGN(const ElementType type, random_type(context, ElementType::Float32, kFloatTypes));
  if (!context.attributes().has("shape")) {
    return error(StatusCode::ParseError, "attribute 'shape' (a list of ints) is missing");
  }
  Shape shape = context.attributes().get_ints("shape");
  HET_TRY(checked_element_count(shape));
  context.set_output(0, type, std::move(shape));
  return {};
}

Status infer_random_like(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kNumbersAndBool));
  HET_ASSIGN(const ElementType type, random_type(context, context.type(0), kFloatTypes));
  context.set_output(0, type, context.shape(0));
  return {};
}

/// Fills the output with what `draw` gives, element by element.
template <class Draw>
Status fill(EvaluateContext& context, Draw&& draw) {
  RandomSequence random(context.node());
  std::vector<double> values(static_cast<size_t>(context.output(0).element_count()));
  for (double& value : values) value = draw(random);
  return store_doubles(values, context.output(0));
}

Status evaluate_random_normal(EvaluateContext& context) {
  const auto mean = static_cast<double>(context.attributes().get_float("mean", 0));
  const auto scale = static_cast<double>(context.attributes().get_float("scale", 1));
  return fill(context, [=](RandomSequence& random) { return mean + scale * random.normal(); });
}

Status evaluate_random_uniform(EvaluateContext& context) {
  const auto low = static_cast<double>(context.attributes().get_float("low", 0));
  const auto high = static_cast<double>(context.attributes().get_float("high", 1));
  return fill(context,
              [=](RandomSequence& random) { return low + (high - low) * random.uniform(); });
}

Status infer_bernoulli(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kFloatTypes));
  HET_ASSIGN(const ElementType type, random_type(context, context.type(0), kNumbersAndBool));
  context.set_output(0, type, context.shape(0));
  return {};
}

Status evaluate_bernoulli(EvaluateContext& context) {
  HET_ASSIGN(const std::vector<double> probabilities, to_double_vector(context.input(0)));
  const double* next = probabilities.data();
  return fill(context, [&](RandomSequence& random) { return random.uniform() < *next++ ? 1 : 0; });
}

Status infer_multinomial(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kFloatTypes));
  HET_TRY(check_rank(context, 0, "input", 2, 2));
  HET_ASSIGN(const ElementType type, random_type(context, ElementType::Int32, kIndexTypes));
  const int64_t count = context.attributes().get_int("sample_size", 1);
  Shape shape{context.shape(0)[0], count};
  if (count < 0 || !checked_element_count(shape) || (context.shape(0)[1] == 0 && count > 0)) {
    return error(StatusCode::InvalidArgument, "{} samples of a distribution of shape {}", count,
                 to_string(context.shape(0)));
  }
  context.set_output(0, type, std::move(shape));
  return {};
}

/// The first class at which the sum of exp(input) passes a uniform share of the whole.
Status evaluate_multinomial(EvaluateContext& context) {
  HET_ASSIGN(const std::vector<double> logits, to_double_vector(context.input(0)));
  const auto classes = static_cast<size_t>(context.input(0).shape()[1]);
  const auto samples = static_cast<size_t>(context.output(0).shape()[1]);
  size_t drawn = 0;
  std::vector<double> sums(classes);
  return fill(context, [&](RandomSequence& random) {
    const double* row = logits.data() + drawn / samples * classes;
    if (drawn++ % samples == 0) {
      const double peak = *std::max_element(row, row + classes);
      double sum = 0;
      for (size_t i = 0; i < classes; ++i) sums[i] = sum += std::exp(row[i] - peak);
    }
    const auto at = std::upper_bound(sums.begin(), sums.end(), random.uniform() * sums.back());
    return static_cast<double>(
        std::min<int64_t>(at - sums.begin(), static_cast<int64_t>(classes) - 1));
  });
}

}  // namespace

HET_REGISTRATION void register_random(OpRegistry& registry) {
  registry.add({"RandomNormal", "", 22, 0, 0, infer_random, evaluate_random_normal});
  registry.add({"RandomUniform", "", 22, 0, 0, infer_random, evaluate_random_uniform});
  registry.add({"RandomNormalLike", "", 22, 1, 1, infer_random_like, evaluate_random_normal});
  registry.add({"RandomUniformLike", "", 22, 1, 1, infer_random_like, evaluate_random_uniform});
  registry.add({"Bernoulli", "", 22, 1, 1, infer_bernoulli, evaluate_bernoulli});
  registry.add({"Multinomial", "", 22, 1, 1, infer_multinomial, evaluate_multinomial});
}

}  // namespace het
