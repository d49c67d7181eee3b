#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/tune/record_streams.h"
#include "tests/gst/test_files.h"
#include "tests/serving/instance_rig.h"

namespace het::serving_test {
namespace {

using namespace serving;

/// A picture of the scene with objects, so many times.
std::string scene(int frames) {
  return "filesrc location=" + gst_test::source_file("examples/python/street.jpg") +
         " ! jpegdec ! imagefreeze num-buffers=" + std::to_string(frames) +
         " ! videoconvert ! video/x-raw,format=NV12 ! heterodetect name=d model=" +
         gst_test::detector_model() + " model-proc=" + gst_test::detector_proc();
}

Job record_of(const std::string& pipeline, size_t frames) {
  Job job = job_of({pipeline}, Job::Kind::Record);
  job.record_frames = frames;
  job.trial_s = 60;
  job.unpaced = true;
  return job;
}

TEST(Recording, TellsTheObjectsOfEachFrameAndWritesNothing) {
  const gst_test::ScratchFolder folder;
  gst_test::write_text(folder.file("out.json"), "kept");
  const InstanceOutcome outcome = run_job(
      record_of(scene(5) + " ! heteroclassify name=c model=" + gst_test::classifier_model() +
                    " model-proc=" + gst_test::classifier_proc() +
                    " ! heterometaconvert ! heterometapublish file-path=" +
                    folder.file("out.json") + " ! fakesink",
                3),
      nullptr, record_streams);
  EXPECT_EQ(outcome.code, kInstanceDone) << outcome.messages;
  EXPECT_EQ(gst_test::read_text(folder.file("out.json")), "kept");
  size_t of_detector = 0;
  size_t of_classifier = 0;
  for (const RecordedFrame& frame : outcome.all<RecordedFrame>()) {
    const bool is_classified = frame.element == "c";
    EXPECT_EQ(frame.index, is_classified ? of_classifier : of_detector);
    ++(is_classified ? of_classifier : of_detector);
    ASSERT_GE(frame.objects.size(), 4u);
    for (const RecordedFrame::Object& object : frame.objects) {
      EXPECT_NE(object.label, "");
      EXPECT_GT(object.confidence, 0.5);
      EXPECT_GT(object.width, 0);
      EXPECT_LT(object.width, 1) << "as the model gave it, not whole pixels";
      EXPECT_EQ(object.attributes.empty(), !is_classified);
    }
  }
  EXPECT_EQ(of_detector, 3u);
  EXPECT_EQ(of_classifier, 3u);
}

TEST(Recording, EndsWithItsStream) {
  const InstanceOutcome outcome =
      run_job(record_of(scene(4) + " ! fakesink", 90), nullptr, record_streams);
  EXPECT_EQ(outcome.code, kInstanceDone) << outcome.messages;
  EXPECT_EQ(outcome.all<RecordedFrame>().size(), 4u);
}

TEST(Recording, LateFramesAreAnalysedToo) {
  const InstanceOutcome outcome = run_job(
      record_of(
          scene(10) + " qos=true no-block=true nireq=1 device=REF ! fakesink sync=true qos=true",
          10),
      nullptr, record_streams);
  const auto frames = outcome.all<RecordedFrame>();
  ASSERT_EQ(frames.size(), 10u) << outcome.messages;
  for (const RecordedFrame& frame : frames) EXPECT_GE(frame.objects.size(), 4u) << frame.index;
}

TEST(Recording, WhatFailsIsTold) {
  const InstanceOutcome outcome =
      run_job(record_of(scene(4) + " device=NOWHERE ! fakesink", 90), nullptr, record_streams);
  EXPECT_EQ(outcome.code, kInstanceUnusable);
  EXPECT_THAT(outcome.history("s1"), testing::ElementsAre("failed for good"));
}

TEST(Recording, AProgramWithoutItSaysSo) {
  const InstanceOutcome outcome = run_job(record_of(scene(4) + " ! fakesink", 90));
  EXPECT_EQ(outcome.code, kInstanceUnusable);
  EXPECT_THAT(outcome.messages, testing::HasSubstr("does not record"));
}

/// A trial of a short file goes on until its time is over.
TEST(Looping, AShortFileIsPlayedAgain) {
  const gst_test::ScratchFolder folder;
  const std::string video = folder.file("short.mkv");
  ASSERT_EQ(
      run_job(job_of({"videotestsrc num-buffers=30 ! video/x-raw,width=320,height=240 ! jpegenc ! "
                      "matroskamux ! filesink location=" +
                      video}))
          .code,
      kInstanceDone);
  Job job =
      job_of({"filesrc location=" + video + " ! matroskademux ! jpegdec ! fakesink sync=true"},
             Job::Kind::Trial);
  job.loops = true;
  job.unpaced = true;
  const InstanceOutcome outcome = run_job(job);
  ASSERT_EQ(outcome.all<TrialResult>().size(), 1u) << outcome.messages;
  const TrialResult result = outcome.all<TrialResult>()[0];
  EXPECT_FALSE(result.ended_early);
  EXPECT_NEAR(result.wall_s, 1, 0.5);
  EXPECT_GT(result.frames, 60u) << "more than the file has, and faster than the clock";
}

TEST(Looping, WhatCannotBeginAnewCountsToItsEnd) {
  for (const std::string& pipeline :
       {std::string("videotestsrc num-buffers=100 ! identity sleep-time=1000 ! fakesink"),
        std::string("videotestsrc num-buffers=100 ! identity sleep-time=1000 ! x264enc "
                    "speed-preset=ultrafast ! "
                    "h264parse ! mp4mux ! "
                    "filesink location=/nowhere/out.mp4")}) {
    Job job = job_of({pipeline}, Job::Kind::Trial);
    job.loops = true;
    job.trial_s = 20;
    const InstanceOutcome outcome = run_job(job);
    ASSERT_EQ(outcome.all<TrialResult>().size(), 1u) << pipeline << outcome.messages;
    const TrialResult result = outcome.all<TrialResult>()[0];
    EXPECT_TRUE(result.ended_early);
    EXPECT_LT(result.wall_s, 5);
    EXPECT_GE(result.frames, 90u);
  }
}

}  // namespace
}  // namespace het::serving_test
