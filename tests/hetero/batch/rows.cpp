#include "hetero/batch/rows.h"

#include <gtest/gtest.h>

#include <limits>

#include "inference/core.h"
#include "tests/devices/device_testing.h"
#include "tests/hetero/batch/batch_as_alone.h"
#include "tests/readers/openvino_ir/ir_file.h"

namespace het::hetero {
namespace {

using device_testing::make_attributes;
using device_testing::ModelMaker;
using device_testing::random_tensor;

constexpr OutputCut kFixed{ItemsKind::FixedRows, 0};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor fixed_rows(const std::vector<float>& numbers) {
  std::vector<float> values;
  for (size_t i = 0; i < numbers.size(); ++i) {
    values.push_back(numbers[i]);
    for (int c = 1; c < 7; ++c)
      values.push_back(static_cast<float>(10 * i) + static_cast<float>(c));
  }
  return Tensor::from<float>({1, 1, static_cast<int64_t>(numbers.size()), 7}, values);
}

TEST(BatchRows, FixedRowsAreRenumberedAndEnd) {
  const Tensor all = fixed_rows({0, 1, 1, 1, 0, -1});
  RowItems rows;
  ASSERT_TRUE(rows.read(all, true, 2).ok());
  EXPECT_EQ(rows.count(0), 2u);
  EXPECT_EQ(rows.count(1), 3u);
  Tensor part = *Tensor::allocate({ElementType::Float32, {1, 1, 3, 7}});
  ASSERT_TRUE(take_rows(all, kFixed, rows, 0, part).ok());
  const std::vector<float> wanted{0,  1,  2,  3,  4,  5,  6,   //
                                  0,  41, 42, 43, 44, 45, 46,  //
                                  -1, 0,  0,  0,  0,  0,  0};
  EXPECT_EQ(*to_float_vector(part), wanted);
  ASSERT_TRUE(take_rows(all, kFixed, rows, 1, part).ok());
  EXPECT_EQ(part.values<float>()[14], 0.0f);
  EXPECT_EQ(part.values<float>()[15], 31.0f);
}

TEST(BatchRows, NumbersOfNoItemAreAnError) {
  RowItems rows;
  for (const float number : {2.0f, 0.5f, kNan, 1e30f, std::numeric_limits<float>::infinity()}) {
    const Status status = rows.read(fixed_rows({0, number}), true, 2);
    ASSERT_FALSE(status.ok()) << number;
    EXPECT_NE(status.message().find("row 1 of float32[1,1,2,7] belongs to item"), std::string::npos)
        << status.message();
  }
  EXPECT_TRUE(rows.read(fixed_rows({0, -1, 77}), true, 2).ok());
  const Tensor list = Tensor::from<int64_t>({2, 3}, {0, 0, 0, -1, 0, 0});
  EXPECT_FALSE(rows.read(list, false, 2).ok());
  EXPECT_FALSE(rows.read(Tensor(), false, 2).ok());
  EXPECT_FALSE(rows.read(Tensor::scalar(0.0f), false, 2).ok());
}

TEST(BatchRows, MoreRowsThanThereIsRoomForAreAnError) {
  const Tensor all = fixed_rows({1, 1, 1, -1});
  RowItems rows;
  ASSERT_TRUE(rows.read(all, true, 2).ok());
  Tensor part = *Tensor::allocate({ElementType::Float32, {1, 1, 2, 7}});
  const Status status = take_rows(all, kFixed, rows, 1, part);
  EXPECT_NE(status.message().find("item 1 of a batch has 3 rows"), std::string::npos)
      << status.message();
}

TEST(BatchRows, RowsOfAnotherWidthAreAnError) {
  const Tensor all = fixed_rows({1, 0, -1});
  RowItems rows;
  ASSERT_TRUE(rows.read(all, true, 2).ok());
  Tensor part = *Tensor::allocate({ElementType::Float32, {1, 1, 3, 8}});
  EXPECT_NE(take_rows(all, kFixed, rows, 1, part).message().find("do not fit"), std::string::npos);
  part = *Tensor::allocate({ElementType::Float64, {1, 1, 3, 7}});
  EXPECT_FALSE(take_rows(all, kFixed, rows, 1, part).ok());
}

TEST(BatchRows, ListsHaveAsManyRowsAsTheItem) {
  const Tensor all = Tensor::from<int64_t>({3, 3}, {1, 5, 6, 0, 7, 8, 1, 9, 9});
  RowItems rows;
  ASSERT_TRUE(rows.read(all, false, 3).ok());
  Tensor part;
  ASSERT_TRUE(take_rows(all, {ItemsKind::Rows, 0}, rows, 1, part).ok());
  EXPECT_EQ(part.shape(), (Shape{2, 3}));
  EXPECT_EQ(*to_int64_vector(part), (std::vector<int64_t>{0, 5, 6, 0, 9, 9}));
  ASSERT_TRUE(take_rows(all, {ItemsKind::Rows, 0}, rows, 2, part).ok());
  EXPECT_EQ(part.shape(), (Shape{0, 3}));
  const Tensor scores = Tensor::from<float>({3}, {0.5f, 0.25f, 0.125f});
  ASSERT_TRUE(take_rows(scores, {ItemsKind::RowValues, 0}, rows, 1, part).ok());
  EXPECT_EQ(*to_float_vector(part), (std::vector<float>{0.5f, 0.125f}));
  ASSERT_TRUE(
      take_rows(Tensor::from<int32_t>({1}, {3}), {ItemsKind::RowCount, 0}, rows, 1, part).ok());
  EXPECT_EQ(*to_int64_vector(part), std::vector<int64_t>{2});
  EXPECT_FALSE(
      take_rows(Tensor::from<float>({2}, {1, 2}), {ItemsKind::RowValues, 0}, rows, 1, part).ok());
}

/// Boxes and scores of 6 priors and 3 classes from the inputs.
Model make_ssd(bool flat) {
  ModelMaker maker("ssd");
  std::vector<float> priors;
  for (int variance = 0; variance < 2; ++variance) {
    for (int p = 0; p < 6; ++p) {
      const auto at = static_cast<float>(p) * 0.15f;
      if (variance == 0) priors.insert(priors.end(), {at, at, at + 0.2f, at + 0.2f});
      if (variance == 1) priors.insert(priors.end(), {0.1f, 0.1f, 0.2f, 0.2f});
    }
  }
  Value* boxes = maker.op("Reshape", {maker.input({1, 4, 6}), maker.ints({-1, 24})});
  Value* scores = maker.op("Softmax", {maker.input({1, 6, 3})});
  Value* flat_scores = maker.op("Reshape", {scores, maker.ints({-1, 18})});
  Value* rows =
      maker.op("DetectionOutput",
               {boxes, flat_scores, maker.constant(Tensor::from<float>({1, 2, 24}, priors))},
               make_attributes({{"num_classes", int64_t{3}},
                                {"background_label_id", int64_t{0}},
                                {"top_k", int64_t{5}},
                                {"keep_top_k", std::vector<int64_t>{4}},
                                {"share_location", int64_t{1}},
                                {"normalized", int64_t{1}},
                                {"code_type", std::string("caffe.PriorBoxParameter.CENTER_SIZE")},
                                {"nms_threshold", 0.45f},
                                {"confidence_threshold", 0.3f}}),
               "het");
  maker.output(flat ? maker.op("Reshape", {rows, maker.ints({-1, 7})}) : rows);
  return std::move(maker.model());
}

TEST(BatchRows, DetectionOutputIsTakenApart) {
  for (const char* inner : {"CPU", "REF"}) {
    SCOPED_TRACE(inner);
    expect_batch_as_alone(make_ssd(false), inner, 4);
    expect_batch_as_alone(make_ssd(true), inner, 3);
  }
}

ModelMaker make_nms() {
  ModelMaker maker("nms");
  Value* boxes = maker.op("Abs", {maker.input({1, 8, 4})});
  Value* scores = maker.op("Sigmoid", {maker.input({1, 2, 8})});
  maker.op("NonMaxSuppression",
           {boxes, scores, maker.ints({3}), maker.constant(Tensor::from<float>({1}, {0.4f})),
            maker.constant(Tensor::from<float>({1}, {0.3f}))});
  return maker;
}

TEST(BatchRows, NonMaxSuppressionIsTakenApart) {
  ModelMaker maker = make_nms();
  maker.output(maker.model().nodes().back()->output());
  for (const char* inner : {"CPU", "REF"}) expect_batch_as_alone(maker.model(), inner, 4);
}

/// As OpenVINO's IR has it: ordered by score, with a table of scores and the number of rows.
TEST(BatchRows, WhatBelongsToTheRowsIsTakenApartToo) {
  ModelMaker maker = make_nms();
  Value* selected = maker.model().nodes().back()->output();
  Value* scores = maker.model().nodes().back()->input(1);
  Value* values = maker.op("GatherND", {scores, selected});
  Value* order = maker.split("TopK", {values, maker.op("Shape", {values})}, 2)[1];
  Value* ordered = maker.op("Gather", {selected, order});
  const auto to = [](int64_t type) { return make_attributes({{"to", type}}); };
  Value* first = maker.op("Slice", {ordered, maker.ints({0}), maker.ints({2}), maker.ints({1})});
  Value* best = maker.op("Unsqueeze", {maker.op("GatherND", {scores, ordered}), maker.ints({1})});
  maker.output(maker.op("Cast", {ordered}, to(6)));
  maker.output(maker.op("Concat", {maker.op("Cast", {first}, to(1)), best},
                        make_attributes({{"axis", int64_t{1}}})));
  maker.output(maker.op("Slice", {maker.op("Shape", {ordered}), maker.ints({0}), maker.ints({1})}));
  maker.output(best);
  for (const char* inner : {"CPU", "REF"}) expect_batch_as_alone(maker.model(), inner, 4);
}

TEST(BatchRows, NonMaxSuppressionOfIrIsTakenApart) {
  for (const std::string opset : {"opset1", "opset5", "opset9"}) {
    for (const std::string descending : {"true", "false"}) {
      SCOPED_TRACE(opset + " " + descending);
      test::IrFile file;
      const test::IrPort boxes = file.parameter("boxes", "f32", {1, 6, 4});
      const test::IrPort scores = file.parameter("scores", "f32", {1, 2, 6});
      std::vector<test::IrType> outputs{{"I64", {opset == "opset1" ? 12 : -1, 3}}};
      if (opset != "opset1") outputs.insert(outputs.end(), {{"FP32", {-1, 3}}, {"I64", {1}}});
      const test::IrPort nms = file.layer(
          "NonMaxSuppression", opset,
          "box_encoding=\"corner\" sort_result_descending=\"" + descending + "\"",
          {boxes, scores, file.integer(3), file.floats({}, {0.5f}), file.floats({}, {0.2f})},
          outputs);
      for (size_t i = 0; i < outputs.size(); ++i) file.result({nms.layer, i});
      const auto model = file.read();
      ASSERT_TRUE(model) << model.error().message();
      expect_batch_as_alone(**model, "CPU", 3);
    }
  }
}

void expect_rows_refused(const Model& model, std::string_view part) {
  const auto compiled = core()->compile_model(model, "BATCH:REF(2)", {});
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.error().message().find(part), std::string::npos) << compiled.error().message();
  const auto rows = core()->query_model(model, "BATCH:REF(2)", {});
  ASSERT_TRUE(rows) << rows.error().message();
  for (const NodeSupport& row : *rows) {
    EXPECT_FALSE(row.supported());
    EXPECT_NE(row.reason.find(part), std::string::npos) << row.reason;
  }
}

TEST(BatchRows, RowsThatCannotBeToldApartAreRefused) {
  ModelMaker alone = make_nms();
  Value* selected = alone.model().nodes().back()->output();
  Value* scores = alone.model().nodes().back()->input(1);
  alone.output(alone.op("GatherND", {scores, selected}));
  expect_rows_refused(alone.model(), "no other output says which row belongs to which");
  ModelMaker added = make_nms();
  added.output(added.op("Add", {added.model().nodes().back()->output(), added.ints({1})}));
  expect_rows_refused(added.model(), "rows that belong to several pictures");
  ModelMaker best = make_nms();
  best.output(best.op("Slice", {best.model().nodes().back()->output(), best.ints({0}),
                                best.ints({1}), best.ints({0})}));
  expect_rows_refused(best.model(), "rows that belong to several pictures");
}

}  // namespace
}  // namespace het::hetero
