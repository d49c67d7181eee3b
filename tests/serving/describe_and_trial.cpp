#include <gmock/gmock.h>
#include <gst/gst.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "instance_rig.h"
#include "tests/gst/test_files.h"

namespace het::serving_test {
namespace {

using namespace serving;
using gst_test::ScratchFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(Describe, TellsWhatIsInAPipeline) {
  const ScratchFolder folder;
  const InstanceOutcome outcome = run_job(job_of(
      {"v4l2src ! vp9dec ! heterodetect name=d device=HETERO:GPU,CPU model=m.onnx "
       "ie-config=CPU_THROUGHPUT_STREAMS=2,PERF_COUNT=YES ! heteroclassify name=c "
       "cpu-throughput-streams=3 ! heterometaconvert ! heterometapublish file-path=" +
           folder.file("a.json") + " ! fakesink filesrc location=x ! vp8dec threads=5 ! fakesink",
       "videotestsrc ! tee name=t ! heterometapublish file-path=stdout ! fakesink t. ! "
       "heterometapublish method=stdout ! filesink location=/dev/null t. ! filesink location=" +
           folder.file("b.raw") +
           " t. ! multifilesink location=d%d.jpg filesrc location=y ! "
           "h264parse ! splitmuxsink location=" +
           folder.file("c%02d.mp4")},
      Job::Kind::Describe));
  EXPECT_EQ(outcome.code, kInstanceDone) << outcome.messages;
  const auto descriptions = outcome.all<StreamDescription>();
  ASSERT_EQ(descriptions.size(), 2u);
  EXPECT_EQ(descriptions[0].stream, "s1");
  ASSERT_EQ(descriptions[0].inferences.size(), 2u);
  EXPECT_EQ(descriptions[0].inferences[0].element, "d");
  EXPECT_EQ(descriptions[0].inferences[0].device, "HETERO:GPU,CPU");
  EXPECT_EQ(descriptions[0].inferences[0].model, "m.onnx");
  EXPECT_THAT(descriptions[0].inferences[0].properties,
              ElementsAre(Pair("CPU.NUM_STREAMS", "2"), Pair("HETERO.PERF_COUNT", "YES")));
  EXPECT_EQ(descriptions[0].inferences[1].element, "c");
  EXPECT_THAT(descriptions[0].inferences[1].properties, ElementsAre(Pair("CPU.NUM_STREAMS", "3")));
  EXPECT_THAT(descriptions[0].device_files, ElementsAre("/dev/video0"));
  EXPECT_THAT(descriptions[0].written_files, ElementsAre(folder.file("a.json")));
  ASSERT_EQ(descriptions[0].decoders.size(), 2u);
  EXPECT_EQ(descriptions[0].decoders[0].threads, 0u);
  EXPECT_EQ(descriptions[0].decoders[1].threads, 5u);
  EXPECT_THAT(
      descriptions[1].written_files,
      testing::UnorderedElementsAre(folder.file("b.raw"), folder.file("c%02d.mp4"), "d%d.jpg"));
  EXPECT_THAT(descriptions[1].inferences, IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(folder.file("x")).parent_path()))
      << "nothing is opened";
}

TEST(Describe, AFifoIsNoFile) {
  const ScratchFolder folder;
  const std::string fifo = folder.file("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const InstanceOutcome outcome = run_job(job_of(
      {"videotestsrc ! heterometapublish file-path=" + fifo + " ! fakesink"}, Job::Kind::Describe));
  ASSERT_EQ(outcome.all<StreamDescription>().size(), 1u) << outcome.messages;
  EXPECT_THAT(outcome.all<StreamDescription>()[0].written_files, IsEmpty());
}

/// Five seconds of H.264, made by an instance.
std::string made_video(const ScratchFolder& folder) {
  const std::string file = folder.file("video.mkv");
  const InstanceOutcome outcome = run_job(job_of(
      {"videotestsrc num-buffers=150 pattern=ball ! video/x-raw,format=I420,width=640,height=384,"
       "framerate=30/1 ! x264enc speed-preset=ultrafast ! h264parse ! matroskamux ! filesink "
       "location=" +
       file}));
  EXPECT_EQ(outcome.code, kInstanceDone) << outcome.messages;
  return file;
}

void expect_plausible(const TrialResult& result) {
  EXPECT_GT(result.cpu_s, 0);
  EXPECT_GE(result.decoding_s, 0);
  EXPECT_GE(result.inference_s, 0);
  // Hooks and clocks of threads are read one after the other.
  EXPECT_LE(result.decoding_s + result.inference_s, result.cpu_s + 0.05);
}

TEST(Trial, MeasuresWithoutTouchingAFile) {
  const ScratchFolder folder;
  const std::string video = made_video(folder);
  gst_test::write_text(folder.file("out.json"), "kept");
  gst_test::write_text(folder.file("p00000.jpg"), "kept");
  for (const size_t decoder_threads : {1, 2}) {
    Job job =
        job_of({"filesrc location=" + video + " ! decodebin ! heterodetect " +
                gst_test::detector_properties() +
                " ! heterometaconvert ! heterometapublish file-path=" + folder.file("out.json") +
                " ! tee name=t ! queue ! fakesink sync=true t. ! queue ! filesink location=" +
                folder.file("out.raw") + " t. ! queue ! multifilesink max-files=2 location=" +
                folder.file("p%05d.jpg") + " t. ! queue ! fdsink fd=1"},
               Job::Kind::Trial);
    for (StreamJob& stream : job.streams) stream.decoder_threads = decoder_threads;
    testing::internal::CaptureStdout();
    const InstanceOutcome outcome = run_job(job);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(outcome.code, kInstanceDone) << outcome.messages;
    ASSERT_EQ(outcome.all<TrialResult>().size(), 1u);
    const TrialResult result = outcome.all<TrialResult>()[0];
    EXPECT_FALSE(result.ended_early);
    EXPECT_NEAR(result.wall_s, 1, 0.5);
    EXPECT_GE(result.frames, 20u);
    EXPECT_LE(result.frames, 110u) << "at the rate of the video, and what a queue holds";
    EXPECT_GT(result.decoding_s, 0);
    EXPECT_GT(result.inference_s, 0);
    expect_plausible(result);
  }
  EXPECT_EQ(gst_test::read_text(folder.file("out.json")), "kept");
  EXPECT_EQ(gst_test::read_text(folder.file("p00000.jpg")), "kept");
  EXPECT_FALSE(std::filesystem::exists(folder.file("out.raw")));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

/// Nearly all that this pipeline does is decoding, whatever number of threads does it.
TEST(Trial, CountsTimeOfDecodersThreads) {
  const ScratchFolder folder;
  const std::string video = made_video(folder);
  for (const size_t decoder_threads : {1, 2}) {
    Job job = job_of({"filesrc location=" + video + " ! decodebin ! fakesink"}, Job::Kind::Trial);
    for (StreamJob& stream : job.streams) stream.decoder_threads = decoder_threads;
    const InstanceOutcome outcome = run_job(job);
    ASSERT_EQ(outcome.all<TrialResult>().size(), 1u) << outcome.messages;
    const TrialResult result = outcome.all<TrialResult>()[0];
    EXPECT_TRUE(result.ended_early) << "150 frames take less than a second";
    EXPECT_GT(result.decoding_s, 0.5 * result.cpu_s) << decoder_threads;
    EXPECT_EQ(result.inference_s, 0);
    expect_plausible(result);
  }
}

/// A frame each 0.3 s; the first begins the trial.
TEST(Trial, ASlowPipelineHasSomeFrames) {
  Job job = job_of({"videotestsrc ! identity sleep-time=300000 ! fakesink"}, Job::Kind::Trial);
  job.trial_s = 0.2;
  const InstanceOutcome outcome = run_job(job);
  ASSERT_EQ(outcome.all<TrialResult>().size(), 1u) << outcome.messages;
  const TrialResult result = outcome.all<TrialResult>()[0];
  EXPECT_FALSE(result.ended_early);
  EXPECT_GE(result.frames, 4u);
  EXPECT_GE(result.wall_s, 1) << "not 0.2";
  EXPECT_LT(result.wall_s, 10) << "no longer than it has to";
}

TEST(Trial, WhatFailsCannotBeMeasured) {
  const InstanceOutcome fails = run_job(job_of(
      {"videotestsrc ! identity sleep-time=1000 error-after=50 ! fakesink"}, Job::Kind::Trial));
  EXPECT_EQ(fails.code, kInstanceUnusable);
  EXPECT_THAT(fails.history("s1"), ElementsAre("plays 1", "failed for good"));
  EXPECT_THAT(fails.all<TrialResult>(), IsEmpty());
  const InstanceOutcome apart =
      run_job(job_of({"videotestsrc num-buffers=1 ! fakesink",
                      "videotestsrc is-live=true ! identity sleep-time=600000 ! fakesink"},
                     Job::Kind::Trial));
  EXPECT_EQ(apart.code, kInstanceUnusable);
  EXPECT_THAT(apart.messages, HasSubstr("ended before all of them played"));
}

}  // namespace
}  // namespace het::serving_test
