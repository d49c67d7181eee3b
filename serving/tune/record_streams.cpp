#include "serving/tune/record_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "serving/launch/instance/bus_text.h"
#include "serving/launch/instance/stream_description.h"
#include "serving/launch/instance/stream_group.h"
#include "serving/launch/instance/written_files.h"
#include "serving/tune/frame_objects.h"

namespace het::serving {
namespace {

constexpr double kMostStopS = 30;
constexpr guint kLookMs = 20;

/// What left one inference element. Written by streaming threads.
struct ElementRecord {
  std::string element;
  size_t most = 0;
  std::mutex mutex;  ///< protects frames; taken alone
  std::vector<std::vector<RecordedFrame::Object>> frames;

  bool is_full() {
    std::lock_guard lock(mutex);
    return frames.size() >= most;
  }
};

GstPadProbeReturn take_frame(GstPad*, GstPadProbeInfo* content, gpointer user) {
  auto& record = **static_cast<std::shared_ptr<ElementRecord>*>(user);
  auto objects = frame_objects(GST_PAD_PROBE_INFO_BUFFER(content));
  std::lock_guard lock(record.mutex);
  if (record.frames.size() < record.most) record.frames.push_back(std::move(objects));
  return GST_PAD_PROBE_OK;
}

void drop_record(gpointer user) {
  delete static_cast<std::shared_ptr<ElementRecord>*>(user);
}

/// Whatever the pipeline says of late frames and of the form of results.
void prepare_inference(GstElement* element) {
  if (has_property(element, "qos")) g_object_set(element, "qos", FALSE, nullptr);
  if (has_property(element, "no-block")) g_object_set(element, "no-block", FALSE, nullptr);
  if (has_property(element, "metadata-form")) {
    gst_util_set_object_arg(G_OBJECT(element), "metadata-form", "roi");
  }
}

class Record {
 public:
  Record(const Job& job, std::vector<ElementRef> pipelines, ReportWriter& reports)
      : job_(without_retry(job)),
        reports_(reports),
        records_(watched(job_, pipelines)),
        group_(
            job_, std::move(pipelines), reports,
            [this](GstElement* element) {
              no_output_.redirect(element);
              if (job_.unpaced) unpace(element);
            },
            [this] { on_changed(); }) {}

  int run() {
    const auto look = [](gpointer user) -> gboolean {
      static_cast<Record*>(user)->look();
      return G_SOURCE_CONTINUE;
    };
    const auto end = [](gpointer user) -> gboolean {
      auto& self = *static_cast<Record*>(user);
      self.end_timer_ = 0;
      self.finish();
      return G_SOURCE_REMOVE;
    };
    const guint look_timer = g_timeout_add(kLookMs, look, this);
    end_timer_ = g_timeout_add(
        static_cast<guint>(std::lround(std::clamp(job_.trial_s, 0.0, 1e6) * 1000)), end, this);
    group_.run();
    g_source_remove(look_timer);
    if (end_timer_ != 0) g_source_remove(end_timer_);
    if (group_.was_stopped()) return kInstanceKilled;
    return has_failed_ ? kInstanceUnusable : kInstanceDone;
  }

 private:
  static Job without_retry(Job job) {
    job.back_off.most = 0;
    return job;
  }

  static std::vector<std::shared_ptr<ElementRecord>> watched(
      const Job& job, const std::vector<ElementRef>& pipelines) {
    std::vector<std::shared_ptr<ElementRecord>> records;
    for (const ElementRef& pipeline : pipelines) {
      for (const ElementRef& element : elements_of(pipeline.get())) {
        if (!has_property(element.get(), "nireq") || !has_property(element.get(), "model"))
          continue;
        GstPad* pad = gst_element_get_static_pad(element.get(), "src");
        if (!pad) continue;
        prepare_inference(element.get());
        auto record = std::make_shared<ElementRecord>();
        record->element = GST_OBJECT_NAME(element.get());
        record->most = job.record_frames;
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, take_frame,
                          new std::shared_ptr<ElementRecord>(record), drop_record);
        gst_object_unref(pad);
        records.push_back(std::move(record));
      }
    }
    return records;
  }

  void on_changed() {
    for (const auto& stream : group_.streams()) {
      has_failed_ = has_failed_ || stream->state() == Stream::State::Failed;
    }
    const bool has_ended = std::ranges::all_of(group_.streams(), [](const auto& stream) {
      return stream->state() == Stream::State::Ended;
    });
    if (has_failed_ || has_ended) finish();
  }

  void look() {
    if (std::ranges::all_of(records_, [](const auto& record) { return record->is_full(); })) {
      finish();
    }
  }

  void finish() {
    if (std::exchange(is_over_, true)) return;
    for (const auto& record : records_) {
      std::lock_guard lock(record->mutex);
      for (size_t i = 0; i < record->frames.size(); ++i) {
        reports_.write(Report{RecordedFrame{record->element, i, record->frames[i]}});
      }
    }
    group_.cut(kMostStopS);
  }

  const Job job_;
  ReportWriter& reports_;
  NoOutput no_output_;
  std::vector<std::shared_ptr<ElementRecord>> records_;
  StreamGroup group_;
  guint end_timer_ = 0;
  bool has_failed_ = false;
  bool is_over_ = false;
};

}  // namespace

int record_streams(const Job& job, std::vector<ElementRef> pipelines, ReportWriter& reports) {
  return Record(job, std::move(pipelines), reports).run();
}

}  // namespace het::serving
