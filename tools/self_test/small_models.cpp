#include "tools/self_test/small_models.h"

#include <cstdint>
#include <numeric>
#include <utility>

namespace het::self_test {
namespace {

/// Numbers that half holds exactly: multiples of 1/64 from -1 to 1.
class TestNumbers {
 public:
  float next() { return static_cast<float>(static_cast<int>(step() % 129) - 64) / 64.0f; }
  uint64_t step() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }

 private:
  uint64_t state_ = 45;
};

/// Makes one small model; tensors get their content from `numbers`.
class SmallModelBuilder {
 public:
  SmallModelBuilder(std::string name, TestNumbers& numbers) : numbers_(numbers) {
    made_.name = name;
    made_.model = std::make_unique<Model>(std::move(name));
  }

  template <class T = float>
  Tensor tensor(const Shape& shape) {
    std::vector<T> values(static_cast<size_t>(element_count(shape)));
    for (T& value : values) value = T(numbers_.next());
    return Tensor::from<T>(shape, values);
  }
  Value* input(Tensor content) {
    Value* const value =
        made_.model->add_input("x" + std::to_string(made_.inputs.size()), content.desc());
    made_.inputs.push_back(std::move(content));
    return value;
  }
  Value* constant(Tensor content) { return made_.model->add_constant("w", std::move(content)); }
  Value* node(const char* type, std::vector<Value*> inputs, Attributes attributes = {},
              size_t output = 0, size_t outputs = 1) {
    std::vector<std::string> names(outputs, "y");
    return made_.model
        ->add_node(type, type, "", std::move(inputs), std::move(names), std::move(attributes))
        ->output(output);
  }
  SmallModel done(std::vector<Value*> outputs) {
    for (Value* output : outputs) {
      made_.model->add_output("out" + std::to_string(made_.model->outputs().size()), output);
    }
    return std::move(made_);
  }
  SmallModel done_rounding(Value* output) {
    made_.rounds = true;
    return done({output});
  }

 private:
  SmallModel made_;
  TestNumbers& numbers_;
};

using Ints = std::vector<int64_t>;

Attributes attributes(std::initializer_list<std::pair<const char*, Attribute>> values) {
  Attributes all;
  for (const auto& [name, value] : values) all.set(name, value);
  return all;
}

struct ConvolutionCase {
  const char* name;
  Shape source;
  Shape weights;
  int64_t group = 1;
  int64_t stride = 1;
  int64_t pad = 0;
};

template <class T = float>
SmallModel convolution(TestNumbers& numbers, const ConvolutionCase& wanted) {
  SmallModelBuilder b(wanted.name, numbers);
  Value* const x = b.input(b.tensor<T>(wanted.source));
  Value* const w = b.constant(b.tensor<T>(wanted.weights));
  Value* const bias = b.constant(b.tensor<T>({wanted.weights[0]}));
  Value* const y = b.node("Conv", {x, w, bias},
                          attributes({{"group", wanted.group},
                                      {"strides", Ints(2, wanted.stride)},
                                      {"pads", Ints(4, wanted.pad)}}));
  return b.done({b.node("Relu", {y})});
}

SmallModel transposed(TestNumbers& numbers) {
  SmallModelBuilder b("transposed convolution 4x4", numbers);
  Value* const x = b.input(b.tensor({1, 12, 7, 9}));
  Value* const w = b.constant(b.tensor({12, 8, 4, 4}));
  return b.done({b.node("ConvTranspose", {x, w},
                        attributes({{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}))});
}

SmallModel product_with_weights(TestNumbers& numbers) {
  SmallModelBuilder b("matrix product with weights", numbers);
  Value* const x = b.input(b.tensor({2, 19, 64}));
  Value* const product = b.node("MatMul", {x, b.constant(b.tensor({64, 48}))});
  return b.done({b.node("Add", {product, b.constant(b.tensor({48}))})});
}

SmallModel product_of_inputs(TestNumbers& numbers) {
  SmallModelBuilder b("matrix product of two inputs", numbers);
  Value* const x = b.input(b.tensor({2, 3, 17, 32}));
  return b.done({b.node("MatMul", {x, b.input(b.tensor({2, 3, 32, 17}))})});
}

SmallModel pooling(TestNumbers& numbers) {
  SmallModelBuilder b("pooling", numbers);
  Value* const x = b.input(b.tensor({1, 12, 15, 17}));
  Value* const most = b.node(
      "MaxPool", {x},
      attributes(
          {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}));
  Value* const mean = b.node("AveragePool", {x}, attributes({{"kernel_shape", Ints{2, 2}}}));
  return b.done({most, mean, b.node("GlobalAveragePool", {x})});
}

SmallModel softmax(TestNumbers& numbers) {
  SmallModelBuilder b("softmax", numbers);
  Value* const x = b.input(b.tensor({2, 5, 37}));
  return b.done({b.node("Softmax", {x}, attributes({{"axis", int64_t{-1}}}))});
}

SmallModel layer_normalisation(TestNumbers& numbers) {
  SmallModelBuilder b("layer normalisation", numbers);
  Value* const x = b.input(b.tensor({2, 9, 64}));
  Value* const scale = b.constant(b.tensor({64}));
  Value* const bias = b.constant(b.tensor({64}));
  return b.done(
      {b.node("LayerNormalization", {x, scale, bias}, attributes({{"axis", int64_t{-1}}}))});
}

SmallModel resize(TestNumbers& numbers) {
  SmallModelBuilder b("resize", numbers);
  Value* const x = b.input(b.tensor({1, 6, 9, 7}));
  Value* const scales = b.constant(Tensor::from<float>({4}, {1.0f, 1.0f, 2.0f, 2.0f}));
  Value* const linear =
      b.node("Resize", {x, nullptr, scales}, attributes({{"mode", std::string("linear")}}));
  Value* const nearest =
      b.node("Resize", {x, nullptr, scales},
             attributes({{"mode", std::string("nearest")},
                         {"coordinate_transformation_mode", std::string("asymmetric")},
                         {"nearest_mode", std::string("floor")}}));
  return b.done({linear, nearest});
}

SmallModel activations(TestNumbers& numbers) {
  SmallModelBuilder b("activations and moves", numbers);
  Value* const x = b.input(b.tensor({1, 8, 9, 10}));
  Value* const swish = b.node("Mul", {x, b.node("Sigmoid", {x})});
  Value* const joined = b.node("Concat", {swish, b.node("Tanh", {x}), b.node("Erf", {x})},
                               attributes({{"axis", int64_t{1}}}));
  return b.done({b.node("Transpose", {joined}, attributes({{"perm", Ints{0, 2, 3, 1}}})),
                 b.node("ReduceMean", {joined, b.constant(Tensor::from<int64_t>({1}, {3}))})});
}

SmallModel non_maximum_suppression(TestNumbers& numbers) {
  SmallModelBuilder b("NMS", numbers);
  constexpr int64_t kBoxes = 48;
  std::vector<float> boxes;
  std::vector<float> scores;
  for (int64_t i = 0; i < kBoxes; ++i) {
    const float top = static_cast<float>(numbers.step() % 41);
    const float left = static_cast<float>(numbers.step() % 37);
    boxes.insert(boxes.end(), {top, left, top + 11.0f + static_cast<float>(numbers.step() % 13),
                               left + 9.0f + static_cast<float>(numbers.step() % 17)});
    // No two alike: 29 has no common divisor with 48.
    scores.push_back(static_cast<float>((i * 29) % kBoxes) / 64.0f);
  }
  Value* const x = b.input(Tensor::from<float>({1, kBoxes, 4}, boxes));
  Value* const y = b.input(Tensor::from<float>({1, 1, kBoxes}, scores));
  Value* const most = b.constant(Tensor::from<int64_t>({1}, {20}));
  Value* const overlap = b.constant(Tensor::from<float>({1}, {0.4137f}));
  Value* const score = b.constant(Tensor::from<float>({1}, {0.1f}));
  return b.done({b.node("NonMaxSuppression", {x, y, most, overlap, score})});
}

SmallModel top_k(TestNumbers& numbers) {
  SmallModelBuilder b("TopK", numbers);
  std::vector<float> values(3 * 101);
  // No two of a row alike.
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((i % 101) * 37 % 101) / 64.0f - 0.5f;
  }
  Value* const x = b.input(Tensor::from<float>({3, 101}, values));
  Value* const k = b.constant(Tensor::from<int64_t>({1}, {7}));
  Value* const largest = b.node("TopK", {x, k}, {}, 0, 2);
  return b.done({largest, largest->producer()->output(1)});
}

/// A convolution of bytes, as quantised models have it: levels in, levels out.
SmallModel int8_convolution(TestNumbers& numbers) {
  SmallModelBuilder b("int8 convolution", numbers);
  const auto scale = [&](float value) { return b.constant(Tensor::scalar<float>(value)); };
  Value* const zero = b.constant(Tensor::scalar<uint8_t>(128));
  Value* const x = b.input(b.tensor({1, 16, 12, 11}));
  Value* const levels = b.node("QuantizeLinear", {x, scale(1.0f / 64.0f), zero});
  Value* const from = b.node("DequantizeLinear", {levels, scale(1.0f / 64.0f), zero});
  std::vector<int8_t> bytes(24 * 16 * 3 * 3);
  for (int8_t& byte : bytes)
    byte = static_cast<int8_t>(static_cast<int>(numbers.step() % 255) - 127);
  Value* const w = b.constant(Tensor::from<int8_t>({24, 16, 3, 3}, bytes));
  Value* const weights =
      b.node("DequantizeLinear", {w, scale(1.0f / 128.0f), b.constant(Tensor::scalar<int8_t>(0))});
  Value* const y = b.node("Conv", {from, weights}, attributes({{"pads", Ints{1, 1, 1, 1}}}));
  return b.done_rounding(b.node("QuantizeLinear", {y, scale(0.21f), zero}));
}

}  // namespace

std::vector<SmallModel> small_models() {
  TestNumbers numbers;
  std::vector<SmallModel> models;
  models.push_back(convolution(numbers, {"convolution 1x1", {1, 24, 9, 11}, {40, 24, 1, 1}}));
  models.push_back(
      convolution(numbers, {"convolution 3x3", {1, 16, 13, 17}, {24, 16, 3, 3}, 1, 1, 1}));
  models.push_back(
      convolution(numbers, {"convolution 7x7, strided", {1, 3, 30, 33}, {16, 3, 7, 7}, 1, 2, 3}));
  models.push_back(convolution(
      numbers, {"convolution 3x3, depthwise", {1, 24, 14, 10}, {24, 1, 3, 3}, 24, 1, 1}));
  models.push_back(
      convolution(numbers, {"convolution 3x3, grouped", {2, 16, 10, 9}, {24, 4, 3, 3}, 4, 1, 1}));
  models.push_back(transposed(numbers));
  models.push_back(product_with_weights(numbers));
  models.push_back(product_of_inputs(numbers));
  models.push_back(pooling(numbers));
  models.push_back(softmax(numbers));
  models.push_back(layer_normalisation(numbers));
  models.push_back(resize(numbers));
  models.push_back(activations(numbers));
  models.push_back(non_maximum_suppression(numbers));
  models.push_back(top_k(numbers));
  models.push_back(int8_convolution(numbers));
  models.push_back(convolution<Float16>(
      numbers, {"float16 convolution", {1, 16, 11, 9}, {24, 16, 3, 3}, 1, 1, 1}));
  return models;
}

}  // namespace het::self_test
