#include "serving/launch/instance/pipeline_run.h"

#include <utility>
#include <vector>

#include "serving/launch/instance/bus_text.h"

namespace het::serving {
namespace {

/// Work on a pipeline that may take long, on another thread, and what comes back from it.
struct PipelineWork {
  std::function<GstStateChangeReturn(GstElement*)> work;
  std::function<void(GstStateChangeReturn)> done;
  GstStateChangeReturn outcome = GST_STATE_CHANGE_FAILURE;
};

gboolean tell_outcome(gpointer user) {
  auto& work = *static_cast<PipelineWork*>(user);
  work.done(work.outcome);
  return G_SOURCE_REMOVE;
}

void drop_work(gpointer user) {
  delete static_cast<PipelineWork*>(user);
}

void do_work(GstElement* pipeline, gpointer user) {
  auto* work = static_cast<PipelineWork*>(user);
  work->outcome = work->work(pipeline);
  g_idle_add_full(G_PRIORITY_DEFAULT, tell_outcome, work, drop_work);
}

/// To each source by itself: an event to the pipeline holds the lock of its state while a source
/// waits for the buffer that it is pushing, and that may wait at a sink for the pipeline to play.
GstStateChangeReturn send_eos_to_sources(GstElement* pipeline) {
  for (const ElementRef& source : sources_of(pipeline)) {
    gst_element_send_event(source.get(), gst_event_new_eos());
  }
  return GST_STATE_CHANGE_SUCCESS;
}

GstStateChangeReturn seek_to_begin(GstElement* pipeline) {
  const auto flags = static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT);
  return gst_element_seek_simple(pipeline, GST_FORMAT_TIME, flags, 0) ? GST_STATE_CHANGE_SUCCESS
                                                                      : GST_STATE_CHANGE_FAILURE;
}

}  // namespace

std::shared_ptr<PipelineRun> PipelineRun::start(ElementRef pipeline, std::string label,
                                                std::function<void(GstElement*)> prepare,
                                                Listener listener) {
  std::shared_ptr<PipelineRun> run(new PipelineRun(std::move(pipeline), std::move(label),
                                                   std::move(prepare), std::move(listener)));
  run->change_state(GST_STATE_PLAYING, &PipelineRun::on_started);
  return run;
}

PipelineRun::PipelineRun(ElementRef pipeline, std::string label,
                         std::function<void(GstElement*)> prepare, Listener listener)
    : pipeline_(std::move(pipeline)),
      label_(std::move(label)),
      prepare_(std::move(prepare)),
      listener_(std::move(listener)),
      counter_(pipeline_.get()) {
  const auto added = [](GstBin*, GstBin*, GstElement* element, gpointer user) {
    auto& self = *static_cast<PipelineRun*>(user);
    self.prepare_(element);
    self.counter_.watch(element);
  };
  g_signal_connect(
      pipeline_.get(), "deep-element-added",
      G_CALLBACK(static_cast<void (*)(GstBin*, GstBin*, GstElement*, gpointer)>(added)), this);
  for (const ElementRef& element : elements_of(pipeline_.get())) {
    prepare_(element.get());
    counter_.watch(element.get());
  }
  const auto take = [](GstBus*, GstMessage* message, gpointer user) -> gboolean {
    // A listener may let go of the run.
    const auto self = static_cast<PipelineRun*>(user)->shared_from_this();
    self->on_message(message);
    return G_SOURCE_CONTINUE;
  };
  GstBus* bus = gst_element_get_bus(pipeline_.get());
  bus_watch_ = gst_bus_add_watch(bus, take, this);
  gst_object_unref(bus);
}

PipelineRun::~PipelineRun() {
  if (bus_watch_ != 0) g_source_remove(bus_watch_);
  g_signal_handlers_disconnect_by_data(pipeline_.get(), this);
}

void PipelineRun::on_other_thread(std::function<GstStateChangeReturn(GstElement*)> work,
                                  void (PipelineRun::*done)(GstStateChangeReturn)) {
  auto* whole = new PipelineWork{std::move(work), [self = shared_from_this(), done](auto outcome) {
                                   ((*self).*done)(outcome);
                                 }};
  gst_element_call_async(pipeline_.get(), do_work, whole, nullptr);
}

void PipelineRun::change_state(GstState state, void (PipelineRun::*done)(GstStateChangeReturn)) {
  on_other_thread([state](GstElement* pipeline) { return gst_element_set_state(pipeline, state); },
                  done);
}

void PipelineRun::on_started(GstStateChangeReturn outcome) {
  if (stop_wanted_) return;
  has_started_ = true;
  is_live_ = outcome == GST_STATE_CHANGE_NO_PREROLL;
  if (outcome == GST_STATE_CHANGE_FAILURE) {
    // The reason is on the bus already.
    GstBus* bus = gst_element_get_bus(pipeline_.get());
    while (GstMessage* message = is_over_ ? nullptr : gst_bus_pop(bus)) {
      on_message(message);
      gst_message_unref(message);
    }
    gst_object_unref(bus);
    fail("an element could not be started and did not say why");
  } else if (end_wanted_) {
    send_eos();
  }
}

void PipelineRun::end() {
  if (end_wanted_) return;
  end_wanted_ = true;
  if (has_started_ && !is_over_ && !stop_wanted_) send_eos();
}

void PipelineRun::send_eos() {
  // Sinks tell of EOS only in PLAYING.
  if (is_buffering_) gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  is_buffering_ = false;
  is_sending_eos_ = true;
  on_other_thread(send_eos_to_sources, &PipelineRun::on_eos_sent);
}

void PipelineRun::on_eos_sent(GstStateChangeReturn) {
  is_sending_eos_ = false;
  if (stop_wanted_) change_state(GST_STATE_NULL, &PipelineRun::on_stopped);
}

bool PipelineRun::begins_anew() {
  if (!listener_.looped || end_wanted_ || frames() == frames_at_loop_) return false;
  frames_at_loop_ = frames();
  listener_.looped();
  if (!stop_wanted_) on_other_thread(seek_to_begin, &PipelineRun::on_sought);
  return true;
}

void PipelineRun::on_sought(GstStateChangeReturn outcome) {
  if (outcome != GST_STATE_CHANGE_FAILURE || is_over_ || stop_wanted_) return;
  is_over_ = true;
  listener_.ended();
}

void PipelineRun::stop() {
  if (stop_wanted_) return;
  stop_wanted_ = true;
  // On the way to NULL sinks hold the buffer for whose end the EOS waits, and it holds the lock of
  // its source's state.
  if (!is_sending_eos_) change_state(GST_STATE_NULL, &PipelineRun::on_stopped);
}

void PipelineRun::on_stopped(GstStateChangeReturn) {
  if (bus_watch_ != 0) g_source_remove(bus_watch_);
  bus_watch_ = 0;
  listener_.stopped();
}

void PipelineRun::fail(const std::string& reason, bool may_pass) {
  if (is_over_ || stop_wanted_) return;
  is_over_ = true;
  listener_.failed(reason, may_pass);
}

void PipelineRun::fail_by(GstMessage* message) {
  if (!is_over_ && !stop_wanted_) fail(message_text(message), is_of_live_resource(message));
}

void PipelineRun::on_buffering(GstMessage* message) {
  if (is_live_ || !may_change_state()) return;
  gint percent = 100;
  gst_message_parse_buffering(message, &percent);
  const bool waits = percent < 100;
  if (waits == is_buffering_) return;
  is_buffering_ = waits;
  gst_element_set_state(pipeline_.get(), waits ? GST_STATE_PAUSED : GST_STATE_PLAYING);
}

void PipelineRun::restart_clock() {
  if (is_buffering_ || !may_change_state()) return;
  gst_element_set_state(pipeline_.get(), GST_STATE_PAUSED);
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
}

void PipelineRun::on_message(GstMessage* message) {
  if (stop_wanted_) return;
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_EOS:
      if (is_over_ || begins_anew()) return;
      is_over_ = true;
      return listener_.ended();
    case GST_MESSAGE_ERROR:
      return fail_by(message);
    case GST_MESSAGE_WARNING:
      return print_line("warning", label_, message_text(message));
    case GST_MESSAGE_INFO:
      return print_line("info", label_, message_text(message));
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency(GST_BIN(pipeline_.get()));
      return;
    case GST_MESSAGE_CLOCK_LOST:
      return restart_clock();
    case GST_MESSAGE_BUFFERING:
      return on_buffering(message);
    case GST_MESSAGE_REQUEST_STATE: {
      GstState state = GST_STATE_VOID_PENDING;
      gst_message_parse_request_state(message, &state);
      if (may_change_state()) gst_element_set_state(pipeline_.get(), state);
      return;
    }
    case GST_MESSAGE_APPLICATION:
      if (gst_message_has_name(message, SinkCounter::kFirstFrame)) listener_.plays();
      return;
    default:
      return;
  }
}

}  // namespace het::serving
