/// Batches: caps, queries, and errors that say what cannot be read.

#include <gtest/gtest.h>

#include "tests/gst/batch_rig.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/tensor_model.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

TEST(BatchNegotiation, BelowGStreamer128NoneIsTaken) {
  if (GST_CHECK_VERSION(1, 28, 0)) GTEST_SKIP() << "GStreamer 1.28 has batches";
  ScriptedDevice device;
  ElementRig rig("heterodetect", batches_on_scripted());
  rig.start("multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)");
  EXPECT_EQ(rig.push(gst_buffer_new()), GST_FLOW_NOT_NEGOTIATED);
}

/// The errors of one batch (taken over) behind these caps.
Texts errors_of(const std::string& caps, GstBuffer* batch) {
  ElementRig rig("heterodetect", batches_on_scripted());
  if (!rig.start(caps)) {
    gst_buffer_unref(batch);
    return rig.errors();
  }
  rig.push(batch);
  rig.event(gst_event_new_eos());
  return rig.errors();
}

void expect_error(const Texts& errors, const std::string& text) {
  ASSERT_EQ(errors.size(), 1u) << text;
  EXPECT_NE(errors[0].find(text), std::string::npos) << errors[0];
}

TEST(BatchNegotiation, WhatCannotBeReadIsAnErrorThatNamesTheStream) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  const std::string sound = "audio/x-raw,format=S16LE,rate=8000,channels=1";
  for (const std::string& caps :
       {sound, std::string("video/x-raw(memory:VAMemory),format=NV12,width=64,height=48"),
        std::string("video/x-raw,format=ARGB64,width=64,height=48,framerate=25/1")}) {
    const BatchStreams streams({kBatchBgr, caps});
    const Texts errors = errors_of(streams.caps(), streams.batch(0, {{}, {}}));
    expect_error(errors, "stream 1 of the batches is " + caps.substr(0, caps.find(',')));
    expect_error(errors, "raw video in system memory");
  }
  const BatchStreams two({kBatchBgr, kBatchBgr});
  const BatchStreams one({kBatchBgr});
  expect_error(errors_of(one.caps(), two.batch(0, {{}, {}})),
               "a batch of 2 streams came, and the caps say that there are 1");
  expect_error(errors_of(one.caps(), gst_buffer_new()), "without GstAnalyticsBatchMeta");
  expect_error(
      errors_of("multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)", gst_buffer_new()),
      "no field 'streams'");
  // The sticky event says more than the caps of the batches.
  const BatchStreams other({sound});
  expect_error(errors_of(one.caps(), other.batch(0, {{}})),
               "stream 0 ('stream-0') of the batches is audio/x-raw");
}

std::string caps_field(const GstCaps* caps) {
  gchar* text = gst_caps_to_string(caps);
  std::string result = text;
  g_free(text);
  return result;
}

TEST(BatchNegotiation, TensorsAreInTheCapsOfEachStream) {
  HET_NEEDS_BATCHES();
  const ScratchFolder folder;
  const std::string model =
      write_constant_model(folder, "classes", 24, 32, {{"probabilities", {1, 3}, {0.125f, 0.75f}}});
  const BatchStreams streams({kBatchBgr, kBatchNv12});
  ElementRig rig("heteroinference",
                 "model=" + model + " model-proc=" + write_descriptor(folder, "c", "label"));
  std::vector<GstEvent*> told;
  std::string outer;
  GstPad* pad = gst_element_get_static_pad(rig.element(), "src");
  rig.on_buffer = [&](GstBuffer* batch) {
    GstCaps* caps = gst_pad_get_current_caps(pad);
    outer = caps_field(caps);
    gst_caps_unref(caps);
    for (size_t i = 0; i < 2; ++i)
      told.push_back(gst_event_ref(batch_sticky(batch, i, GST_EVENT_CAPS)));
    return GST_FLOW_OK;
  };
  ASSERT_TRUE(rig.start(streams.caps())) << rig.errors().front();
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(rig.push(streams.batch(i, {{streams.frame(0, i, 1)}, {}})), GST_FLOW_OK);
  finish_batches(rig);
  EXPECT_EQ(outer.rfind("multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta), streams=", 0),
            0u)
      << outer;
  const size_t first = outer.find("tensorgroups");
  ASSERT_NE(first, std::string::npos) << outer;
  EXPECT_NE(outer.find("tensorgroups", first + 1), std::string::npos) << "one a stream: " << outer;
  ASSERT_EQ(told.size(), 4u);
  for (GstEvent* event : told) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    EXPECT_NE(caps_field(caps).find("tensors=(structure)"), std::string::npos) << caps_field(caps);
  }
  EXPECT_EQ(told[2], told[0]) << "what has not changed is the same event";
  EXPECT_EQ(told[3], told[1]);
  for (GstEvent* event : told) gst_event_unref(event);
  gst_object_unref(pad);
}

/// What the element's sink pad takes where downstream takes `caps`.
std::string taken_by(const std::string& element, const std::string& caps) {
  GstElement* bin =
      gst_parse_bin_from_description((element + " ! capsfilter name=after").c_str(), TRUE, nullptr);
  GstElement* after = gst_bin_get_by_name(GST_BIN(bin), "after");
  GstCaps* wanted = gst_caps_from_string(caps.c_str());
  g_object_set(after, "caps", wanted, nullptr);
  GstPad* pad = gst_element_get_static_pad(bin, "sink");
  GstCaps* taken = gst_pad_query_caps(pad, nullptr);
  std::string text = caps_field(taken);
  gst_caps_unref(taken);
  gst_caps_unref(wanted);
  gst_object_unref(pad);
  gst_object_unref(after);
  gst_object_unref(bin);
  return text;
}

TEST(BatchNegotiation, UpstreamIsOfferedStreamsThatCanBeRead) {
  HET_NEEDS_BATCHES();
  const std::string wanted = batch_caps(
      {"video/x-raw,format={ARGB64,NV12},width=64", "video/x-raw,tensors=(structure)[g,a=1]"});
  for (const char* element : {"heterodetect", "heteroinference"}) {
    const std::string taken = taken_by(element, wanted);
    EXPECT_EQ(taken.rfind("multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)", 0), 0u)
        << taken;
    EXPECT_NE(taken.find("NV12"), std::string::npos) << taken;
    EXPECT_NE(taken.find("width=(int)64"), std::string::npos) << taken;
    EXPECT_EQ(taken.find("ARGB64"), std::string::npos) << taken;
  }
  EXPECT_EQ(taken_by("heteroinference", wanted).find("tensors"), std::string::npos);
}

TEST(BatchNegotiation, QueriesAreAnswered) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  const BatchStreams streams({kBatchBgr, kBatchNv12});
  ElementRig rig("heterodetect", batches_on_scripted("nireq=3"));
  ASSERT_TRUE(rig.start(streams.caps()));
  GstCaps* caps = gst_caps_from_string(streams.caps().c_str());
  GstQuery* allocation = gst_query_new_allocation(caps, TRUE);
  EXPECT_TRUE(gst_pad_peer_query(rig.source(), allocation));
  EXPECT_EQ(gst_query_get_n_allocation_pools(allocation), 0u);
  EXPECT_EQ(gst_query_get_n_allocation_metas(allocation), 0u);
  gst_query_unref(allocation);
  gst_caps_unref(caps);
  // 25 and 50 frames a second are one in 13.3 ms; three requests.
  GstPad* pad = gst_element_get_static_pad(rig.element(), "src");
  GstQuery* latency = gst_query_new_latency();
  gst_pad_set_query_function(rig.source(), [](GstPad*, GstObject*, GstQuery* query) -> gboolean {
    if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return FALSE;
    gst_query_set_latency(query, TRUE, 100 * GST_MSECOND, GST_CLOCK_TIME_NONE);
    return TRUE;
  });
  EXPECT_TRUE(gst_pad_query(pad, latency));
  gboolean live = FALSE;
  GstClockTime min = 0;
  gst_query_parse_latency(latency, &live, &min, nullptr);
  EXPECT_TRUE(live);
  EXPECT_NEAR(static_cast<double>(min) / GST_MSECOND, 140.0, 0.01);
  gst_query_unref(latency);
  gst_object_unref(pad);
}

}  // namespace
}  // namespace het::gst_test
