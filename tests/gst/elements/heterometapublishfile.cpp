#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

const std::string kMessages =
    "videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48,framerate=25/1 ! "
    "heterometaconvert add-empty-results=true ! ";

TEST(HeteroMetaPublishFile, WritesAnArrayOrLines) {
  const ScratchFolder folder;
  PipelineRun array(kMessages + "heterometapublishfile file-path=" + folder.file("array.json") +
                    " ! fakesink");
  EXPECT_EQ(array.play().problem(), "");
  EXPECT_EQ(nlohmann::json::parse(read_text(folder.file("array.json"))).size(), 5u);

  PipelineRun lines(kMessages + "heterometapublishfile file-format=json-lines file-path=" +
                    folder.file("lines.json") + " ! fakesink");
  EXPECT_EQ(lines.play().problem(), "");
  const std::string text = read_text(folder.file("lines.json"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
}

TEST(HeteroMetaPublishFile, StandardOutputUnlessAFileIsGiven) {
  testing::internal::CaptureStdout();
  PipelineRun run(kMessages + "heterometapublishfile ! fakesink");
  const std::string problem = run.play().problem();
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(problem, "");
  EXPECT_EQ(nlohmann::json::parse(text).size(), 5u);
}

TEST(HeteroMetaPublishFile, HasNothingOfABroker) {
  GstElement* element = gst_element_factory_make("heterometapublishfile", nullptr);
  ASSERT_NE(element, nullptr);
  GObjectClass* klass = G_OBJECT_GET_CLASS(element);
  EXPECT_NE(g_object_class_find_property(klass, "file-path"), nullptr);
  for (const char* name : {"method", "address", "topic", "mqtt-config"})
    EXPECT_EQ(g_object_class_find_property(klass, name), nullptr) << name;
  gst_object_unref(element);
}

TEST(HeteroMetaPublishFile, AHandoffIsInsteadOfAMessage) {
  const ScratchFolder folder;
  for (const char* element : {"heterometapublishfile", "heterometapublish"}) {
    PipelineRun run(kMessages + element + " name=publish signal-handoffs=true file-path=" +
                    folder.file("none.json") + " ! fakesink");
    int frames = 0;
    const auto count = +[](GstElement*, GstBuffer* buffer, int* counted) {
      if (GST_IS_BUFFER(buffer)) ++*counted;
    };
    g_signal_connect(run.element("publish"), "handoff", G_CALLBACK(count), &frames);
    EXPECT_EQ(run.play().problem(), "");
    EXPECT_EQ(frames, 5);
    EXPECT_FALSE(std::filesystem::exists(folder.file("none.json")));
  }
}

TEST(HeteroMetaPublishFile, AFileThatCannotBeWrittenIsOneError) {
  PipelineRun run(kMessages +
                  "heterometapublishfile name=publish file-path=/absent/folder/x ! fakesink");
  const Outcome outcome = run.play();
  ASSERT_EQ(outcome.errors_of("publish").size(), 1u);
  EXPECT_NE(outcome.errors_of("publish")[0].text.find("/absent/folder/x"), std::string::npos);
}

}  // namespace
}  // namespace het::gst_test
