#include "tests/oracle/random_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "inference/ops/double_values.h"
#include "tests/oracle/special_values.h"

namespace het::oracle {
namespace {

/// The call's node and its operands, added to a model. `through` may add nodes behind an input.
template <class Through>
Node* add_call(const RandomCase& random_case, BuiltModel& built, Through through) {
  const Call& call = random_case.call;
  std::vector<Value*> values;
  bool some_input = false;
  for (const Argument& argument : call.inputs) {
    some_input = some_input || (!argument.content.empty() && !argument.constant);
  }
  for (const Argument& argument : call.inputs) {
    const std::string name = "x" + std::to_string(values.size());
    if (argument.content.empty()) {
      values.push_back(nullptr);
    } else if (argument.constant && some_input) {
      values.push_back(built.model.add_constant(name, *argument.content.clone()));
    } else {
      // A model of constants only would be folded: their first becomes an input.
      some_input = true;
      Value* input = built.model.add_input(name, argument.content.desc());
      built.inputs.push_back(*argument.content.clone());
      values.push_back(through(input, argument.content));
    }
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < call.outputs; ++i) names.push_back("y" + std::to_string(i));
  return built.model.add_node("node", std::string(random_case.generator.type),
                              std::string(random_case.generator.domain), values, names,
                              call.attributes);
}

/// Adds nodes of float32 around the one that is tried.
class Surroundings {
 public:
  Surroundings(BuiltModel& built, uint64_t seed) : built_(built), random_(seed) {}

  Value* before(Value* value, const Tensor& content) {
    const TensorDesc& desc = value->desc();
    if (desc.type != ElementType::Float32 || random_() % 4 == 0) return value;
    if (is_picture(desc.shape) && random_() % 4 != 0) {
      return unchanging_conv(value, desc.shape[1], is_finite(content) ? 1 : desc.shape[1]);
    }
    return op("Neg", {op("Neg", {value})});
  }

  Value* after(Value* value, const Shape& shape) {
    for (uint64_t nodes = random_() % 3; nodes > 0; --nodes) value = one_after(value, shape);
    return value;
  }

 private:
  /// What a convolution takes, and small enough to give it one.
  static bool is_picture(const Shape& shape) {
    return shape.size() == 4 && shape[1] <= 64 &&
           std::all_of(shape.begin(), shape.end(), [](int64_t d) { return d > 0; });
  }

  Value* op(const std::string& type, std::vector<Value*> inputs, Attributes attributes = {}) {
    const std::string name = "around" + std::to_string(nodes_++);
    return built_.model.add_node(name, type, "", std::move(inputs), {name}, std::move(attributes))
        ->output();
  }
  Value* constant(Tensor content) { return built_.model.add_constant("c", std::move(content)); }
  Value* scalar(float value) { return constant(Tensor::scalar(value)); }
  static Tensor ramp(const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = 0.25f * static_cast<float>(i % 7) - 0.5f;
    return Tensor::from<float>(shape, std::span<const float>(values));
  }

  static bool is_finite(const Tensor& content) {
    const std::vector<double> values = *to_double_vector(content);
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  }

  /// Products with 1 and 0 only: exact for finite values, in any order of summation. With as many
  /// groups as channels there are products with 1 only: exact for all.
  Value* unchanging_conv(Value* value, int64_t channels, int64_t groups = 1) {
    const int64_t inputs = channels / groups;
    std::vector<float> weights(static_cast<size_t>(channels * inputs), 0.0f);
    for (int64_t i = 0; i < channels; ++i) {
      weights[static_cast<size_t>(i * inputs + i % inputs)] = 1.0f;
    }
    Attributes attributes;
    attributes.set("group", groups);
    return op("Conv",
              {value, constant(Tensor::from<float>({channels, inputs, 1, 1},
                                                   std::span<const float>(weights)))},
              attributes);
  }

  Value* one_after(Value* value, const Shape& shape) {
    const bool picture = is_picture(shape);
    switch (random_() % (picture ? 9 : 6)) {
      case 0:
        return op("Relu", {value});
      case 1:
        return op("Mul", {value, op("Sigmoid", {value})});
      case 2:
        return op("Clip", {value, scalar(-0.75f), scalar(1.5f)});
      case 3: {
        Attributes attributes;
        attributes.set("alpha", 0.25f);
        return op("LeakyRelu", {value}, attributes);
      }
      case 4:
        return op("Mul", {value, scalar(0.5f)});
      case 5: {
        Value* other = built_.model.add_input("residual", {ElementType::Float32, shape});
        built_.inputs.push_back(ramp(shape));
        return op("Add", {value, other});
      }
      case 6:
        return op("Add", {value, constant(ramp({1, shape[1], 1, 1}))});
      case 7:
        return op("Mul", {value, constant(ramp({shape[1], 1, 1}))});
      default:
        return unchanging_conv(value, shape[1]);
    }
  }

  BuiltModel& built_;
  std::mt19937_64 random_;
  int nodes_ = 0;
};

/// Content of a small tensor, for people.
std::string content_text(const Tensor& tensor) {
  constexpr int64_t kMost = 24;
  std::ostringstream text;
  const auto values = to_double_vector(tensor);
  if (!values || tensor.element_count() > kMost) return "";
  for (const double value : *values) text << (text.tellp() > 0 ? "," : " {") << value;
  return text.str() + (text.str().empty() ? "" : "}");
}

std::string attribute_text(const Attribute& attribute) {
  std::ostringstream text;
  std::visit(
      [&]<class T>(const T& value) {
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
          text << value;
        } else if constexpr (std::is_same_v<T, Tensor>) {
          text << to_string(value.desc());
        } else if constexpr (std::is_same_v<T, std::shared_ptr<Model>>) {
          text << "a body of " << value->nodes().size() << " nodes";
        } else {
          for (const auto& item : value) text << (text.tellp() > 0 ? "," : "") << item;
        }
      },
      attribute);
  return text.str();
}

}  // namespace

RandomCase::RandomCase(const Generator& used, Choices drawn)
    : generator(used), choices(std::move(drawn)) {
  Draw draw(generator, choices);
  generator.make(draw);
  call = draw.call();
  for (const Argument& argument : call.inputs) {
    has_zero_size =
        has_zero_size || (!argument.content.empty() && argument.content.element_count() == 0);
  }
  embedding_ = static_cast<uint64_t>(choices.below(1 << 16));
  threads = choices.below(4) == 3 ? 2 : 1;
}

BuiltModel RandomCase::plain() const {
  BuiltModel built;
  const Node* node = add_call(*this, built, [](Value* value, const Tensor&) { return value; });
  for (Value* output : node->outputs()) built.model.add_output(output->name(), output);
  return built;
}

BuiltModel RandomCase::embedded(const std::vector<Tensor>& outputs) const {
  BuiltModel built;
  Surroundings around(built, embedding_);
  const Node* node = add_call(*this, built, [&](Value* value, const Tensor& content) {
    return around.before(value, content);
  });
  for (size_t i = 0; i < outputs.size(); ++i) {
    Value* value = node->output(i);
    if (outputs[i].type() == ElementType::Float32) value = around.after(value, outputs[i].shape());
    built.model.add_output("z" + std::to_string(i), value);
  }
  return built;
}

std::optional<RandomCase> RandomCase::without_subnormals() const {
  RandomCase changed = *this;
  bool some = false;
  for (Argument& argument : changed.call.inputs) {
    if (argument.content.empty() || !is_float(argument.content.type())) continue;
    Tensor flushed = oracle::without_subnormals(argument.content);
    some =
        some || std::memcmp(flushed.bytes(), argument.content.bytes(), flushed.size_bytes()) != 0;
    argument.content = std::move(flushed);
  }
  return some ? std::optional(std::move(changed)) : std::nullopt;
}

std::string RandomCase::describe() const {
  std::ostringstream text;
  text << (generator.domain.empty() ? "" : std::string(generator.domain) + ".") << generator.type;
  for (const Argument& argument : call.inputs) {
    text << "\n    ";
    if (argument.content.empty()) {
      text << "-";
      continue;
    }
    text << to_string(argument.content.desc()) << (argument.constant ? " constant" : "")
         << content_text(argument.content);
  }
  for (const auto& [name, value] : call.attributes) {
    text << "\n    " << name << " = " << attribute_text(value);
  }
  return text.str();
}

std::vector<Choices> smaller(const Choices& choices) {
  std::vector<Choices> list;
  const std::vector<uint32_t>& taken = choices.taken();
  const auto add = [&](size_t position, uint32_t value) {
    std::vector<uint32_t> changed = taken;
    changed[position] = value;
    list.emplace_back(choices.seed(), std::move(changed));
  };
  for (size_t i = 0; i < taken.size(); ++i) {
    if (taken[i] > 0) add(i, 0);
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    if (taken[i] > 1) add(i, taken[i] / 2);
    if (taken[i] > 2) add(i, taken[i] - 1);
  }
  return list;
}

}  // namespace het::oracle
