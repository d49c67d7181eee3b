#include "batch_rig.h"

#include <atomic>

#include "test_files.h"

namespace het::gst_test {
namespace {

std::atomic<int> batch_complaints{0};

void count_batch_complaint(const gchar* domain, GLogLevelFlags level, const gchar* text,
                           gpointer user) {
  if (level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING)) ++batch_complaints;
  g_log_default_handler(domain, level, text, user);
}

}  // namespace

NoComplaints::NoComplaints() {
  batch_complaints = 0;
  before_ = g_log_set_default_handler(count_batch_complaint, nullptr);
}

NoComplaints::~NoComplaints() {
  g_log_set_default_handler(before_, nullptr);
  EXPECT_EQ(batch_complaints, 0);
}

std::string batches_on_scripted(const std::string& more) {
  return detector_properties() + " device=SCRIPTED threshold=0.1 " + more;
}

LeavingBatches::LeavingBatches(ElementRig& rig, size_t streams) {
  rig.on_buffer = [this, streams](GstBuffer* buffer) {
    std::vector<Texts> texts;
    for (size_t i = 0; i < streams; ++i) texts.push_back(batch_texts(buffer, i));
    batches.push_back(texts);
    return GST_FLOW_OK;
  };
}

void finish_batches(ElementRig& rig) {
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_EQ(rig.errors(), Texts());
}

std::string found_alone(const std::string& caps, int number, int value) {
  ElementRig rig("heterodetect", batches_on_scripted());
  EXPECT_TRUE(rig.start(caps));
  std::string text;
  rig.on_buffer = [&](GstBuffer* buffer) {
    text = frame_text(buffer);
    return GST_FLOW_OK;
  };
  EXPECT_EQ(rig.push(rig.frame(number, value)), GST_FLOW_OK);
  finish_batches(rig);
  EXPECT_NE(text.find(","), std::string::npos) << "nothing was found: " << text;
  return text;
}

}  // namespace het::gst_test
