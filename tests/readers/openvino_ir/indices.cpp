#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/openvino_ir/ir_file.h"

/// Reading and writing by index, bags of table rows, and what moves elements, with values worked
/// out by hand.
namespace het {
namespace {

using test::evaluate_layer;
using test::IrFile;
using test::IrPort;
using ::testing::ElementsAre;
using ::testing::FloatNear;

Tensor index_row(const std::vector<float>& values) {
  return Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
}

std::vector<float> scattered(const std::string& data, const std::vector<float>& x) {
  // Updates 10 and 20 to place 1, 30 to place 3.
  return evaluate_layer(
      {"ScatterElementsUpdate", "opset12", data}, index_row(x),
      [](IrFile& f) {
        return std::vector{f.integers({1, 1, 3}), f.floats({3}, {10, 20, 30}), f.integer(0)};
      },
      {4});
}

TEST(IrIndices, ScatterWithAndWithoutInitialValues) {
  const std::vector<float> x{1, 2, 3, 4};
  EXPECT_THAT(scattered("reduction=\"sum\" use_init_val=\"true\"", x), ElementsAre(1, 32, 3, 34));
  EXPECT_THAT(scattered("reduction=\"sum\" use_init_val=\"false\"", x), ElementsAre(1, 30, 3, 30));
  EXPECT_THAT(scattered("reduction=\"prod\" use_init_val=\"false\"", x),
              ElementsAre(1, 200, 3, 30));
  EXPECT_THAT(scattered("reduction=\"min\" use_init_val=\"false\"", x), ElementsAre(1, 10, 3, 30));
  EXPECT_THAT(scattered("reduction=\"max\" use_init_val=\"true\"", {1, 99, 3, 4}),
              ElementsAre(1, 99, 3, 30));
  EXPECT_THAT(scattered("reduction=\"mean\" use_init_val=\"true\"", {1, 3, 3, 4}),
              ElementsAre(1, 11, 3, 17));
  EXPECT_THAT(scattered("reduction=\"mean\" use_init_val=\"false\"", x), ElementsAre(1, 15, 3, 30));
}

/// One layer of the vector {10, 20, 30, 40}, with indices 2, 0 of type T.
template <class T>
void expect_indices(const std::string& element_type) {
  const auto read_by = [&](const std::string& type, const std::string& data, bool has_axis) {
    return evaluate_layer({type, "opset8", data}, index_row({10, 20, 30, 40}),
                          [&](IrFile& f) {
                            std::vector<IrPort> inputs{f.constant<T>(element_type, {2}, {2, 0})};
                            if (has_axis) inputs.push_back(f.integer(0));
                            return inputs;
                          },
                          {2});
  };
  EXPECT_THAT(read_by("Gather", "", true), ElementsAre(30, 10)) << element_type;
  EXPECT_THAT(read_by("GatherElements", "axis=\"0\"", false), ElementsAre(30, 10));
  for (const char* type : {"ScatterElementsUpdate", "ScatterUpdate"}) {
    EXPECT_THAT(evaluate_layer({type, "opset3"}, index_row({10, 20, 30, 40}),
                               [&](IrFile& f) {
                                 return std::vector{f.constant<T>(element_type, {2}, {2, 0}),
                                                    f.floats({2}, {7, 8}), f.integer(0)};
                               },
                               {4}),
                ElementsAre(8, 20, 7, 40))
        << type << " " << element_type;
  }
  EXPECT_THAT(
      evaluate_layer({"EmbeddingBagPackedSum", "opset3"}, Tensor::from<float>({3, 1}, {1, 2, 3}),
                     [&](IrFile& f) {
                       return std::vector{f.constant<T>(element_type, {1, 2}, {2, 0})};
                     },
                     {1, 1}),
      ElementsAre(4));
}

TEST(IrIndices, OfEveryTypeOfIntegers) {
  expect_indices<int8_t>("i8");
  expect_indices<uint8_t>("u8");
  expect_indices<int16_t>("i16");
  expect_indices<uint16_t>("u16");
  expect_indices<int32_t>("i32");
  expect_indices<uint32_t>("u32");
  expect_indices<int64_t>("i64");
  expect_indices<uint64_t>("u64");
}

TEST(IrIndices, ScatterNdSubtracts) {
  EXPECT_THAT(
      evaluate_layer(
          {"ScatterNDUpdate", "opset15", "reduction=\"sub\""}, index_row({1, 2, 3}),
          [](IrFile& f) {
            return std::vector{f.constant<int64_t>("i64", {2, 1}, {2, 2}), f.floats({2}, {10, 20})};
          },
          {3}),
      ElementsAre(1, 2, -27));
}

TEST(IrIndices, SliceScatterWritesWhereSliceWouldRead) {
  const auto out =
      evaluate_layer({"SliceScatter", "opset15"}, Tensor::from<float>({2, 3}, {0, 0, 0, 0, 0, 0}),
                     [](IrFile& f) {
                       return std::vector{f.floats({2, 2}, {1, 2, 3, 4}), f.integers({2}),
                                          f.integers({-4}), f.integers({-2}), f.integers({1})};
                     },
                     {2, 3});
  EXPECT_THAT(out, ElementsAre(2, 0, 1, 4, 0, 3));
}

TEST(IrIndices, SearchSortedCountsWhatLiesBefore) {
  const auto found = [](const std::string& data) {
    return evaluate_layer(
        {"SearchSorted", "opset15", data}, index_row({1, 3, 3, 5}),
        [](IrFile& f) {
          return std::vector{f.floats({2, 2}, {0, 3, 4, 9})};
        },
        {2, 2}, nullptr, "I64");
  };
  EXPECT_THAT(found(""), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(found("right_mode=\"true\""), ElementsAre(0, 3, 3, 4));
}

TEST(IrIndices, OneHotIgnoresNegativeIndicesUnlessTold) {
  const auto hot = [](const std::string& data) {
    return evaluate_layer({"OneHot", "opset16", "axis=\"-1\" " + data},
                          Tensor::from<int64_t>({2}, {-1, 1}),
                          [](IrFile& f) {
                            return std::vector{f.integer(3), f.floats({}, {7}), f.floats({}, {0})};
                          },
                          {2, 3});
  };
  EXPECT_THAT(hot(""), ElementsAre(0, 0, 0, 0, 7, 0));
  EXPECT_THAT(hot("negative_indices_mode=\"normalize\""), ElementsAre(0, 0, 7, 0, 7, 0));
}

TEST(IrIndices, BagsOfRows) {
  const Tensor table = Tensor::from<float>({3, 2}, {1, 2, 10, 20, 100, 200});
  // Bags {0, 2}, {} and {1}.
  const auto bags = [&](const std::string& type, const std::string& opset, const std::string& data,
                        std::vector<float> weights) {
    return evaluate_layer(
        {type, opset, data}, table,
        [&](IrFile& f) {
          std::vector<IrPort> inputs{f.integers({0, 2, 1}), f.integers({0, 2, 2}), f.integer(1)};
          if (!weights.empty()) inputs.push_back(f.floats({3}, weights));
          return inputs;
        },
        {3, 2});
  };
  EXPECT_THAT(bags("EmbeddingBagOffsetsSum", "opset3", "", {}),
              ElementsAre(101, 202, 10, 20, 10, 20));
  EXPECT_THAT(bags("EmbeddingBagOffsetsSum", "opset3", "", {2, 3, 4}),
              ElementsAre(302, 604, 10, 20, 40, 80));
  EXPECT_THAT(bags("EmbeddingBagOffsets", "opset15", "reduction=\"mean\"", {}),
              ElementsAre(50.5f, 101, 10, 20, 10, 20));
  EXPECT_THAT(evaluate_layer(
                  {"EmbeddingSegmentsSum", "opset3"}, table,
                  [](IrFile& f) {
                    return std::vector{f.integers({0, 2, 1}), f.integers({0, 0, 2}), f.integer(4)};
                  },
                  {4, 2}),
              ElementsAre(101, 202, 0, 0, 10, 20, 0, 0));
  EXPECT_THAT(evaluate_layer({"EmbeddingBagPacked", "opset15", "reduction=\"mean\""}, table,
                             [](IrFile& f) {
                               return std::vector{f.constant<int64_t>("i64", {2, 2}, {0, 1, 2, 2})};
                             },
                             {2, 2}),
              ElementsAre(5.5f, 11, 100, 200));
}

TEST(IrIndices, RollByAComputedShift) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {5});
  const IrPort shift = file.parameter("shift", "i64", {1});
  file.result(file.layer("Roll", "opset7", "", {x, shift, file.integers({0})}, {{"FP32", {5}}}));
  const auto model = file.read();
  ASSERT_TRUE(model) << model.error().message();
  const auto out =
      test::evaluate_model(**model, {index_row({0, 1, 2, 3, 4}), Tensor::from<int64_t>({1}, {7})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(3, 4, 0, 1, 2));
}

TEST(IrIndices, SymmetricPadRepeatsTheBorder) {
  EXPECT_THAT(evaluate_layer({"Pad", "opset12", "pad_mode=\"symmetric\""}, index_row({1, 2, 3}),
                             [](IrFile& f) {
                               return std::vector{f.integers({2}), f.integers({3})};
                             },
                             {8}),
              ElementsAre(2, 1, 1, 2, 3, 3, 2, 1));
}

TEST(IrIndices, ReverseSequenceAlongAnyAxes) {
  // Batch in dimension 2, time in dimension 1: the second column's first two rows change places.
  EXPECT_THAT(evaluate_layer({"ReverseSequence", "opset1", "batch_axis=\"2\" seq_axis=\"1\""},
                             Tensor::from<float>({1, 3, 2}, {1, 2, 3, 4, 5, 6}),
                             [](IrFile& f) {
                               return std::vector{f.integers({1, 2})};
                             },
                             {1, 3, 2}),
              ElementsAre(1, 4, 3, 2, 5, 6));
}

TEST(IrIndices, SqueezeMaySkipAxes) {
  Shape shape;
  evaluate_layer(
      {"Squeeze", "opset15", "allow_axis_skip=\"true\""}, Tensor::from<float>({1, 2, 1}, {1, 2}),
      [](IrFile& f) {
        return std::vector{f.integers({0, 1})};
      },
      {2, 1}, &shape);
  EXPECT_EQ(shape, (Shape{2, 1}));
}

TEST(IrIndices, EyeWithAComputedDiagonal) {
  IrFile file;
  const IrPort k = file.parameter("k", "i64", {1});
  file.result(file.layer("Eye", "opset9", "output_type=\"f32\"",
                         {file.integer(2), file.integer(3), k}, {{"FP32", {2, 3}}}));
  const auto model = file.read();
  ASSERT_TRUE(model) << model.error().message();
  const auto out = test::evaluate_model(**model, {Tensor::from<int64_t>({1}, {1})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(0, 1, 0, 0, 0, 1));
}

TEST(IrIndices, TopKRoisAreSortedAndFilledUp) {
  const auto best = [](int64_t wanted) {
    return evaluate_layer(
        {"ExperimentalDetectronTopKROIs", "opset6", "max_rois=\"" + std::to_string(wanted) + "\""},
        Tensor::from<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}),
        [](IrFile& f) {
          return std::vector{f.floats({2}, {.25f, .75f})};
        },
        {wanted, 4});
  };
  EXPECT_THAT(best(1), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(best(3), ElementsAre(5, 6, 7, 8, 1, 2, 3, 4, 0, 0, 0, 0));
}

TEST(IrIndices, RegionsTakeTheirLevelOfThePyramid) {
  // A region of side 224 belongs to level 2 (the last there is: 1), one of side 56 to level 0; one
  // without an area gives 0. Levels hold 1 and 2 everywhere.
  const auto out = evaluate_layer(
      {"ExperimentalDetectronROIFeatureExtractor", "opset6",
       "output_size=\"1\" sampling_ratio=\"2\" pyramid_scales=\"32,64\" aligned=\"false\""},
      Tensor::from<float>({3, 4}, {0, 0, 224, 224, 0, 0, 56, 56, 9, 9, 9, 20}),
      [](IrFile& f) {
        return std::vector{f.floats({1, 1, 8, 8}, std::vector<float>(64, 1)),
                           f.floats({1, 1, 8, 8}, std::vector<float>(64, 2))};
      },
      {3, 1, 1, 1});
  EXPECT_THAT(out, ElementsAre(2, 1, 0));
}

}  // namespace
}  // namespace het
