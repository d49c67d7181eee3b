#include "tests/oracle/random_graph.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "inference/ops/double_values.h"
#include "inference/ops/op.h"

namespace het::oracle {
namespace {

/// Operators without steps: a small change of an input makes a small change of the output. Others
/// (comparisons, roundings, orders) read exact values only.
const std::set<std::string_view> kSmooth = {"Abs",
                                            "Add",
                                            "Asinh",
                                            "Atan",
                                            "AveragePool",
                                            "BatchNormalization",
                                            "CastLike",
                                            "Celu",
                                            "CenterCropPad",
                                            "Clip",
                                            "Compress",
                                            "Concat",
                                            "Conv",
                                            "ConvTranspose",
                                            "Cos",
                                            "Cosh",
                                            "CumSum",
                                            "DepthToSpace",
                                            "Div",
                                            "Dropout",
                                            "Einsum",
                                            "Elu",
                                            "Erf",
                                            "Exp",
                                            "Expand",
                                            "Flatten",
                                            "GRU",
                                            "Gather",
                                            "GatherElements",
                                            "GatherND",
                                            "Gelu",
                                            "Gemm",
                                            "GlobalAveragePool",
                                            "GlobalLpPool",
                                            "GlobalMaxPool",
                                            "GroupNormalization",
                                            "HardSigmoid",
                                            "HardSwish",
                                            "Identity",
                                            "InstanceNormalization",
                                            "LRN",
                                            "LSTM",
                                            "LayerNormalization",
                                            "LeakyRelu",
                                            "Log",
                                            "LogSoftmax",
                                            "LpNormalization",
                                            "LpPool",
                                            "MatMul",
                                            "Max",
                                            "MaxPool",
                                            "Mean",
                                            "MeanVarianceNormalization",
                                            "Min",
                                            "Mish",
                                            "Mul",
                                            "Neg",
                                            "PRelu",
                                            "Pad",
                                            "Pow",
                                            "RMSNormalization",
                                            "RNN",
                                            "Reciprocal",
                                            "ReduceL1",
                                            "ReduceL2",
                                            "ReduceLogSum",
                                            "ReduceLogSumExp",
                                            "ReduceMax",
                                            "ReduceMean",
                                            "ReduceMin",
                                            "ReduceProd",
                                            "ReduceSum",
                                            "ReduceSumSquare",
                                            "Relu",
                                            "Reshape",
                                            "Resize",
                                            "ReverseSequence",
                                            "Selu",
                                            "Sigmoid",
                                            "Sin",
                                            "Sinh",
                                            "Slice",
                                            "Softmax",
                                            "Softplus",
                                            "Softsign",
                                            "SpaceToDepth",
                                            "Split",
                                            "Sqrt",
                                            "Squeeze",
                                            "Sub",
                                            "Sum",
                                            "Swish",
                                            "Tanh",
                                            "Tile",
                                            "Transpose",
                                            "Trilu",
                                            "Unsqueeze",
                                            "Where"};

/// Of them those that choose or move values, without any arithmetic.
const std::set<std::string_view> kMoving = {"Abs",
                                            "CenterCropPad",
                                            "Clip",
                                            "Compress",
                                            "Concat",
                                            "DepthToSpace",
                                            "Dropout",
                                            "Expand",
                                            "Flatten",
                                            "Gather",
                                            "GatherElements",
                                            "GatherND",
                                            "GlobalMaxPool",
                                            "Identity",
                                            "Max",
                                            "MaxPool",
                                            "Min",
                                            "Neg",
                                            "Pad",
                                            "ReduceMax",
                                            "ReduceMin",
                                            "Relu",
                                            "Reshape",
                                            "ReverseSequence",
                                            "Slice",
                                            "SpaceToDepth",
                                            "Split",
                                            "Squeeze",
                                            "Tile",
                                            "Transpose",
                                            "Trilu",
                                            "Unsqueeze",
                                            "Where"};

/// Whose first input is no tensor of data, so that only what the generator draws fits; those that
/// give something else every time; and Det, whose error is one of its terms', not of their sum.
const std::set<std::string_view> kLeftOut = {"Bernoulli",          "EyeLike",
                                             "Multinomial",        "RandomNormal",
                                             "RandomNormalLike",   "RandomUniform",
                                             "RandomUniformLike",  "Range",
                                             "ReadValue",          "Assign",
                                             "ImageDecoder",       "Optional",
                                             "OptionalGetElement", "OptionalHasElement",
                                             "SequenceAt",         "SequenceConstruct",
                                             "SequenceEmpty",      "SequenceErase",
                                             "SequenceInsert",     "SequenceLength",
                                             "SequenceMap",        "SplitToSequence",
                                             "ConcatFromSequence", "Det"};

constexpr double kNoise = 1e-6;
constexpr double kLargest = 1e4;
constexpr int64_t kMostElements = 1 << 14;

bool is_data(ElementType type) {
  return type == ElementType::Float32 || type == ElementType::Bool ||
         (is_integer(type) && bit_width(type) >= 8);
}

struct Grown {
  Value* value;
  Tensor content;
  Tensor noisy;  ///< what it would be with errors on the way
  bool exact;    ///< no arithmetic of floats on the way
};

class Growth {
 public:
  Growth(uint64_t seed, BuiltModel& built, RandomGraph::Items items)
      : random_(seed * 0x9E3779B97F4A7C15u + 1),
        built_(built),
        apart_(items == RandomGraph::Items::Apart) {}

  void grow(int64_t nodes) {
    const std::vector<const Generator*> generators = all_generators();
    add_input(Tensor(), {1, between(1, 8), between(3, 9), between(3, 9)});
    add_input(Tensor(), {1, between(2, 24)});
    // Draws that do not fit cost nothing; there is an end all the same.
    const int64_t most = nodes * (apart_ ? 1000 : 60);
    for (int64_t tries = 0; tries < most && grown_ < nodes; ++tries) {
      const Generator& generator = *generators[random_() % generators.size()];
      const uint64_t seed = random_();
      if (kLeftOut.count(generator.type) == 0 && try_node(generator, seed)) ++grown_;
    }
  }

  /// What nobody reads, at most eight of them, and how far each may be off.
  std::vector<std::vector<double>> finish() {
    std::vector<std::vector<double>> slack;
    for (auto it = values_.rbegin(); it != values_.rend() && slack.size() < 8; ++it) {
      if (it->value->producer() == nullptr || !it->value->consumers().empty()) continue;
      built_.model.add_output("out" + std::to_string(slack.size()), it->value);
      const std::vector<double> clean = *to_double_vector(it->content);
      std::vector<double> distances = *to_double_vector(it->noisy);
      for (size_t i = 0; i < clean.size(); ++i) {
        distances[i] = it->exact ? 0.0 : std::abs(distances[i] - clean[i]);
      }
      slack.push_back(std::move(distances));
    }
    return slack;
  }

 private:
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

  Grown& add_input(Tensor content, const Shape& shape) {
    if (content.empty()) {
      std::vector<float> numbers(static_cast<size_t>(element_count(shape)));
      for (float& number : numbers) number = static_cast<float>(between(-64, 64)) / 16.0f;
      content = Tensor::from<float>(shape, std::span<const float>(numbers));
    }
    Value* value =
        built_.model.add_input("in" + std::to_string(built_.inputs.size()), content.desc());
    built_.inputs.push_back(content);
    values_.push_back({value, content, content, true});
    return values_.back();
  }

  /// One node like those that movers below are made of; exact.
  Grown moved(const Grown& from, const std::string& type, std::vector<Tensor> lists) {
    std::vector<Value*> inputs{from.value};
    std::vector<const Tensor*> contents{&from.content};
    std::vector<const Tensor*> noisy{&from.noisy};
    for (const Tensor& list : lists) {
      inputs.push_back(built_.model.add_constant("list", list));
      contents.push_back(&list);
      noisy.push_back(&list);
    }
    const std::string name = "fit" + std::to_string(fits_++);
    Node* node = built_.model.add_node(name, type, "", inputs, {name}, {});
    return {node->output(), (*evaluate_node(*node, contents))[0], (*evaluate_node(*node, noisy))[0],
            from.exact};
  }

  static Tensor list(const Ints& values) { return Draw::list(ElementType::Int64, values); }

  /// The value cut or repeated to a shape; apart, that is done to each item.
  Grown fitted(const Grown& from, const Shape& shape) {
    if (from.content.shape() == shape) return from;
    const int64_t needed = element_count(shape);
    const int64_t axis = apart_ ? 1 : 0;
    Grown flat = moved(from, "Reshape", {list(apart_ ? Ints{0, -1} : Ints{-1})});
    const int64_t given = flat.content.element_count();
    if (given < needed) {
      Ints repeats(static_cast<size_t>(axis + 1), 1);
      repeats.back() = (needed + given - 1) / given;
      flat = moved(flat, "Tile", {list(repeats)});
    }
    if (flat.content.element_count() > needed) {
      flat = moved(flat, "Slice", {list({0}), list({needed}), list({axis})});
    }
    Ints sizes(shape.begin(), shape.end());
    if (apart_) sizes[0] = 0;
    return moved(flat, "Reshape", {list(sizes)});
  }

  /// A value that an input may read; null for none.
  const Grown* source(const Tensor& wanted, bool smooth) {
    std::vector<const Grown*> same, others;
    for (const Grown& grown : values_) {
      if (grown.content.type() != ElementType::Float32 || grown.content.element_count() == 0)
        continue;
      if (!grown.exact && !smooth) continue;
      (grown.content.shape() == wanted.shape() ? same : others).push_back(&grown);
    }
    const std::vector<const Grown*>& from = !same.empty() && random_() % 4 != 0 ? same : others;
    if (from.empty()) return nullptr;
    // Late values more often: long chains.
    const size_t back = std::min<size_t>(random_() % from.size(), random_() % from.size());
    return from[from.size() - 1 - back];
  }

  bool reads_values(const Call& call, size_t index, bool smooth) {
    const Argument& argument = call.inputs[index];
    if (argument.content.empty() || argument.content.type() != ElementType::Float32 ||
        argument.content.element_count() == 0) {
      return false;
    }
    const bool is_like_first = argument.content.shape() == call.inputs[0].content.shape();
    return (index == 0 || (smooth && !argument.constant && is_like_first)) && random_() % 8 != 0;
  }

  /// Draws a call, tries it on what there is, and adds it where all of its results are numbers that
  /// errors change little.
  bool try_node(const Generator& generator, uint64_t seed) {
    Choices choices(seed);
    Draw draw(generator, choices);
    generator.make(draw);
    const Call& call = draw.call();
    if (call.inputs.empty()) return false;
    for (const Argument& argument : call.inputs) {
      if (argument.content.empty()) continue;
      if (!is_data(argument.content.type())) return false;
      if (argument.content.type() != ElementType::Float32) continue;
      const std::vector<double> values = *to_double_vector(argument.content);
      // Special values are the single cases' matter; 0 in the place of a subnormal number may be a
      // step for an operator.
      const auto is_ordinary = [](double v) {
        return std::isfinite(v) && (v == 0 || std::abs(v) > 1e-30);
      };
      if (!std::ranges::all_of(values, is_ordinary)) return false;
    }
    const bool is_smooth = generator.domain.empty() && kSmooth.count(generator.type) > 0;
    std::vector<const Grown*> sources(call.inputs.size(), nullptr);
    bool some = false;
    bool exact = true;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (!reads_values(call, i, is_smooth)) continue;
      sources[i] = source(call.inputs[i].content, is_smooth);
      if (sources[i] == nullptr) continue;
      if (apart_ && !is_one_item(call.inputs[i].content)) return false;
      some = true;
      exact = exact && sources[i]->exact;
    }
    if (!some && (apart_ || random_() % 8 != 0)) return false;

    // Tried apart: what does not fit leaves nothing behind.
    BuiltModel scratch;
    Growth beside(0, scratch, apart_ ? RandomGraph::Items::Apart : RandomGraph::Items::Mixed);
    std::vector<Grown> operands(call.inputs.size());
    std::vector<Value*> inputs(call.inputs.size(), nullptr);
    std::vector<const Tensor*> contents(call.inputs.size(), nullptr);
    std::vector<const Tensor*> noisy(call.inputs.size(), nullptr);
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const Tensor& drawn = call.inputs[i].content;
      if (drawn.empty()) continue;
      if (sources[i] != nullptr) {
        Grown copy = *sources[i];
        copy.value = scratch.model.add_input("x" + std::to_string(i), copy.content.desc());
        operands[i] = beside.fitted(copy, drawn.shape());
      } else {
        operands[i] = {scratch.model.add_input("x" + std::to_string(i), drawn.desc()), drawn, drawn,
                       true};
      }
      inputs[i] = operands[i].value;
      contents[i] = &operands[i].content;
      noisy[i] = &operands[i].noisy;
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < call.outputs; ++i) names.push_back("y" + std::to_string(i));
    const Node& tried =
        *scratch.model.add_node("node", std::string(generator.type), std::string(generator.domain),
                                inputs, names, call.attributes);
    auto clean = evaluate_node(tried, contents);
    auto disturbed = evaluate_node(tried, noisy);
    if (!clean || !disturbed) return false;
    const bool moves = generator.domain.empty() && kMoving.count(generator.type) > 0;
    for (size_t i = 0; i < clean->size(); ++i) {
      if (!is_usable((*clean)[i], (*disturbed)[i])) return false;
      if (apart_ && !is_one_item((*clean)[i])) return false;
      if (!moves && (*clean)[i].type() == ElementType::Float32) disturb((*disturbed)[i]);
    }
    if (apart_ && !keeps_items_apart(tried, contents, sources, *clean)) return false;
    add(generator, call, sources, std::move(*clean), std::move(*disturbed), exact && moves);
    return true;
  }

  static bool is_one_item(const Tensor& content) {
    return !content.shape().empty() && content.shape()[0] == 1;
  }

  /// The values one place further on.
  static Tensor moved_on(const Tensor& content) {
    Tensor result = *content.clone();
    const std::span<float> values = result.values<float>();
    std::rotate(values.begin(), values.begin() + 1, values.end());
    return result;
  }

  /// Two items one behind the other in dimension 0, where they have 1.
  static Tensor pair_of(const Tensor& first, const Tensor& second) {
    Shape shape = first.shape();
    shape[0] = 2;
    Tensor both = *Tensor::allocate({first.type(), shape});
    std::copy_n(first.bytes(), first.size_bytes(), both.bytes());
    std::copy_n(second.bytes(), second.size_bytes(), both.bytes() + first.size_bytes());
    return both;
  }

  /// Whether the node gives for two items together what it gives for each alone.
  static bool keeps_items_apart(const Node& node, std::vector<const Tensor*> contents,
                                const std::vector<const Grown*>& sources,
                                const std::vector<Tensor>& first) {
    std::vector<Tensor> others(contents.size());
    std::vector<Tensor> pairs(contents.size());
    std::vector<const Tensor*> both = contents;
    for (size_t i = 0; i < contents.size(); ++i) {
      if (sources[i] == nullptr) continue;
      others[i] = moved_on(*contents[i]);
      pairs[i] = pair_of(*contents[i], others[i]);
      contents[i] = &others[i];
      both[i] = &pairs[i];
    }
    const auto second = evaluate_node(node, contents);
    const auto together = evaluate_node(node, both);
    if (!second || !together) return false;
    for (size_t i = 0; i < first.size(); ++i) {
      if ((*second)[i].desc() != first[i].desc()) return false;
      const Tensor wanted = pair_of(first[i], (*second)[i]);
      if ((*together)[i].desc() != wanted.desc()) return false;
      const std::vector<double> a = *to_double_vector((*together)[i]);
      const std::vector<double> b = *to_double_vector(wanted);
      for (size_t k = 0; k < a.size(); ++k) {
        if (!(std::abs(a[k] - b[k]) <= 1e-6 * (1 + std::abs(b[k])))) return false;
      }
    }
    return true;
  }

  static bool is_usable(const Tensor& clean, const Tensor& disturbed) {
    if (!is_data(clean.type()) || clean.desc() != disturbed.desc() ||
        clean.element_count() > kMostElements) {
      return false;
    }
    const std::vector<double> a = *to_double_vector(clean);
    const std::vector<double> b = *to_double_vector(disturbed);
    for (size_t i = 0; i < a.size(); ++i) {
      if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return false;
      if (clean.type() != ElementType::Float32) continue;
      if (std::abs(a[i]) > kLargest || std::abs(a[i] - b[i]) > 1e-3 * (1 + std::abs(a[i])))
        return false;
    }
    return true;
  }

  void disturb(Tensor& content) {
    for (float& value : content.values<float>()) {
      value += static_cast<float>((random_() % 2 == 0 ? kNoise : -kNoise) * (1 + std::abs(value)));
    }
  }

  void add(const Generator& generator, const Call& call, const std::vector<const Grown*>& sources,
           std::vector<Tensor> clean, std::vector<Tensor> disturbed, bool exact) {
    // Pointers into values_ end with its next growth.
    std::vector<std::optional<Grown>> read(sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] != nullptr) read[i] = *sources[i];
    }
    std::vector<Value*> inputs(call.inputs.size(), nullptr);
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const Argument& argument = call.inputs[i];
      if (argument.content.empty()) continue;
      if (read[i]) {
        inputs[i] = fitted(*read[i], argument.content.shape()).value;
      } else if (argument.constant || apart_ || random_() % 2 == 0) {
        inputs[i] = built_.model.add_constant("c", argument.content);
      } else {
        inputs[i] = add_input(argument.content, argument.content.shape()).value;
      }
    }
    const std::string name = std::string(generator.type) + std::to_string(grown_);
    std::vector<std::string> names;
    for (size_t i = 0; i < call.outputs; ++i) names.push_back(name + "_" + std::to_string(i));
    const Node& node =
        *built_.model.add_node(name, std::string(generator.type), std::string(generator.domain),
                               inputs, names, call.attributes);
    for (size_t i = 0; i < clean.size(); ++i) {
      const bool is_exact = exact || clean[i].type() != ElementType::Float32;
      values_.push_back({node.output(i), std::move(clean[i]), std::move(disturbed[i]), is_exact});
    }
  }

  std::mt19937_64 random_;
  BuiltModel& built_;
  bool apart_;
  std::vector<Grown> values_;
  int64_t grown_ = 0;
  int64_t fits_ = 0;
};

}  // namespace

RandomGraph::RandomGraph(uint64_t seed, int64_t nodes, Items items) {
  Growth growth(seed, built, items);
  growth.grow(nodes);
  slack = growth.finish();
}

}  // namespace het::oracle
