#include "inference/decoders/exchange/tensor_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "inference/tensors/element_type.h"

namespace het {
namespace {

/// A model's input of 100x100 pixels.
DecodeContext context_of(int source_width, int source_height, const PictureTransform& transform) {
  DecodeContext context;
  context.input_width = 100;
  context.input_height = 100;
  context.source_width = source_width;
  context.source_height = source_height;
  context.roi = {0, 0, source_width, source_height};
  context.transform = transform;
  return context;
}

/// 200x100 stretched.
DecodeContext stretched() {
  return context_of(200, 100, {2.0f, 1.0f, 0.0f, 0.0f});
}

/// 200x100 with 25 rows above and below.
DecodeContext letterboxed() {
  return context_of(200, 100, {2.0f, 2.0f, 0.0f, -50.0f});
}

Tensor tensor_of(const Shape& shape, const std::vector<float>& values) {
  Tensor tensor = Tensor::allocate({ElementType::Float32, shape}).value();
  std::ranges::copy(values, tensor.values<float>().begin());
  return tensor;
}

std::vector<float> counted(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

GroupTensor known(TensorPlaces places, bool is_transposed = false, int first_point = 0) {
  GroupTensor tensor;
  tensor.output = "out";
  tensor.id = "id";
  tensor.is_known = true;
  tensor.places = places;
  tensor.is_transposed = is_transposed;
  tensor.first_point = first_point;
  return tensor;
}

std::vector<float> exchanged(const GroupTensor& tensor, const Tensor& values,
                             const DecodeContext& context) {
  const auto result = exchanged_values(tensor, values, context);
  EXPECT_TRUE(result) << result.error().message();
  if (!result) return {};
  EXPECT_EQ(result->type(), ElementType::Float32);
  const std::span<const float> all = result->values<float>();
  return {all.begin(), all.end()};
}

using Floats = std::vector<float>;

TEST(TensorPlaces, PlanesOfBoxesGoToTheSource) {
  const Tensor values = tensor_of({1, 6, 2}, {10, 20, 30, 40, 4, 5, 6, 7, 0.5f, 0.6f, 0.7f, 0.8f});
  EXPECT_EQ(exchanged(known(TensorPlaces::PixelPlanes), values, stretched()),
            (Floats{20, 40, 30, 40, 8, 10, 6, 7, 0.5f, 0.6f, 0.7f, 0.8f}));
  EXPECT_EQ(exchanged(known(TensorPlaces::PixelPlanes), values, letterboxed()),
            (Floats{20, 40, 10, 30, 8, 10, 12, 14, 0.5f, 0.6f, 0.7f, 0.8f}));
  EXPECT_EQ(values.values<float>()[0], 10.0f) << "the model's own values stay";
}

TEST(TensorPlaces, ARegionIsPlacedInTheWholePicture) {
  // 50x50 pixels at (60, 20), enlarged twice.
  DecodeContext context = context_of(200, 100, {0.5f, 0.5f, 60.0f, 20.0f});
  context.roi = {60, 20, 50, 50};
  EXPECT_EQ(
      exchanged(known(TensorPlaces::PixelPlanes), tensor_of({1, 4, 1}, {10, 20, 4, 6}), context),
      (Floats{65, 30, 2, 3}));
  EXPECT_EQ(exchanged(known(TensorPlaces::PixelCorners),
                      tensor_of({1, 1, 6}, {10, 20, 30, 40, 9, 8}), context),
            (Floats{65, 30, 75, 40, 9, 8}));
  // Shares of the region become shares of the picture.
  const Floats corners =
      exchanged(known(TensorPlaces::Corners), tensor_of({1, 1, 4}, {0, 0, 1, 1}), context);
  const Floats whole{0.3f, 0.2f, 0.55f, 0.7f};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(corners.at(i), whole[i], 1e-6f);
}

TEST(TensorPlaces, RowsBecomePlanes) {
  const GroupTensor rows = known(TensorPlaces::PixelPlanes, true);
  EXPECT_EQ(exchanged(rows, tensor_of({1, 2, 5}, counted(10)), stretched()),
            (Floats{2, 12, 2, 7, 6, 16, 4, 9, 5, 10}));
  const auto result = exchanged_values(rows, tensor_of({1, 2, 5}, counted(10)), stretched());
  EXPECT_EQ(result->shape(), (Shape{1, 5, 2}));
}

TEST(TensorPlaces, PointsFollowTheBoxes) {
  // Box, two classes, two points.
  const Floats one{10, 20, 4, 6, 0.1f, 0.9f, 11, 21, 0.5f, 12, 22, 0.6f};
  EXPECT_EQ(exchanged(known(TensorPlaces::PixelPointPlanes, false, 6), tensor_of({1, 12, 1}, one),
                      letterboxed()),
            (Floats{20, -10, 8, 12, 0.1f, 0.9f, 22, -8, 0.5f, 24, -6, 0.6f}));
  // Behind the last whole point, and where points would begin behind the end.
  EXPECT_EQ(exchanged(known(TensorPlaces::PixelPointPlanes, false, 4),
                      tensor_of({1, 8, 1}, counted(8)), stretched()),
            (Floats{2, 2, 6, 4, 10, 6, 7, 8}));
  EXPECT_EQ(exchanged(known(TensorPlaces::PixelPointPlanes, false, 40),
                      tensor_of({1, 5, 1}, counted(5)), stretched()),
            (Floats{2, 2, 6, 4, 5}));
}

TEST(TensorPlaces, CornersInShares) {
  const Tensor values = tensor_of({1, 1, 4}, {0.25f, 0.5f, 0.75f, 1.0f});
  // Stretching keeps shares, bit for bit.
  EXPECT_EQ(exchanged(known(TensorPlaces::Corners), values, stretched()),
            (Floats{0.25f, 0.5f, 0.75f, 1.0f}));
  EXPECT_EQ(exchanged(known(TensorPlaces::Corners), values, letterboxed()),
            (Floats{0.25f, 0.5f, 0.75f, 1.5f}));
  EXPECT_EQ(exchanged(known(TensorPlaces::CornersRowFirst), values, letterboxed()),
            (Floats{0.0f, 0.5f, 1.0f, 1.0f}));
}

TEST(TensorPlaces, OtherTypesBecomeFloats) {
  Tensor halves = Tensor::allocate({ElementType::Float16, {1, 4, 1}}).value();
  const Floats values{1, 2, 3, 4};
  std::ranges::transform(values, halves.values<Float16>().begin(),
                         [](float value) { return Float16(value); });
  EXPECT_EQ(exchanged(known(TensorPlaces::PixelPlanes), halves, stretched()), (Floats{2, 2, 6, 4}));
  Tensor numbers = Tensor::allocate({ElementType::Int64, {1, 3}}).value();
  std::ranges::copy(std::vector<int64_t>{7, 0, 90}, numbers.values<int64_t>().begin());
  EXPECT_EQ(exchanged(known(TensorPlaces::None), numbers, stretched()), (Floats{7, 0, 90}));
}

TEST(TensorPlaces, WhatNeedsNoChangeIsShared) {
  const DecodeContext same = context_of(100, 100, {});
  const auto is_shared = [](const GroupTensor& tensor, const Tensor& values,
                            const DecodeContext& context) {
    const auto result = exchanged_values(tensor, values, context);
    return result && result->bytes() == values.bytes();
  };
  const Tensor planes = tensor_of({1, 5, 2}, counted(10));
  EXPECT_TRUE(is_shared(known(TensorPlaces::PixelPlanes), planes, same));
  EXPECT_TRUE(is_shared(known(TensorPlaces::None), planes, stretched()));
  EXPECT_FALSE(is_shared(known(TensorPlaces::PixelPlanes), planes, stretched()));
  EXPECT_FALSE(is_shared(known(TensorPlaces::PixelPlanes, true), planes, same));
  const Tensor corners = tensor_of({1, 2, 4}, counted(8));
  EXPECT_TRUE(is_shared(known(TensorPlaces::Corners), corners, stretched()));
  GroupTensor unknown = known(TensorPlaces::PixelPlanes);
  unknown.is_known = false;
  const Tensor bytes = Tensor::allocate({ElementType::UInt8, {3}}).value();
  EXPECT_TRUE(is_shared(unknown, bytes, stretched()));
}

TEST(TensorPlaces, DimensionsOfOneAreDropped) {
  GroupTensor classes = known(TensorPlaces::None);
  classes.shape = {1, 3};
  const Tensor values = tensor_of({1, 3, 1, 1}, {1, 2, 3});
  const auto result = exchanged_values(classes, values, stretched());
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->shape(), (Shape{1, 3}));
  EXPECT_EQ(result->bytes(), values.bytes());
  // Another number of values than was known before.
  const auto other = exchanged_values(classes, tensor_of({1, 4}, counted(4)), stretched());
  ASSERT_TRUE(other);
  EXPECT_EQ(other->shape(), (Shape{1, 4}));
}

TEST(TensorPlaces, NoObjects) {
  for (const Shape& shape : {Shape{1, 0, 4}, Shape{1, 4, 0}, Shape{1, 0, 0}}) {
    const Tensor empty = Tensor::allocate({ElementType::Float32, shape}).value();
    for (const TensorPlaces places :
         {TensorPlaces::None, TensorPlaces::PixelPlanes, TensorPlaces::PixelPointPlanes,
          TensorPlaces::PixelCorners, TensorPlaces::Corners, TensorPlaces::CornersRowFirst}) {
      for (const bool is_transposed : {false, true}) {
        const auto result = exchanged_values(known(places, is_transposed, 5), empty, letterboxed());
        ASSERT_TRUE(result) << result.error().message();
        EXPECT_EQ(result->element_count(), 0);
        EXPECT_EQ(result->shape()[1], shape[is_transposed ? 2 : 1]);
      }
    }
  }
}

TEST(TensorPlaces, OtherShapesAreRefused) {
  for (const Shape& shape : {Shape{}, Shape{8}, Shape{1, 8}, Shape{2, 4, 4}, Shape{1, 2, 4, 4},
                             Shape{1, 3, 3}, Shape{1, 1, 1}}) {
    const Tensor values = Tensor::allocate({ElementType::Float32, shape}).value();
    for (const TensorPlaces places :
         {TensorPlaces::PixelPlanes, TensorPlaces::PixelPointPlanes, TensorPlaces::PixelCorners,
          TensorPlaces::Corners, TensorPlaces::CornersRowFirst}) {
      const auto result = exchanged_values(known(places, false, 5), values, letterboxed());
      ASSERT_FALSE(result) << to_string(shape);
      EXPECT_EQ(result.error().code(), StatusCode::ShapeMismatch);
      EXPECT_NE(result.error().message().find("id"), std::string::npos);
      if (shape.size() != 3) {
        EXPECT_FALSE(exchanged_values(known(places, true, 5), values, letterboxed()));
      }
    }
  }
  const auto never = exchanged_values(known(TensorPlaces::PixelPlanes), Tensor(), letterboxed());
  EXPECT_FALSE(never) << "an output that was never computed";
}

}  // namespace
}  // namespace het
