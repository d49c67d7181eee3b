#include "gst/drawing/text_renderer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace het::gst {
namespace {

const FontStyle kSans{"simplex", 24.0};

TextRenderer& renderer() {
  static const std::unique_ptr<TextRenderer> texts = TextRenderer::create().value();
  return *texts;
}

OpacityMap picture(const std::string& text, const FontStyle& style = kSans, int max_width = 2000) {
  return renderer().render(text, style, max_width).opacity;
}

bool same(const OpacityMap& a, const OpacityMap& b) {
  if (a.width != b.width || a.height != b.height) return false;
  for (int y = 0; y < a.height; ++y) {
    if (!std::equal(a.row(y), a.row(y) + a.width, b.row(y))) return false;
  }
  return true;
}

TEST(TextRenderer, LettersHaveTheHeightOfTheirSizeAndStandOnTheBaseLine) {
  const RenderedText letter = renderer().render("H", {"simplex", 100.0}, 2000);
  int top = letter.opacity.height;
  int bottom = 0;
  uint8_t most = 0;
  for (int y = 0; y < letter.opacity.height; ++y) {
    const uint8_t* const row = letter.opacity.row(y);
    const uint8_t darkest = *std::max_element(row, row + letter.opacity.width);
    most = std::max(most, darkest);
    if (darkest == 0) continue;
    top = std::min(top, y);
    bottom = y + 1;
  }
  EXPECT_NEAR(bottom - top, 73, 8) << "a capital has about three quarters of an em";
  EXPECT_NEAR(bottom, letter.baseline, 1);
  EXPECT_EQ(most, 255);
}

TEST(TextRenderer, LettersOfScriptsDiffer) {
  for (const auto& [one, other] : {std::pair{"é", "e"},
                                   {"é", "è"},
                                   {"авто", "abto"},
                                   {"ж", "ш"},
                                   {"犬", "猫"},
                                   {"שלום", "שלומ"}})
    EXPECT_FALSE(same(picture(one), picture(other))) << one << " " << other;
}

TEST(TextRenderer, MarksJoinTheirLetters) {
  EXPECT_TRUE(same(picture("e\u0301"), picture("é")));
  EXPECT_EQ(picture("e\u0301").width, picture("e").width);
}

TEST(TextRenderer, WhatIsNoUtf8IsOneReplacementCharacter) {
  const OpacityMap replaced = picture("a\uFFFDb");
  for (const char* text : {"a\xff"
                           "b",
                           "a\xc3"
                           "b",
                           "a\xe2\x82"
                           "b",
                           "a\x01"
                           "b",
                           "a\x7f"
                           "b",
                           "a\u0081"
                           "b"})
    EXPECT_EQ(picture(text).width > picture("ab").width, true) << text;
  EXPECT_TRUE(same(picture("a\xff"
                           "b"),
                   replaced));
  EXPECT_TRUE(same(picture("a\x01"
                           "b"),
                   replaced));
  EXPECT_TRUE(same(picture(std::string("a\0b", 3)), replaced));
}

TEST(TextRenderer, ALineStaysOneLine) {
  const OpacityMap spaced = picture("a b");
  for (const char* text : {"a\nb", "a\tb", "a\rb", "a\vb", "a\u2028b", "a\u2029b", "a\u0085b"})
    EXPECT_TRUE(same(picture(text), spaced)) << text;
}

TEST(TextRenderer, LongTextsEndWithAnEllipsis) {
  for (const size_t length : {size_t{100}, size_t{10'000}, size_t{5'000'000}}) {
    const OpacityMap cut = picture(std::string(length, 'm'), kSans, 200);
    EXPECT_LE(cut.width, 204) << length;
    EXPECT_GT(cut.width, 150) << length;
  }
  // Pango never leaves a line without anything.
  EXPECT_GE(picture("mmm", kSans, 0).width, 1);
  EXPECT_GE(picture("mmm", kSans, -7).width, 1);
  EXPECT_GE(picture("").height, 1);
}

TEST(TextRenderer, MarksWithoutEndDoNotGrowTheLine) {
  std::string piled = "a";
  for (int i = 0; i < 500; ++i) piled += "\u0301";
  EXPECT_EQ(picture(piled).height, picture("a").height);
}

TEST(TextRenderer, FontsDiffer) {
  EXPECT_FALSE(same(picture("dog"), picture("dog", {"duplex", 24.0})));
  EXPECT_FALSE(same(picture("dog"), picture("dog", {"complex_small", 24.0})));
  EXPECT_FALSE(same(picture("dog"), picture("dog", {"script_simplex", 24.0})));
  EXPECT_LT(picture("dog", {"plain", 24.0}).height, picture("dog").height);
  EXPECT_FALSE(is_font_name("comic"));
  EXPECT_TRUE(is_font_name("triplex"));
}

TEST(TextRenderer, WhatWasRenderedIsKeptAndWhatIsOldIsNot) {
  const auto texts = TextRenderer::create().value();
  const OpacityMap first = texts->render("first", kSans, 2000).opacity;
  EXPECT_EQ(texts->render("first", kSans, 2000).opacity.data, first.data);
  // About 60 KB each.
  for (int i = 0; i < 200; ++i)
    texts->render(std::to_string(i) + " wide", {"simplex", 200.0}, 2000);
  const OpacityMap again = texts->render("first", kSans, 2000).opacity;
  EXPECT_NE(again.data, first.data);
  EXPECT_TRUE(same(again, first));
}

}  // namespace
}  // namespace het::gst
