#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

constexpr size_t kQueries = 3;
constexpr size_t kPlaces = 300;  // more than are added at once

/// 2 classes and "no object"; query 0 sees class 0 left, 1 class 1 everywhere but weakly, 2
/// nothing.
DecodeCase two_classes() {
  DecodeCase c(120, 80);
  const auto classes = c.add("logits", {1, 3, 3});
  const float rows[kQueries][3] = {{6, 0, 0}, {0, 2, 0}, {0, 5, 20}};
  for (size_t q = 0; q < kQueries; ++q) std::copy_n(rows[q], 3, classes.begin() + q * 3);
  const auto masks = c.add("masks", {1, 3, 10, 30}, 9.0f);
  for (size_t place = 0; place < kPlaces; ++place) masks[place] = place % 30 < 15 ? 4.0f : -4.0f;
  for (size_t place = 0; place < kPlaces; ++place) masks[kPlaces + place] = 0.5f;
  return c;
}

TEST(MaskFormer, AddsWhatQueriesSee) {
  DecodeCase c = two_classes();
  c.context.transform = {2.0f, 2.0f, 5.0f, -4.0f};
  DecoderConfig config = converter("maskformer");
  config.labels = {"left", "all"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.segmentations.size(), 1u);
  const Segmentation& found = results.segmentations[0];
  EXPECT_EQ(found.attribute, "masks");
  EXPECT_EQ(found.labels, config.labels);
  EXPECT_EQ(found.x_max, 245.0f);
  ASSERT_EQ(found.width, 30);
  ASSERT_EQ(found.height, 10);
  for (size_t place = 0; place < kPlaces; ++place)
    EXPECT_EQ(found.class_ids.at(place), place % 30 < 15 ? 0 : 1) << place;
}

TEST(MaskFormer, SumsOfSeveralQueriesWin) {
  DecodeCase c(8, 8);
  const auto classes = c.add("class_queries_logits", {1, 3, 3});
  // Class 0 once with 0.67, class 1 twice with 0.43: all at the same place.
  const float rows[kQueries][3] = {{2.0f, 1.0f, 0.0f}, {0.0f, 1.2f, 1.2f}, {0.0f, 1.2f, 1.2f}};
  for (size_t q = 0; q < kQueries; ++q) std::copy_n(rows[q], 3, classes.begin() + q * 3);
  const auto masks = c.add("masks_queries_logits", {1, 3, 1, 2}, 3.0f);
  masks[3] = masks[5] = -3.0f;  // the second place is the first query's
  c.add("encoder_last_hidden_state", {1, 8, 1, 2});
  c.add("decoder_last_hidden_state", {1, 3, 16});
  const Results results = c.decode(converter("maskformer"));
  EXPECT_EQ(results.segmentations.at(0).class_ids, (std::vector<uint16_t>{1, 0}));
}

TEST(MaskFormer, SurvivesWhatIsNoNumber) {
  DecodeCase c = two_classes();
  for (Tensor& tensor : c.tensors) {
    const auto values = tensor.values<float>();
    std::fill(values.begin(), values.end(), kNan);
    EXPECT_EQ(c.decode(converter("maskformer")).segmentations.at(0).class_ids.size(), kPlaces);
  }
}

TEST(MaskFormer, RefusesOtherOutputs) {
  DecodeCase c(8, 8);
  c.add("logits", {1, 3, 3});
  c.add("masks", {1, 4, 10, 30});
  EXPECT_NE(c.create_error(converter("maskformer")).find("[1,4,10,30]"), std::string::npos);
  DecodeCase fits = two_classes();
  DecoderConfig config = converter("maskformer");
  config.labels = {"a", "b", "no object"};
  EXPECT_NE(fits.create_error(config).find("3 labels"), std::string::npos);
}

}  // namespace
}  // namespace het::test
