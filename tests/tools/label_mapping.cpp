#include "tools/accuracy/label_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace het {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<Category> kTraffic = {{1, "person"}, {10, "traffic light"}, {12, "Stop Sign"}};

TEST(LabelMapping, NamesAreTheSameInEitherCaseAndWithUnderscores) {
  const auto mapping =
      LabelMapping::make({"dog", "stop-sign", "PERSON", "tree"}, kTraffic, LabelRule::Automatic);
  ASSERT_TRUE(mapping) << mapping.error().message();
  EXPECT_EQ(mapping->category_of(1, "stop-sign"), 2);
  EXPECT_EQ(mapping->category_of(2, "PERSON"), 0);
  EXPECT_EQ(mapping->category_of(2, ""), 0) << "a decoder need not give the name";
  EXPECT_EQ(mapping->category_of(0, "dog"), kNoCategory);
  EXPECT_EQ(mapping->category_of(99, "Traffic_Light "), 1);
  EXPECT_THAT(mapping->labels_without_category(), ElementsAre("dog", "tree"));
  EXPECT_THAT(mapping->categories_without_label(), ElementsAre("traffic light"));
  EXPECT_EQ(mapping->description(), "by name, 2 of 4 labels, 2 of 3 categories");
}

TEST(LabelMapping, SynsetsAndSynonymsOfImageNetAreNames) {
  const std::vector<std::string> labels = {"n01440764 tench, Tinca tinca",
                                           "n02120079 Arctic fox, white fox, Alopex lagopus",
                                           "n02206856 bee", "3,kite, bird"};
  const std::vector<Category> categories = {
      {0, "n01440764"}, {1, "white_fox"}, {2, "Bee"}, {3, "kite"}};
  const auto mapping = LabelMapping::make(labels, categories, LabelRule::Automatic);
  ASSERT_TRUE(mapping) << mapping.error().message();
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(mapping->category_of(k, labels[static_cast<size_t>(k)]), k);
    EXPECT_EQ(mapping->category_of(k, ""), k);
  }
  EXPECT_EQ(mapping->category_of(9, "n1 tench"), kNoCategory);
}

TEST(LabelMapping, AsManyOtherNamesAreTakenInTheirOrder) {
  auto mapping = LabelMapping::make({"a", "b", "c"}, kTraffic, LabelRule::Automatic);
  ASSERT_TRUE(mapping) << mapping.error().message();
  EXPECT_EQ(mapping->category_of(2, "c"), 2);
  EXPECT_EQ(mapping->category_of(3, ""), kNoCategory);
  EXPECT_THAT(mapping->description(), HasSubstr("by index"));
  mapping = LabelMapping::make({"__background__", "a", "b", "c"}, kTraffic, LabelRule::Automatic);
  ASSERT_TRUE(mapping) << mapping.error().message();
  EXPECT_EQ(mapping->category_of(0, "__background__"), kNoCategory);
  EXPECT_EQ(mapping->category_of(1, "a"), 0);
  EXPECT_TRUE(mapping->labels_without_category().empty());
}

TEST(LabelMapping, WhatDoesNotFitIsAnError) {
  const auto mapping = LabelMapping::make({"a", "b"}, kTraffic, LabelRule::Automatic);
  ASSERT_FALSE(mapping);
  EXPECT_THAT(mapping.error().message(), HasSubstr("2 labels and 3 categories"));
  EXPECT_THAT(mapping.error().message(), HasSubstr("--label-map"));
  ASSERT_FALSE(LabelMapping::make({}, kTraffic, LabelRule::Automatic));
  const auto twins = LabelMapping::make({"cat"}, {{1, "cat"}, {2, "Cat"}}, LabelRule::Name);
  ASSERT_FALSE(twins);
  EXPECT_THAT(twins.error().message(), HasSubstr("two categories 'cat'"));
}

TEST(LabelMapping, IdsAreThoseOfTheDataset) {
  const auto mapping = LabelMapping::make({}, kTraffic, LabelRule::Id);
  ASSERT_TRUE(mapping) << mapping.error().message();
  EXPECT_EQ(mapping->category_of(10, ""), 1);
  EXPECT_EQ(mapping->category_of(2, ""), kNoCategory);
}

}  // namespace
}  // namespace het
