#include "serving/archive/scan/uri_content.h"

#include <fmt/format.h>
#include <gst/gst.h>

#include <atomic>

#include "serving/archive/records/pipeline_words.h"
#include "serving/archive/scan/pipeline_end.h"
#include "serving/launch/instance/pipeline_elements.h"

namespace het::archive {
namespace {

struct Reading {
  Sha256 sum;
  std::atomic<uint64_t> bytes = 0;
};

GstPadProbeReturn take_bytes(GstPad*, GstPadProbeInfo* probe, gpointer user) {
  auto& reading = *static_cast<Reading*>(user);
  GstMapInfo mapped = GST_MAP_INFO_INIT;
  GstBuffer* const buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
  if (gst_buffer_map(buffer, &mapped, GST_MAP_READ)) {
    reading.sum.add({reinterpret_cast<const char*>(mapped.data), mapped.size});
    reading.bytes.fetch_add(mapped.size);
    gst_buffer_unmap(buffer, &mapped);
  }
  return GST_PAD_PROBE_OK;
}

}  // namespace

Result<FileDigest> digest_uri(const std::string& uri, const std::function<bool()>& is_stopped) {
  const serving::ElementRef pipeline(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  GError* failure = nullptr;
  GstElement* const source = gst_element_make_from_uri(GST_URI_SRC, uri.c_str(), nullptr, &failure);
  GstElement* const sink = gst_element_factory_make("fakesink", nullptr);
  if (source) gst_bin_add(GST_BIN(pipeline.get()), source);
  if (sink) gst_bin_add(GST_BIN(pipeline.get()), sink);
  const std::string reason = failure ? failure->message : "it cannot be linked";
  g_clear_error(&failure);
  if (!source || !sink || !gst_element_link(source, sink)) {
    return error(StatusCode::NotFound, "cannot read '{}': {}", unsigned_uri(uri), reason);
  }
  g_object_set(sink, "sync", FALSE, nullptr);
  Reading reading;
  GstPad* const pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, take_bytes, &reading, nullptr);
  gst_object_unref(pad);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  HET_TRY(wait_for_end(
      pipeline.get(), unsigned_uri(uri), [&reading] { return reading.bytes.load(); }, is_stopped));
  FileDigest digest;
  digest.sha256 = reading.sum.digits();
  digest.bytes = reading.bytes;
  return digest;
}

}  // namespace het::archive
