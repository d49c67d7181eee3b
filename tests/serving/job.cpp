#include "serving/launch/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace het::serving {
namespace {

Job whole_job() {
  Job job;
  job.kind = Job::Kind::Trial;
  job.instance = "node 1";
  job.number = 1;
  job.restarts = 3;
  job.streams = {{"a", {"videotestsrc", "!", "fakesink"}, 3},
                 {"b", {"videotestsrc ! \"quoted\" ! fakesink"}, 0},
                 {"bytes", {"filesrc", "location=caf\xe9.mp4", ""}, 0}};
  job.defaults = {{"CPU", {{"INFERENCE_NUM_THREADS", "2"}}}, {"GPU", {}}};
  job.trial_s = 1.5;
  job.loops = true;
  job.unpaced = true;
  job.record_frames = 90;
  job.back_off = {.first_s = 0.25, .longest_s = 8, .stable_s = 30, .most = 4};
  job.stop_timeout_s = 2.5;
  return job;
}

TEST(Job, ComesBackAsItWas) {
  for (const Job& job : {whole_job(), Job{}}) {
    const auto read = Job::parse(job.to_json());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read, job);
  }
}

TEST(Job, EachMissingMemberIsNamed) {
  const auto whole = nlohmann::json::parse(whole_job().to_json());
  for (const auto& member : whole.items()) {
    nlohmann::json cut = whole;
    cut.erase(member.key());
    const auto read = Job::parse(cut.dump());
    ASSERT_FALSE(read) << member.key();
    EXPECT_EQ(read.error().code(), StatusCode::ParseError);
    EXPECT_THAT(read.error().message(), testing::HasSubstr("'" + member.key() + "'"));
  }
}

TEST(Job, MembersOfOtherTypesAreNamed) {
  const auto whole = nlohmann::json::parse(whole_job().to_json());
  for (const auto& member : whole.items()) {
    nlohmann::json other = whole;
    other[member.key()] = nullptr;
    const auto read = Job::parse(other.dump());
    ASSERT_FALSE(read) << member.key();
    EXPECT_THAT(read.error().message(), testing::HasSubstr("'" + member.key() + "'"));
  }
}

void expect_error(const char* text, const char* part) {
  const auto read = Job::parse(text);
  ASSERT_FALSE(read) << text;
  EXPECT_EQ(read.error().code(), StatusCode::ParseError);
  EXPECT_THAT(read.error().message(), testing::HasSubstr(part));
}

TEST(Job, WhatCannotBeReadIsSaid) {
  expect_error("", "no JSON");
  expect_error("{\"kind\":", "no JSON");
  expect_error("[]", "not an object");
  nlohmann::json job = nlohmann::json::parse(whole_job().to_json());
  const auto with = [&](const char* pointer, nlohmann::json value) {
    nlohmann::json changed = job;
    changed[nlohmann::json::json_pointer(pointer)] = std::move(value);
    return changed.dump();
  };
  expect_error(with("/more", 1).c_str(), "'more' is not known");
  expect_error(with("/kind", "rest").c_str(), "'rest', not run, describe, trial or record");
  expect_error(with("/streams/1/arguments/0", 7).c_str(), "argument 1");
  expect_error(with("/streams/1/arguments", "a").c_str(), "stream 2 of a job");
  expect_error(with("/streams/2/arguments/0", {1, 256}).c_str(), "argument 1");
  expect_error(with("/streams/0", 1).c_str(), "not an object");
  expect_error(with("/defaults/CPU/NUM_STREAMS", 2).c_str(), "NUM_STREAMS of CPU");
  expect_error(with("/defaults/CPU", 2).c_str(), "defaults of CPU");
  expect_error(with("/streams/0/decoder_threads", -1).c_str(), "no less than 0");
  expect_error(with("/back_off/most", "x").c_str(), "'most'");
}

}  // namespace
}  // namespace het::serving
