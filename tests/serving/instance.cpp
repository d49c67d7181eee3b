#include "serving/launch/instance/instance.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gst/gst.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "inference/machine/core_count.h"
#include "instance_rig.h"
#include "serving/launch/instance/decoder_threads.h"
#include "serving/launch/instance/stream_group.h"
#include "tests/gst/test_files.h"

namespace het::serving_test {
namespace {

using namespace serving;
using gst_test::ScratchFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Instance, StreamsThatEndAreDone) {
  const InstanceOutcome outcome = run_job(
      job_of({"videotestsrc num-buffers=20 ! tee name=t ! queue ! fakesink t. ! queue ! fakesink",
              "videotestsrc num-buffers=30 ! fakesink audiotestsrc num-buffers=50 ! fakesink"}));
  EXPECT_EQ(outcome.code, kInstanceDone);
  EXPECT_EQ(outcome.messages, "");
  EXPECT_THAT(outcome.history("s1"), ElementsAre("plays 1", "ended"));
  EXPECT_THAT(outcome.history("s2"), ElementsAre("plays 1", "ended"));
  const std::vector<Progress> progress = outcome.all<Progress>();
  ASSERT_FALSE(progress.empty());
  ASSERT_EQ(progress.back().streams.size(), 2u);
  EXPECT_EQ(progress.back().streams[0].frames, 20u) << "a tee makes no more frames";
  EXPECT_EQ(progress.back().streams[1].frames, 30u) << "sound is none";
  EXPECT_EQ(progress.back().streams[0].state, "ended");
  EXPECT_EQ(progress.back().streams[0].runs, 1u);
  EXPECT_GT(progress.back().cpu_s, 0);
}

TEST(Instance, WordsOfACommandLineAreWords) {
  const ScratchFolder folder;
  const std::string file = folder.file("with blanks and \"quotes\".raw");
  Job job = job_of({""});
  job.streams[0].arguments = {"videotestsrc", "num-buffers=2", "!", "filesink", "location=" + file};
  const InstanceOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.code, kInstanceDone) << outcome.messages;
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(Instance, AFailedStreamComesAgainWhileOthersPlay) {
  const InstanceOutcome outcome =
      run_job(job_of({"videotestsrc ! identity name=breaks error-after=20 ! fakesink",
                      "videotestsrc is-live=true num-buffers=30 ! fakesink"}));
  EXPECT_EQ(outcome.code, kInstanceFailed);
  EXPECT_THAT(outcome.history("s1"), ElementsAre("plays 1", "failed 0.05", "plays 2", "failed 0.1",
                                                 "plays 3", "failed for good"));
  EXPECT_THAT(outcome.history("s2"), ElementsAre("plays 1", "ended"));
  EXPECT_THAT(outcome.all<StreamFailed>()[0].reason,
              testing::AllOf(HasSubstr("breaks: Failed after iterations"), HasSubstr("identity.c"),
                             Not(HasSubstr("\n"))));
  EXPECT_THAT(outcome.messages, HasSubstr("error: s1: breaks: Failed"));
  EXPECT_THAT(outcome.messages, HasSubstr("starting again in 0.05 s\n"));
  const Progress last = outcome.all<Progress>().back();
  EXPECT_EQ(last.streams[0].state, "failed");
  EXPECT_EQ(last.streams[0].frames, 57u) << "19 in each run";
  EXPECT_EQ(last.streams[0].runs, 3u);
  EXPECT_EQ(last.streams[1].frames, 30u) << "the other loses none";
}

TEST(Instance, AStreamThatNeverPlayedDoesNotComeAgain) {
  const std::string missing = "filesrc location=/nonexistent/file ! fakesink";
  const InstanceOutcome alone = run_job(job_of({missing}));
  EXPECT_EQ(alone.code, kInstanceUnusable);
  EXPECT_THAT(alone.history("s1"), ElementsAre("failed for good"));
  EXPECT_THAT(alone.messages, HasSubstr("/nonexistent/file"));
  EXPECT_THAT(alone.messages, StartsWith("error: ")) << "a single stream needs no name";
  EXPECT_EQ(std::count(alone.messages.begin(), alone.messages.end(), '\n'), 1);
  const InstanceOutcome beside =
      run_job(job_of({missing, "videotestsrc num-buffers=5 ! fakesink"}));
  EXPECT_EQ(beside.code, kInstanceFailed);
  EXPECT_THAT(beside.history("s2"), ElementsAre("plays 1", "ended"));
}

TEST(Instance, AnAddressThatIsNotThereYetIsTriedAgain) {
  Job job = job_of(
      {"tcpclientsrc host=127.0.0.1 port=1 ! fakesink", "videotestsrc num-buffers=5 ! fakesink"});
  job.back_off = {.first_s = 0.05, .longest_s = 0.1, .stable_s = 60, .most = 3};
  const InstanceOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.code, kInstanceFailed);
  EXPECT_THAT(outcome.messages, HasSubstr("starting again in 0.05 s"));
  EXPECT_EQ(outcome.all<Progress>().back().streams[0].runs, 4u);
  EXPECT_THAT(outcome.history("s2"), ElementsAre("plays 1", "ended"));
}

TEST(Instance, APipelineThatCannotBeMadeStartsNothing) {
  for (const auto& [pipeline, message] :
       {std::pair{"vidotestsrc ! fakesink", "Names near it: 'videotestsrc'"},
        {"videotestsrc num-bufers=1 ! fakesink", "names near it: 'num-buffers'"},
        {"videotestsrc num-buffers=many ! fakesink", "to \"many\""},
        {"videotestsrc !", "stream 's2'"},
        {"", "stream 's2'"}}) {
    const InstanceOutcome outcome =
        run_job(job_of({"videotestsrc num-buffers=1 ! fakesink", pipeline}));
    EXPECT_EQ(outcome.code, kInstanceUnusable);
    EXPECT_TRUE(outcome.reports.empty());
    EXPECT_THAT(outcome.messages, HasSubstr(message));
  }
}

std::string publishing(const std::string& source, const std::string& file,
                       const std::string& behind) {
  return source +
         " ! heterometaconvert add-empty-results=true ! heterometapublish file-path=" + file +
         " ! " + behind + " ! fakesink";
}

nlohmann::json json_of(const std::string& file) {
  std::ifstream stream(file);
  return nlohmann::json::parse(stream, nullptr, false);
}

TEST(Instance, WhatAFailedRunWroteIsSetAside) {
  const ScratchFolder folder;
  const std::string file = folder.file("out.json");
  const InstanceOutcome outcome =
      run_job(job_of({publishing("videotestsrc", file, "identity error-after=20")}));
  EXPECT_EQ(outcome.code, kInstanceFailed) << outcome.messages;
  for (const char* name : {"out.json", "out.1.json", "out.2.json"}) {
    const nlohmann::json messages = json_of(folder.file(name));
    EXPECT_TRUE(messages.is_array()) << name;
    EXPECT_GE(messages.size(), 19u) << name;
    EXPECT_THAT(outcome.messages.find(folder.file(name)) != std::string::npos,
                std::string(name) != "out.json");
  }
}

TEST(Instance, SignalsEndItWithWholeFiles) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const ScratchFolder folder;
    const std::string file = folder.file("out.json");
    const std::string live = publishing("videotestsrc is-live=true", file, "queue");
    const std::string started = "videotestsrc ! fakesink sync=true";
    const InstanceOutcome outcome = run_job(job_of({live, started}), signal_at_play(number));
    EXPECT_EQ(outcome.code, kInstanceDone) << outcome.messages;
    EXPECT_THAT(outcome.history("s1"), Contains("ended"));
    EXPECT_THAT(outcome.history("s2"), Contains("ended"));
    const nlohmann::json messages = json_of(file);
    ASSERT_TRUE(messages.is_array());
    EXPECT_FALSE(messages.empty());
  }
}

TEST(Instance, ASignalWhileAStreamWaitsEndsIt) {
  Job job = job_of({"videotestsrc ! identity error-after=5 ! fakesink"});
  job.back_off = {.first_s = 60, .longest_s = 60, .stable_s = 60, .most = 5};
  const InstanceOutcome outcome = run_job(job, [](const Report& report) {
    if (std::holds_alternative<StreamFailed>(report.content)) kill(getpid(), SIGTERM);
  });
  EXPECT_EQ(outcome.code, kInstanceDone);
  EXPECT_THAT(outcome.history("s1"), ElementsAre("plays 1", "failed 60", "ended"));
}

/// Sends a signal some time after now, then more of them.
std::thread later_signals(std::vector<int> after_ms) {
  return std::thread([after_ms = std::move(after_ms)] {
    for (const int ms : after_ms) {
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
      kill(getpid(), SIGTERM);
    }
  });
}

/// Lets no EOS through.
constexpr char kEndless[] = "videotestsrc is-live=true ! valve drop=true ! fakesink async=false";

TEST(Instance, AStreamThatDoesNotEndIsCutOff) {
  Job job = job_of({kEndless, "videotestsrc is-live=true ! fakesink"});
  job.stop_timeout_s = 0.4;
  std::thread signals = later_signals({300, 100});
  const InstanceOutcome outcome = run_job(job);
  signals.join();
  EXPECT_EQ(outcome.code, kInstanceKilled);
  EXPECT_THAT(outcome.messages, HasSubstr("s1: did not end within 0.4 s"));
  EXPECT_THAT(outcome.messages, Not(HasSubstr("s2")));
  EXPECT_THAT(outcome.history("s2"), ElementsAre("plays 1", "ended"));
}

TEST(Instance, ASecondSignalEndsItAtOnce) {
  Job job = job_of({kEndless});
  job.stop_timeout_s = 60;
  std::thread signals = later_signals({300, 800});
  const auto begin = std::chrono::steady_clock::now();
  const InstanceOutcome outcome = run_job(job);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  signals.join();
  EXPECT_EQ(outcome.code, kInstanceKilled);
  EXPECT_GT(took.count(), 1.0);
  EXPECT_LT(took.count(), 20);
}

TEST(Instance, ALauncherThatIsGoneIsNotMissed) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  ReportWriter reports(ends[1]);
  EXPECT_EQ(run_instance(job_of({"videotestsrc num-buffers=5 ! fakesink"}), reports),
            kInstanceDone);
}

std::string null() {
  return std::to_string(open("/dev/null", O_WRONLY));
}

TEST(Instance, TheJobComesThroughAPipe) {
  int job[2];
  ASSERT_EQ(pipe(job), 0);
  const std::string text = job_of({"videotestsrc num-buffers=5 ! fakesink"}).to_json();
  ASSERT_EQ(write(job[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(job[1]);
  EXPECT_EQ(instance_main(std::to_string(job[0]).c_str(), null().c_str()), kInstanceDone);
  ASSERT_EQ(pipe(job), 0);
  close(job[1]);
  testing::internal::CaptureStderr();
  EXPECT_EQ(instance_main(std::to_string(job[0]).c_str(), null().c_str()), kInstanceUnusable);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("cannot read a job"));
  for (const char* number : {"one", "", "-1", "99999", "1x"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(instance_main(number, "1"), kInstanceUnusable);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no open descriptors"));
  }
}

/// Threads of the device CPU in this process: how many processors each may use.
std::vector<int> cpu_device_threads() {
  std::vector<int> processors;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    if (!name.starts_with("CPU.")) continue;
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(std::stoi(entry.path().filename().string()), sizeof set, &set);
    processors.push_back(CPU_COUNT(&set));
  }
  return processors;
}

/// Those threads while a detector with these settings of its own plays.
std::vector<int> threads_with(const Properties& defaults, const std::string& own,
                              std::string* messages = nullptr) {
  Job job =
      job_of({"videotestsrc is-live=true num-buffers=8 ! video/x-raw,width=320,height=192 "
              "! heterodetect name=d " +
              gst_test::detector_properties() + own + " ! fakesink"});
  job.defaults["CPU"] = defaults;
  std::vector<int> threads;
  const InstanceOutcome outcome = run_job(job, [&](const Report& report) {
    if (std::holds_alternative<StreamPlays>(report.content)) threads = cpu_device_threads();
  });
  EXPECT_EQ(outcome.code, kInstanceDone) << outcome.messages;
  if (messages) *messages = outcome.messages;
  return threads;
}

TEST(Instance, DefaultsHoldWhereTheElementSaysNothing) {
  if (usable_cores() < 2) GTEST_SKIP() << "this process may use one processor only";
  std::string messages;
  EXPECT_THAT(
      threads_with({{"INFERENCE_NUM_THREADS", "1"}, {"CPU_BIND_THREAD", "YES"}}, "", &messages),
      ElementsAre(1));
  EXPECT_EQ(messages, "CPU: CPU_BIND_THREAD=YES INFERENCE_NUM_THREADS=1\n");
  EXPECT_THAT(threads_with({{"INFERENCE_NUM_THREADS", "1"}, {"CPU_BIND_THREAD", "NO"}},
                           "ie-config=INFERENCE_NUM_THREADS=2 ", &messages),
              testing::AllOf(testing::SizeIs(2), testing::Each(testing::Gt(1))));
  EXPECT_EQ(messages,
            "CPU: CPU_BIND_THREAD=NO INFERENCE_NUM_THREADS=1\n"
            "CPU: d says itself INFERENCE_NUM_THREADS=2\n");
}

TEST(Instance, DefaultsThatCannotBeAreSaid) {
  Job job = job_of({"videotestsrc num-buffers=5 ! fakesink"});
  job.defaults["CPU"] = {{"INFERENCE_NUM_THREAD", "1"}};
  const InstanceOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.code, kInstanceUnusable);
  EXPECT_THAT(outcome.messages, HasSubstr("cannot set defaults of CPU"));
  EXPECT_THAT(outcome.messages, HasSubstr("INFERENCE_NUM_THREADS"));
}

TEST(Instance, DecodersGetTheirThreadsAlsoInDecodebin) {
  const ScratchFolder folder;
  const std::string file = folder.file("video.mkv");
  ASSERT_EQ(run_job(job_of({"videotestsrc num-buffers=10 ! video/x-raw,format=I420 ! vp8enc "
                            "deadline=1 ! matroskamux ! filesink location=" +
                            file}))
                .code,
            kInstanceDone);
  Job job = job_of({"filesrc location=" + file + " ! decodebin ! fakesink",
                    "filesrc location=" + file + " ! matroskademux ! vp8dec threads=2 ! fakesink"});
  for (StreamJob& stream : job.streams) stream.decoder_threads = 3;
  std::mutex mutex;
  std::vector<size_t> threads;
  ReportWriter reports(open("/dev/null", O_WRONLY));
  StreamGroup group(
      job, parse_pipelines(job), reports,
      [&](GstElement* element) {
        const auto found = decoder_threads(element);
        std::lock_guard lock(mutex);
        if (found) threads.push_back(*found);
      },
      nullptr);
  group.run();
  EXPECT_EQ(group.exit_code(), kInstanceDone);
  EXPECT_THAT(threads, testing::UnorderedElementsAre(3, 2));
}

}  // namespace
}  // namespace het::serving_test
