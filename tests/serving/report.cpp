#include "serving/launch/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

namespace het::serving {
namespace {

std::vector<Report> reports_of_every_kind() {
  StreamDescription description;
  description.stream = "gate";
  description.inferences = {{"heterodetect0",
                             "HETERO:GPU,CPU",
                             "model.onnx",
                             {{"CPU.INFERENCE_NUM_THREADS", "2"}, {"GPU.NUM_STREAMS", "1"}}},
                            {"heteroclassify0", "CPU", "", {}}};
  description.device_files = {"/dev/video0", "/dev/dri/renderD128"};
  description.written_files = {"out \"1\".json"};
  description.decoders = {{"avdec_h264-0", 4}, {"vp9dec0", 0}};
  Progress progress;
  progress.wall_s = 12.5;
  progress.cpu_s = 3.25;
  progress.streams = {{"gate", "playing", 123456789012345, 2}, {"yard", "waiting", 0, 1}};
  return {Report{description},
          Report{StreamPlays{"gate", 2}},
          Report{StreamFailed{"gate", "two\nlines", 0.5}},
          Report{StreamEnded{"gate"}},
          Report{progress},
          Report{TrialResult{5.5, 9.25, 1.5, 4.25, 1234, true}},
          Report{RecordedFrame{"heterodetect0",
                               7,
                               {{"car", 0.1, 0.2, 0.3, 0.25, 0.875, {"color=red", "type=van"}},
                                {"", 0, 0, 640, 384, 0, {}}}}}};
}

TEST(Report, ComesBackAsItWas) {
  for (const Report& report : reports_of_every_kind()) {
    const std::string line = report.to_line();
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto read = Report::parse(line);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->content.index(), report.content.index());
    EXPECT_EQ(read->to_line(), line);
  }
}

/// Calls back with a path to each member of an object, at any depth.
void each_member(const nlohmann::json& value, const nlohmann::json::json_pointer& at,
                 const std::function<void(nlohmann::json::json_pointer, std::string)>& call) {
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) each_member(value[i], at / i, call);
  }
  if (!value.is_object()) return;
  for (const auto& member : value.items()) {
    call(at, member.key());
    each_member(member.value(), at / member.key(), call);
  }
}

TEST(Report, EachMissingMemberIsNamed) {
  for (const Report& report : reports_of_every_kind()) {
    const auto whole = nlohmann::json::parse(report.to_line());
    each_member(whole, nlohmann::json::json_pointer(),
                [&](const nlohmann::json::json_pointer& at, const std::string& key) {
                  nlohmann::json cut = whole;
                  cut[at].erase(key);
                  const auto read = Report::parse(cut.dump());
                  ASSERT_FALSE(read) << cut;
                  EXPECT_EQ(read.error().code(), StatusCode::ParseError);
                  EXPECT_THAT(read.error().message(),
                              testing::HasSubstr("'" + key + "' is missing"));
                });
  }
}

TEST(Report, MembersOfOtherTypesAreNamed) {
  for (const Report& report : reports_of_every_kind()) {
    const auto whole = nlohmann::json::parse(report.to_line());
    each_member(whole, nlohmann::json::json_pointer(),
                [&](const nlohmann::json::json_pointer& at, const std::string& key) {
                  nlohmann::json other = whole;
                  other[at][key] = nullptr;
                  const auto read = Report::parse(other.dump());
                  ASSERT_FALSE(read) << other;
                  EXPECT_THAT(read.error().message(), testing::HasSubstr("'" + key + "' is null"));
                });
  }
}

TEST(Report, WhatIsNoReportIsSaid) {
  for (const auto& [text, part] : {std::pair{"half a li", "no JSON"},
                                   {"[1]", "not an object"},
                                   {R"({"report":"ended","stream":"a","x":1})", "'x' is not known"},
                                   {R"({"report":"pause"})", "kind 'pause'"},
                                   {R"({"report":"plays","stream":"a","run":-1})", "'run'"}}) {
    const auto read = Report::parse(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code(), StatusCode::ParseError);
    EXPECT_THAT(read.error().message(), testing::HasSubstr(part));
  }
}

TEST(Report, ATextThatIsNoUtf8StillArrives) {
  const auto read = Report::parse(Report{StreamFailed{"a", "no file caf\xe9", -1}}.to_line());
  ASSERT_TRUE(read);
  EXPECT_THAT(std::get<StreamFailed>(read->content).reason, testing::HasSubstr("no file caf"));
}

}  // namespace
}  // namespace het::serving
