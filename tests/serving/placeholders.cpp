#include "serving/launch/plan/placeholders.h"

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace het::serving {
namespace {

struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};

/// What GStreamer makes of a text: names of its elements, or the error; and a property.
struct Parsed {
  std::string elements;
  std::string location;
  std::string error;
};

Parsed parse(const std::string& text) {
  gst_init(nullptr, nullptr);
  Parsed parsed;
  GError* failure = nullptr;
  const std::unique_ptr<GstElement, Unref> bin(
      gst_parse_launch_full(text.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &failure));
  if (failure != nullptr) parsed.error = failure->message;
  g_clear_error(&failure);
  if (!bin || !GST_IS_BIN(bin.get())) return parsed;
  for (GList* item = GST_BIN_CHILDREN(bin.get()); item != nullptr; item = item->next) {
    GstElement* element = GST_ELEMENT(item->data);
    const std::string factory = GST_OBJECT_NAME(gst_element_get_factory(element));
    parsed.elements = factory + (parsed.elements.empty() ? "" : " ") + parsed.elements;
    if (factory != "filesrc") continue;
    gchar* location = nullptr;
    g_object_get(element, "location", &location, nullptr);
    parsed.location = location != nullptr ? location : "";
    g_free(location);
  }
  return parsed;
}

std::string filled(std::string_view text, const PlaceholderValues& values) {
  const Result<std::string> result = fill_template(text, values);
  return result ? *result : "FAILED: " + result.error().message();
}

const std::vector<std::string> kAwkward = {
    "plain",
    "/a b/c d.mp4",
    " ! fakesink name=evil ! identity",
    "a!b",
    "it's",
    "it\"s",
    "'",
    "'quoted'",
    "back\\slash",
    "\\\"",
    "\\ \\x",
    "a=b,c;d:e",
    "(identity)",
    "x name=y",
    "{ NV12, RGBP }",
    "{name}",
    " leading and trailing ",
    "tab\there",
    "ünïcode ☃",
    "rtsp://user:p%40ss@10.0.0.7:554/h264?ch=1&sub=0#x",
    "$HOME `id` *?~[1]|<>^",
    "",
};

TEST(Placeholders, EveryValueArrivesAsOneValue) {
  for (const std::string& value : kAwkward) {
    const PlaceholderValues values = {{"file", value}};
    for (const char* form :
         {"filesrc location={file} ! fakesink", "filesrc location = {file} ! fakesink"}) {
      const Parsed parsed = parse(filled(form, values));
      EXPECT_EQ(parsed.error, "") << form << " with " << value;
      EXPECT_EQ(parsed.elements, "filesrc fakesink") << form << " with " << value;
      EXPECT_EQ(parsed.location, value) << form << " with " << value;
    }
    const Parsed inside = parse(filled("filesrc location=/x/{file}.mp4 ! fakesink", values));
    EXPECT_EQ(inside.location, "/x/" + value + ".mp4");
    EXPECT_EQ(inside.elements, "filesrc fakesink");
  }
}

TEST(Placeholders, BetweenQuotationMarksToo) {
  for (const std::string& value : kAwkward) {
    const PlaceholderValues values = {{"file", value}};
    const Result<std::string> text =
        fill_template("filesrc location=\"/x y/{file}.mp4\" ! fakesink name=\"z\"", values);
    if (value.find('\\') != std::string::npos) {
      ASSERT_FALSE(text) << value;
      EXPECT_NE(text.error().message().find("quotation marks"), std::string::npos);
      continue;
    }
    ASSERT_TRUE(text) << value << text.error().message();
    const Parsed parsed = parse(*text);
    EXPECT_EQ(parsed.error, "") << *text;
    EXPECT_EQ(parsed.elements, "filesrc fakesink") << *text;
    EXPECT_EQ(parsed.location, "/x y/" + value + ".mp4") << *text;
  }
}

TEST(Placeholders, AreNoWayToAddElements) {
  for (const std::string& value : kAwkward) {
    for (const char* form :
         {"fakesrc ! {x} ! fakesink", "{x} ! fakesink", "fakesrc name={x} ! fakesink",
          "fakesrc ! video/x-raw,format={x} ! fakesink", "fakesrc ! video/x-raw,{x} ! fakesink",
          "fakesrc ! {x}", "filesrc location='{x}' ! fakesink", "fakesrc {x} ! fakesink"}) {
      const Result<std::string> text = fill_template(form, {{"x", value}});
      // GStreamer forgets memory when it reads a list in caps that is none.
      const bool is_list =
          value.starts_with('{') && std::string(form).find("x-raw") != std::string::npos;
      if (!text || is_list) continue;
      const Parsed parsed = parse(*text);
      EXPECT_EQ(parsed.elements.find("identity"), std::string::npos) << *text;
      EXPECT_EQ(parsed.elements.find("fakesink fakesink"), std::string::npos) << *text;
    }
  }
}

TEST(Placeholders, RandomValuesArriveOrAreRefused) {
  std::mt19937 random(7);
  constexpr std::string_view kCharacters = "ab \"'\\!=(){};,.\t/";
  const auto any = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  };
  size_t arrived = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string value;
    for (size_t length = any(9); length > 0; --length)
      value += kCharacters[any(kCharacters.size())];
    const bool in_marks = any(2) == 0;
    const Result<std::string> text =
        fill_template(in_marks ? "filesrc location=\"p{v}q\" ! fakesink name=\"z\""
                               : "filesrc location={v} ! fakesink",
                      {{"v", value}});
    if (!text) continue;
    const Parsed parsed = parse(*text);
    ASSERT_EQ(parsed.elements, "filesrc fakesink") << *text;
    ASSERT_EQ(parsed.location, in_marks ? "p" + value + "q" : value) << *text;
    ++arrived;
  }
  EXPECT_GT(arrived, 2000u);
}

TEST(Placeholders, ListsOfCapsStay) {
  const std::string text =
      "a ! video/x-raw,format={NV12,RGBP},rate={8000} ! b x={ I420, NV12 } y={Name} z={} {a b} { "
      "a}";
  EXPECT_EQ(filled(text, {}), text);
  EXPECT_EQ(fill_argument(text, {{"name", "x"}}), text);
  EXPECT_TRUE(placeholder_names(text).empty());
  EXPECT_EQ(filled("x=\\{name}", {{"name", "n"}}), "x=\\{name}");
  EXPECT_TRUE(placeholder_names("x=\\{name}").empty());
}

TEST(Placeholders, WithoutAValueOnesAreErrorsThatListTheNearest) {
  const Result<std::string> text =
      fill_template("rtspsrc location={ulr}", {{"url", "x"}, {"name", "n"}, {"instance", "0"}});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code(), StatusCode::InvalidArgument);
  EXPECT_NE(text.error().message().find("{ulr}; there are {url}, "), std::string::npos)
      << text.error().message();
  EXPECT_NE(text.error().message().find("{instance}"), std::string::npos);
}

TEST(Placeholders, OnACommandLineThoseUnknownStay) {
  EXPECT_EQ(fill_argument("location=out-{instance}-{node}-{name}-{other}.json",
                          {{"instance", "1"}, {"node", "0-1"}, {"name", "line"}}),
            "location=out-1-0-1-line-{other}.json");
  EXPECT_EQ(fill_argument("{", {}), "{");
  EXPECT_EQ(fill_argument("{name", {{"name", "x"}}), "{name");
}

TEST(Placeholders, ValuesAreNotFilledAgain) {
  EXPECT_EQ(filled("a={x} b={y}", {{"x", "{y}"}, {"y", "1"}}), "a={y} b=1");
  StreamSettings stream;
  stream.name = "door";
  stream.variables = {{"file", "f-{instance}"}};
  const PlaceholderValues values = placeholder_values(stream, "{instance}", "{node}");
  EXPECT_EQ(filled("x location={name}-{instance}-{node}", values),
            "x location=door-{instance}-{node}");
}

TEST(Placeholders, EmptyValuesDoNotTakeWhatFollows) {
  EXPECT_EQ(filled("filesrc location={a}{b} ! x", {{"a", ""}, {"b", ""}}),
            "filesrc location=\"\" ! x");
  EXPECT_EQ(filled("filesrc location={a}b ! x", {{"a", ""}}), "filesrc location=b ! x");
  EXPECT_EQ(filled("filesrc location={a}", {{"a", ""}}), "filesrc location=\"\"");
}

TEST(Placeholders, ValuesInQuotationMarksAreRefused) {
  EXPECT_FALSE(fill_template("x y={v}", {{"v", "\"a\""}}));
  EXPECT_FALSE(fill_template("x y={v}", {{"v", "\""}}));
  EXPECT_TRUE(fill_template("x y={v}", {{"v", "\"a"}}));
}

TEST(Placeholders, ValuesThatEndWithABackslashAreRefusedAtTheEndOfAWord) {
  const Result<std::string> text = fill_template("x y={v} ! z", {{"v", "a\\"}});
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message().find("ends with '\\'"), std::string::npos);
  EXPECT_EQ(parse(filled("filesrc location={v}b ! fakesink", {{"v", "a\\"}})).location, "a\\b");
}

TEST(Placeholders, ValuesOfSeveralLinesAreRefused) {
  EXPECT_FALSE(fill_template("x y={v}", {{"v", "a\nb"}}));
}

TEST(Placeholders, LongTextsAreRefused) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "{v}";
  const Result<std::string> result = fill_template(text, {{"v", std::string(4096, 'x')}});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find("longer"), std::string::npos);
}

TEST(Placeholders, PipelinesOfBothKinds) {
  StreamSettings stream;
  stream.name = "door";
  stream.pipeline = {"fakesrc", "!", "filesink", "location={name} {ulr}"};
  const PlaceholderValues values = placeholder_values(stream, "0", "1");
  const auto line = fill_pipeline(stream, true, values);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->back(), "location=door {ulr}");
  EXPECT_FALSE(fill_pipeline(stream, false, values));
}

}  // namespace
}  // namespace het::serving
