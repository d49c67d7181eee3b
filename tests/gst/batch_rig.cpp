#include "batch_rig.h"

#include "test_files.h"

namespace het::gst_test {

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
