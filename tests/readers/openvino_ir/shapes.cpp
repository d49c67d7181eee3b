#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/openvino_ir/ir_file.h"

/// Shapes, slices and indices of IR, with values worked out by hand.
namespace het {
namespace {

using test::evaluate_file;
using test::evaluate_layer;
using test::evaluate_model;
using test::IrFile;
using test::IrPort;
using ::testing::ElementsAre;

/// 0, 1, 2 ... of a shape.
Tensor counted(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::from<float>(shape, values);
}

using Constants = std::function<std::vector<IrPort>(IrFile&)>;

std::vector<float> shaped(const std::string& type, const std::string& data, const Shape& from,
                          const Constants& constants, const Shape& to) {
  return evaluate_layer({type, "opset8", data}, counted(from), constants, to);
}

TEST(IrShapes, ReshapeTransposeSqueeze) {
  EXPECT_THAT(shaped("Reshape", "special_zero=\"true\"", {2, 3},
                     [](IrFile& f) {
                       return std::vector{f.integers({0, -1, 1})};
                     },
                     {2, 3, 1}),
              ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(shaped("Reshape", "special_zero=\"false\"", {0, 3},
                     [](IrFile& f) {
                       return std::vector{f.integers({3, 0})};
                     },
                     {3, 0}),
              ElementsAre());
  EXPECT_THAT(shaped("Transpose", "", {2, 3},
                     [](IrFile& f) {
                       return std::vector{f.integers({1, 0})};
                     },
                     {3, 2}),
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(
      shaped("Transpose", "", {2, 3},
             [](IrFile& f) { return std::vector{f.constant<int64_t>("i64", {0}, {})}; }, {3, 2}),
      ElementsAre(0, 3, 1, 4, 2, 5));
  // A scalar axis of type i32.
  EXPECT_THAT(
      shaped("Squeeze", "", {1, 2, 1},
             [](IrFile& f) { return std::vector{f.constant<int32_t>("i32", {}, {-1})}; }, {1, 2}),
      ElementsAre(0, 1));
  EXPECT_THAT(shaped("Squeeze", "", {1, 2, 1}, {}, {2}), ElementsAre(0, 1));
  EXPECT_THAT(shaped("Unsqueeze", "", {2},
                     [](IrFile& f) {
                       return std::vector{f.integers({0, 2})};
                     },
                     {1, 2, 1}),
              ElementsAre(0, 1));
}

TEST(IrShapes, Splits) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {5});
  const IrPort axis = file.integer(0);
  const IrPort parts =
      file.layer("VariadicSplit", "opset1", "", {x, axis, file.integers({1, -1, 2})},
                 {{"FP32", {1}}, {"FP32", {2}}, {"FP32", {2}}});
  for (size_t i = 0; i < 3; ++i) file.result({parts.layer, i});
  const auto out = evaluate_file(file, {counted({5})});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(0));
  EXPECT_THAT(*to_float_vector(out[1]), ElementsAre(1, 2));
  EXPECT_THAT(*to_float_vector(out[2]), ElementsAre(3, 4));
}

/// x [1,4,2] cut along axis 1 into what `lengths` makes; the dimension may be left open.
std::vector<Tensor> split_by(int64_t declared, int64_t axis,
                             const std::function<IrPort(IrFile&, IrPort)>& lengths) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {1, declared, 2});
  const IrPort parts =
      file.layer("VariadicSplit", "opset1", "", {x, file.integer(axis), lengths(file, x)},
                 {{"FP32", {1, -1, 2}}, {"FP32", {1, -1, 2}}});
  for (size_t i = 0; i < 2; ++i) file.result({parts.layer, i});
  auto model = file.read();
  EXPECT_TRUE(model) << model.error().message();
  if (!model) return {};
  EXPECT_TRUE((*model)->reshape({{"x", {1, 4, 2}}}).ok());
  return evaluate_model(**model, {counted({1, 4, 2})});
}

TEST(IrShapes, SplitsByComputedLengths) {
  // What torch.chunk becomes: half of the channels, rounded up, and the rest.
  const auto chunk = [](IrFile& f, IrPort x) {
    const IrPort shape = f.layer("ShapeOf", "opset3", "output_type=\"i64\"", {x}, {{"I64", {3}}});
    const IrPort size =
        f.layer("Gather", "opset8", "", {shape, f.integers({1}), f.integer(0)}, {{"I64", {1}}});
    const IrPort sum = f.layer("Add", "opset1", "", {size, f.integer(1)}, {{"I64", {1}}});
    const IrPort half = f.layer("Divide", "opset1", "", {sum, f.integer(2)}, {{"I64", {1}}});
    const IrPort floor = f.layer("Floor", "opset1", "", {half}, {{"I64", {1}}});
    return f.layer("Concat", "opset1", "axis=\"0\"", {floor, f.integers({-1})}, {{"I64", {2}}});
  };
  const auto listed = [](IrFile& f, IrPort) { return f.integers({-1, 3}); };
  for (const int64_t declared : {4, -1}) {
    for (const int64_t axis : {1, -2}) {
      const auto halves = split_by(declared, axis, chunk);
      ASSERT_EQ(halves.size(), 2u);
      EXPECT_THAT(*to_float_vector(halves[0]), ElementsAre(0, 1, 2, 3));
      EXPECT_THAT(*to_float_vector(halves[1]), ElementsAre(4, 5, 6, 7));
      const auto parts = split_by(declared, axis, listed);
      ASSERT_EQ(parts.size(), 2u);
      EXPECT_THAT(*to_float_vector(parts[0]), ElementsAre(0, 1));
      EXPECT_EQ(parts[1].shape(), (Shape{1, 3, 2}));
    }
  }
  IrFile twice;
  const IrPort x = twice.parameter("x", "f32", {4});
  const IrPort parts =
      twice.layer("VariadicSplit", "opset1", "", {x, twice.integer(0), twice.integers({-1, -1})},
                  {{"FP32", {2}}, {"FP32", {2}}});
  twice.result(parts);
  EXPECT_FALSE(twice.read());
}

TEST(IrShapes, ShapeOfAndRange) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {2, 3});
  file.result(file.layer("ShapeOf", "opset3", "output_type=\"i32\"", {x}, {{"I32", {2}}}));
  file.result(file.layer("Range", "opset4", "output_type=\"f32\"",
                         {file.integer(1), file.integer(7), file.integers({2})}, {{"FP32", {3}}}));
  const auto out = evaluate_file(file, {counted({2, 3})});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].type(), ElementType::Int32);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(2, 3));
  EXPECT_THAT(*to_float_vector(out[1]), ElementsAre(1, 3, 5));
}

TEST(IrShapes, BroadcastAndTile) {
  EXPECT_THAT(shaped("Broadcast", "mode=\"explicit\"", {2},
                     [](IrFile& f) {
                       return std::vector{f.integers({2, 3}), f.integers({0})};
                     },
                     {2, 3}),
              ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(shaped("Broadcast", "mode=\"bidirectional\"", {2, 1},
                     [](IrFile& f) {
                       return std::vector{f.integers({1, 2})};
                     },
                     {2, 2}),
              ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(
      shaped("Tile", "", {1, 2}, [](IrFile& f) { return std::vector{f.integers({2})}; }, {1, 4}),
      ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(shaped("Tile", "", {2},
                     [](IrFile& f) {
                       return std::vector{f.integers({2, 1})};
                     },
                     {2, 2}),
              ElementsAre(0, 1, 0, 1));
}

TEST(IrShapes, Eye) {
  IrFile file;
  file.result(file.layer("Eye", "opset9", "output_type=\"f32\"",
                         {file.integer(2), file.integer(3), file.integer(1)}, {{"FP32", {2, 3}}}));
  const auto out = evaluate_file(file, {});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(0, 1, 0, 0, 0, 1));
}

std::vector<float> strided(const std::string& masks, const Shape& from,
                           const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                           const std::vector<int64_t>& strides, const Shape& to) {
  return shaped(
      "StridedSlice", masks, from,
      [&](IrFile& f) {
        return std::vector{f.integers(begin), f.integers(end), f.integers(strides)};
      },
      to);
}

TEST(IrShapes, StridedSliceMasks) {
  EXPECT_THAT(strided("", {6}, {1}, {5}, {2}, {2}), ElementsAre(1, 3));
  EXPECT_THAT(strided("begin_mask=\"1\" end_mask=\"0\"", {6}, {4}, {2}, {1}, {2}),
              ElementsAre(0, 1));
  EXPECT_THAT(strided("begin_mask=\"0\" end_mask=\"1\"", {6}, {4}, {0}, {1}, {2}),
              ElementsAre(4, 5));
  EXPECT_THAT(strided("begin_mask=\"1\" end_mask=\"1\"", {4}, {0}, {0}, {-1}, {4}),
              ElementsAre(3, 2, 1, 0));
  // Row 1, without its dimension; negative places count from the end.
  EXPECT_THAT(strided("shrink_axis_mask=\"1,0\" begin_mask=\"0,1\" end_mask=\"0,1\"", {2, 3},
                      {-1, 0}, {0, 0}, {1, 1}, {3}),
              ElementsAre(3, 4, 5));
  EXPECT_THAT(strided("new_axis_mask=\"0,1,0\" end_mask=\"1,0,0\"", {2, 3}, {0, 9, 1}, {0, 9, 2},
                      {1, 1, 1}, {2, 1, 1}),
              ElementsAre(1, 4));
  // All dimensions up to the last, of which element 1.
  EXPECT_THAT(strided("ellipsis_mask=\"1,0\" shrink_axis_mask=\"0,1\"", {2, 2, 2}, {0, 1}, {0, 2},
                      {1, 1}, {2, 2}),
              ElementsAre(1, 3, 5, 7));
}

TEST(IrShapes, StridedSliceAtComputedPlaces) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {4});
  const IrPort begin = file.parameter("begin", "i64", {1});
  file.result(file.layer("StridedSlice", "opset1", "end_mask=\"1\"", {x, begin, file.integers({0})},
                         {{"FP32", {-1}}}));
  const auto out = evaluate_file(file, {counted({4}), Tensor::from<int64_t>({1}, {-2})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(2, 3));
}

TEST(IrShapes, SlicesAndPads) {
  EXPECT_THAT(
      shaped(
          "Slice", "", {2, 3},
          [](IrFile& f) {
            return std::vector{f.integers({2}), f.integers({0}), f.integers({-1}), f.integers({1})};
          },
          {2, 2}),
      ElementsAre(2, 1, 5, 4));
  const auto padded = [](const std::string& mode, bool value) {
    return shaped("Pad", "pad_mode=\"" + mode + "\"", {3},
                  [&](IrFile& f) {
                    std::vector<IrPort> inputs{f.integers({1}), f.integers({2})};
                    if (value) inputs.push_back(f.floats({}, {9}));
                    return inputs;
                  },
                  {6});
  };
  EXPECT_THAT(padded("constant", true), ElementsAre(9, 0, 1, 2, 9, 9));
  EXPECT_THAT(padded("constant", false), ElementsAre(0, 0, 1, 2, 0, 0));
  EXPECT_THAT(padded("edge", false), ElementsAre(0, 0, 1, 2, 2, 2));
  EXPECT_THAT(padded("reflect", false), ElementsAre(1, 0, 1, 2, 1, 0));
}

TEST(IrShapes, ReverseAndRoll) {
  EXPECT_THAT(shaped("Reverse", "mode=\"index\"", {2, 2},
                     [](IrFile& f) { return std::vector{f.integers({1})}; }, {2, 2}),
              ElementsAre(1, 0, 3, 2));
  EXPECT_THAT(shaped("Reverse", "mode=\"mask\"", {2, 2},
                     [](IrFile& f) {
                       return std::vector{f.constant<uint8_t>("boolean", {2}, {1, 0})};
                     },
                     {2, 2}),
              ElementsAre(2, 3, 0, 1));
  EXPECT_THAT(shaped("Roll", "", {2, 3},
                     [](IrFile& f) {
                       return std::vector{f.integers({1, -4}), f.integers({0, 1})};
                     },
                     {2, 3}),
              ElementsAre(4, 5, 3, 1, 2, 0));
  EXPECT_THAT(shaped("ReverseSequence", "batch_axis=\"0\" seq_axis=\"1\"", {2, 3},
                     [](IrFile& f) {
                       return std::vector{f.integers({2, 3})};
                     },
                     {2, 3}),
              ElementsAre(1, 0, 2, 5, 4, 3));
}

TEST(IrShapes, GatherWithBatches) {
  EXPECT_THAT(shaped("Gather", "batch_dims=\"0\"", {2, 3},
                     [](IrFile& f) {
                       return std::vector{f.integers({2, -1, 0}), f.integer(1)};
                     },
                     {2, 3}),
              ElementsAre(2, 2, 0, 5, 5, 3));
  // One index per row.
  EXPECT_THAT(shaped("Gather", "batch_dims=\"1\"", {2, 3},
                     [](IrFile& f) {
                       return std::vector{f.constant<int32_t>("i32", {2, 1}, {2, 0}), f.integer(1)};
                     },
                     {2, 1}),
              ElementsAre(2, 3));
  // data [2, 2, 3], axis 2 behind a dimension that is no batch: out[b, i, j] = data[b, i, index[b,
  // j]]
  EXPECT_THAT(
      shaped("Gather", "batch_dims=\"1\"", {2, 2, 3},
             [](IrFile& f) {
               return std::vector{f.constant<int64_t>("i64", {2, 2}, {0, 2, 1, 1}), f.integer(2)};
             },
             {2, 2, 2}),
      ElementsAre(0, 2, 3, 5, 7, 7, 10, 10));
}

TEST(IrShapes, GathersByTheOtherForms) {
  EXPECT_THAT(shaped("GatherElements", "axis=\"1\"", {2, 2},
                     [](IrFile& f) {
                       return std::vector{f.constant<int64_t>("i64", {2, 2}, {1, 1, 0, 1})};
                     },
                     {2, 2}),
              ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(shaped("GatherND", "batch_dims=\"1\"", {2, 3},
                     [](IrFile& f) {
                       return std::vector{f.constant<int32_t>("i32", {2, 1}, {2, 0})};
                     },
                     {2}),
              ElementsAre(2, 3));
}

TEST(IrShapes, Scatters) {
  EXPECT_THAT(shaped("ScatterUpdate", "", {3, 2},
                     [](IrFile& f) {
                       return std::vector{f.integers({2}), f.floats({1, 2}, {8, 9}), f.integer(0)};
                     },
                     {3, 2}),
              ElementsAre(0, 1, 2, 3, 8, 9));
  // Columns 2 and 0 of both rows.
  EXPECT_THAT(
      shaped("ScatterUpdate", "", {2, 3},
             [](IrFile& f) {
               return std::vector{f.integers({2, 0}), f.floats({2, 2}, {6, 7, 8, 9}), f.integer(1)};
             },
             {2, 3}),
      ElementsAre(7, 1, 6, 9, 4, 8));
  EXPECT_THAT(
      shaped("ScatterNDUpdate", "", {3},
             [](IrFile& f) {
               return std::vector{f.constant<int32_t>("i32", {1, 1}, {1}), f.floats({1}, {9})};
             },
             {3}),
      ElementsAre(0, 9, 2));
  EXPECT_THAT(shaped("ScatterElementsUpdate", "reduction=\"sum\" use_init_val=\"true\"", {1, 3},
                     [](IrFile& f) {
                       return std::vector{f.constant<int64_t>("i64", {1, 2}, {1, 1}),
                                          f.floats({1, 2}, {10, 20}), f.integer(1)};
                     },
                     {1, 3}),
              ElementsAre(0, 31, 2));
}

TEST(IrShapes, OneHot) {
  const auto out =
      evaluate_layer({"OneHot", "opset1", "axis=\"0\""}, Tensor::from<int64_t>({2}, {1, 0}),
                     [](IrFile& f) {
                       return std::vector{f.integer(2), f.floats({}, {5}), f.floats({}, {-1})};
                     },
                     {2, 2});
  EXPECT_THAT(out, ElementsAre(-1, 5, 5, -1));
}

TEST(IrShapes, EmbeddingBags) {
  const auto out = shaped(
      "EmbeddingBagPackedSum", "", {3, 2},
      [](IrFile& f) {
        return std::vector{f.constant<int64_t>("i64", {1, 2}, {2, 0}), f.floats({1, 2}, {1, 10})};
      },
      {1, 2});
  EXPECT_THAT(out, ElementsAre(4, 15));  // 1 * [4, 5] + 10 * [0, 1]
}

}  // namespace
}  // namespace het
