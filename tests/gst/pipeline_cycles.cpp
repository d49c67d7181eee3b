/// What pipelines go through in long use, in little time: starts and stops, pauses, seeks, flushes,
/// other caps, other properties, in random order, and whether the process grows.
///
///   pipeline_cycles COUNT [SEED]
///
/// Two pipelines share a model; a third one has a model split over GPU and CPU. In each cycle one
/// of them has something done to it and then has to deliver frames again. Memory is compared while
/// all are stopped: after a fifth of the cycles and at the end. Prints both; exits with 1 when a
/// pipeline fails or stands still, with 2 when the process has grown by more than 1 %.
#include <gst/gst.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "test_files.h"

namespace het::gst_test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{120};
constexpr uint64_t kFramesAfterwards = 3;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "pipeline_cycles: %s\n", text.c_str());
  std::exit(1);
}

GstPadProbeReturn count(GstPad*, GstPadProbeInfo*, gpointer frames) {
  static_cast<std::atomic<uint64_t>*>(frames)->fetch_add(1);
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn flush_from(GstPad* pad, GstPadProbeInfo*, gpointer done) {
  GstEvent* segment = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
  if (!segment) {  // nothing has come by yet
    static_cast<std::promise<void>*>(done)->set_value();
    return GST_PAD_PROBE_REMOVE;
  }
  // To the peer: the pad itself would call this again.
  GstPad* peer = gst_pad_get_peer(pad);
  gst_pad_send_event(peer, gst_event_new_flush_start());
  gst_pad_send_event(peer, gst_event_new_flush_stop(TRUE));
  gst_pad_send_event(peer, segment);
  gst_object_unref(peer);
  static_cast<std::promise<void>*>(done)->set_value();
  return GST_PAD_PROBE_REMOVE;
}

/// A pipeline that plays without end.
class Stream {
 public:
  Stream(std::string name, const std::string& device) : name_(std::move(name)) {
    const std::string description =
        "videotestsrc name=source pattern=ball ! capsfilter name=caps caps-change-mode=delayed ! "
        "heterodetect name=detect "
        "nireq=3 threshold=0.05 device=" +
        device + " " + detector_properties() +
        " ! heterotrack ! heteroclassify model=" + classifier_model() +
        " model-proc=" + classifier_proc() +
        " nireq=2 ! heterometaconvert add-empty-results=true ! fakesink name=sink";
    GError* error = nullptr;
    pipeline_ = gst_parse_launch(description.c_str(), &error);
    if (error) fail("cannot make " + description + ": " + error->message);
    set_caps("NV12", 320, 240);
    GstElement* sink = element("sink");
    GstPad* pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count, &frames_, nullptr);
    gst_object_unref(pad);
    gst_object_unref(sink);
  }
  ~Stream() {
    stop();
    gst_object_unref(pipeline_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const std::string& name() const { return name_; }
  bool is_playing() const { return is_playing_; }

  void play() {
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
    is_playing_ = true;
  }
  /// Does not wait.
  void set_state(GstState state) { gst_element_set_state(pipeline_, state); }
  void stop() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    is_playing_ = false;
  }
  void set_caps(const char* format, int width, int height) {
    GstElement* filter = element("caps");
    GstCaps* caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format, "width",
                                        G_TYPE_INT, width, "height", G_TYPE_INT, height, nullptr);
    g_object_set(filter, "caps", caps, nullptr);
    gst_caps_unref(caps);
    gst_object_unref(filter);
  }
  void seek(GstClockTime to, bool flush) {
    const auto flags = static_cast<GstSeekFlags>(flush ? GST_SEEK_FLAG_FLUSH : GST_SEEK_FLAG_NONE);
    gst_element_seek_simple(pipeline_, GST_FORMAT_TIME, flags, static_cast<gint64>(to));
  }
  /// From the middle of the pipeline on, between two frames, as an element upstream would. Alone:
  /// a flush at the same time as another one, or as a change of state, is nobody's right.
  void flush() {
    gst_element_get_state(pipeline_, nullptr, nullptr, kPatience.count() * GST_SECOND);
    GstElement* filter = element("caps");
    GstPad* pad = gst_element_get_static_pad(filter, "src");
    std::promise<void> done;
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_IDLE, flush_from, &done, nullptr);
    if (done.get_future().wait_for(kPatience) != std::future_status::ready) {
      fail(name_ + " does not take a flush");
    }
    gst_object_unref(pad);
    gst_object_unref(filter);
    gst_element_get_state(pipeline_, nullptr, nullptr, kPatience.count() * GST_SECOND);
  }
  void set_interval(guint interval) {
    GstElement* detect = element("detect");
    g_object_set(detect, "inference-interval", interval, nullptr);
    gst_object_unref(detect);
  }

  /// A few frames have to come.
  void expect_frames(const std::string& after) {
    const uint64_t wanted = frames_ + kFramesAfterwards;
    const auto end = Clock::now() + kPatience;
    while (frames_ < wanted) {
      expect_no_error(after);
      if (Clock::now() > end) fail(name_ + " stands still after " + after);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    expect_no_error(after);
  }

 private:
  GstElement* element(const char* name) const {
    return gst_bin_get_by_name(GST_BIN(pipeline_), name);
  }
  void expect_no_error(const std::string& after) const {
    GstBus* bus = gst_element_get_bus(pipeline_);
    GstMessage* message =
        gst_bus_pop_filtered(bus, static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS));
    gst_object_unref(bus);
    if (!message) return;
    GError* error = nullptr;
    gchar* details = nullptr;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      gst_message_parse_error(message, &error, &details);
    }
    fail(name_ + " after " + after + ": " + (error ? error->message : "EOS") + " " +
         (details ? details : ""));
  }

  const std::string name_;
  GstElement* pipeline_ = nullptr;
  std::atomic<uint64_t> frames_ = 0;
  bool is_playing_ = false;
};

/// What the process holds, in KiB.
struct Memory {
  double live = 0;      ///< allocated and not freed
  double resident = 0;  ///< private pages, the free ones between allocations included
};

Memory memory() {
  malloc_trim(0);
  Memory now;
  const struct mallinfo2 info = mallinfo2();
  now.live = static_cast<double>(info.uordblks + info.hblkhd) / 1024;
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("RssAnon:", 0) == 0) now.resident = std::atof(line.c_str() + 8);
  }
  return now;
}

/// One of the things that are done to pipelines; returns its name.
std::string act(Stream& stream, std::mt19937& random) {
  const auto pick = [&](int count) {
    return std::uniform_int_distribution<>(0, count - 1)(random);
  };
  constexpr int kSizes[][2] = {{320, 240}, {640, 360}, {176, 144}, {330, 246}};
  constexpr const char* kFormats[] = {"NV12", "I420", "BGRx", "RGB"};
  if (!stream.is_playing()) {
    stream.play();
    return "start";
  }
  switch (pick(8)) {
    case 0:
      stream.stop();
      stream.play();
      return "stop and start";
    case 1:
      stream.set_state(GST_STATE_PAUSED);
      stream.set_state(GST_STATE_PLAYING);
      return "pause";
    case 2:
      stream.set_state(GST_STATE_READY);
      stream.set_state(GST_STATE_PLAYING);
      return "back to READY";
    case 3: {
      const auto& size = kSizes[pick(4)];
      stream.set_caps(kFormats[pick(4)], size[0], size[1]);
      return "other caps";
    }
    case 4:
      stream.seek(static_cast<GstClockTime>(pick(1000)) * GST_SECOND, true);
      return "seek";
    case 5:
      stream.seek(static_cast<GstClockTime>(pick(1000)) * GST_SECOND, false);
      return "seek without a flush";
    case 6:
      stream.flush();
      return "flush";
    default:
      stream.set_interval(static_cast<guint>(1 + pick(5)));
      return "another interval";
  }
}

using Streams = std::vector<std::unique_ptr<Stream>>;

/// With all pipelines stopped.
Memory memory_at_rest(const Streams& streams) {
  for (const auto& stream : streams) stream->stop();
  const Memory now = memory();
  std::printf("%.0f KiB live, %.0f KiB resident\n", now.live, now.resident);
  std::fflush(stdout);
  return now;
}

int run(int cycles, unsigned seed) {
  std::mt19937 random(seed);
  Streams streams;
  streams.push_back(std::make_unique<Stream>("first", "CPU model-instance-id=shared"));
  streams.push_back(std::make_unique<Stream>("second", "CPU model-instance-id=shared"));
  streams.push_back(std::make_unique<Stream>("split", "HETERO:GPU,CPU"));
  std::map<std::string, int> done;
  Memory before;
  for (int i = 0; i < cycles; ++i) {
    if (i > 0 && i % (cycles / 10) == 0) {
      std::printf("cycle %d: ", i);
      const Memory now = memory_at_rest(streams);
      if (i / (cycles / 10) == 2) before = now;
    }
    // The split one compiles for long: it has a twentieth of the cycles.
    Stream& stream = *streams[std::uniform_int_distribution<>(0, 39)(random) % 20 == 0
                                  ? 2
                                  : std::uniform_int_distribution<size_t>(0, 1)(random)];
    const std::string what = act(stream, random);
    ++done[what];
    stream.expect_frames("'" + what + "' in cycle " + std::to_string(i));
  }
  std::printf("the end: ");
  const Memory after = memory_at_rest(streams);
  for (const auto& [what, count] : done) std::printf("%5d %s\n", count, what.c_str());
  // ThreadSanitizer's allocator does not tell.
  const double growth = before.live > 0 ? 100.0 * (after.live - before.live) / before.live : 0.0;
  std::printf("%d cycles, seed %u: %+.2f %% live since the first fifth\n", cycles, seed, growth);
  return growth > 1.0 ? 2 : 0;
}

}  // namespace
}  // namespace het::gst_test

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc < 2 || argc > 3 || std::atoi(argv[1]) < 10) {
    std::fprintf(stderr, "usage: pipeline_cycles COUNT [SEED], at least 10\n");
    return 1;
  }
  const unsigned seed =
      argc > 2 ? static_cast<unsigned>(std::atol(argv[2])) : std::random_device()();
  std::printf("seed %u\n", seed);
  std::fflush(stdout);
  const int status = het::gst_test::run(std::atoi(argv[1]), seed);
  gst_deinit();  // the leaks tracer tells what is left
  return status;
}
