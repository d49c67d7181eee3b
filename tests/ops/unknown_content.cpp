#include "op_testing.h"

/// Operators whose output shape depends on an input's content, while that is not known: the type
/// and the rank must be, so that the rest of a model can be checked before it runs.
namespace het::op_testing {
namespace {

constexpr int64_t kAny = kUnknownDim;

struct UnknownCase {
  OpCall call;
  TensorDesc expected;
};

TensorDesc floats(Shape shape) {
  return {ElementType::Float32, std::move(shape)};
}

std::vector<UnknownCase> cases() {
  const Tensor x = make_ramp<float>({2, 3});
  const Tensor two = int64_tensor({1, 1});
  const Tensor one = int64_tensor({1});
  const Tensor number = Tensor::scalar(1.0f);
  return {
      {{"Reshape", {x, two}}, floats({kAny, kAny})},
      {{"Squeeze", {x, one}}, floats({kAny})},
      {{"Unsqueeze", {x, one}}, floats({kAny, kAny, kAny})},
      {{"Expand", {x, int64_tensor({1, 1, 1})}}, floats({kAny, kAny, kAny})},
      {{"Expand", {x, one}}, floats({kAny, kAny})},
      {{"Tile", {x, two}}, floats({kAny, kAny})},
      {{"Slice", {x, one, one}}, floats({kAny, kAny})},
      {{"Split", {x, two}, {}, 2}, floats({kAny, 3})},
      {{"Pad", {x, int64_tensor({0, 0, 0, 0})}}, floats({kAny, kAny})},
      {{"Resize", {x, Tensor(), make_ramp<float>({2}, 1)}}, floats({kAny, kAny})},
      {{"CenterCropPad", {x, one}, make_attributes({{"axes", Ints{1}}})}, floats({2, kAny})},
      {{"Compress", {x, make_tensor<bool>({1}, {1})}, make_attributes({{"axis", int64_t{0}}})},
       floats({kAny, 3})},
      {{"OneHot", {two, one, make_ramp<float>({2})}}, floats({2, kAny})},
      {{"ConstantOfShape", {two}}, floats({kAny, kAny})},
      {{"Range", {number, number, number}}, floats({kAny})},
      {{"HannWindow", {Tensor::scalar<int64_t>(4)}}, floats({kAny})},
      {{"AffineGrid", {make_ramp<float>({1, 2, 3}), int64_tensor({1, 1, 2, 2})}},
       floats({1, kAny, kAny, 2})},
      {{"Col2Im", {make_ramp<float>({1, 4, 4}), two, two}}, floats({1, kAny, kAny, kAny})},
      {{"NonZero", {x}}, {ElementType::Int64, {2, kAny}}},
      {{"Unique", {x}, make_attributes({{"axis", int64_t{1}}})}, floats({2, kAny})},
  };
}

TEST(UnknownContent, TypeAndRankAreInferred) {
  for (const UnknownCase& c : cases()) {
    SCOPED_TRACE(c.call.type);
    Model model;
    std::vector<Value*> values;
    std::vector<const TensorDesc*> descs;
    for (const Tensor& input : c.call.inputs) {
      values.push_back(input.empty() ? nullptr : model.add_input("", input.desc()));
      descs.push_back(input.empty() ? nullptr : &input.desc());
    }
    const Node* node = model.add_node("node", c.call.type, "", values,
                                      std::vector<std::string>(c.call.outputs), c.call.attributes);
    const auto inferred = infer_node(*node, descs, std::vector<const Tensor*>(descs.size()));
    ASSERT_TRUE(inferred) << inferred.error().message();
    EXPECT_EQ(to_string((*inferred)[0]), to_string(c.expected));
  }
}

}  // namespace
}  // namespace het::op_testing
