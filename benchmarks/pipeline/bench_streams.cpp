// Frames/s of gst-launch descriptions that play side by side in one process.
//
//   bench_streams [--streams N] [--warmup S] [--seconds S] [--stall S] DESCRIPTION
//
// DESCRIPTION has an element called "sink", where frames are counted. Every stream is a pipeline of
// its own; all start together. After `warmup` seconds (5) frames are counted for `seconds` (10), or
// until a stream ends. With --stall the first stream's sink then holds a frame for that long while
// the others are counted, and afterwards they are counted once more for `seconds`.
// Prints one JSON object: per phase its seconds, the process' CPU seconds and the frames of each
// stream; and by kind of element the numbers of the property `stats` in the first stream.
#include <gst/gst.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int streams = 1;
  double warmup = 5;
  double seconds = 10;
  double stall = 0;
  std::string description;
};

[[noreturn]] void fail(const std::string& text) {
  std::cerr << "bench_streams: " << text << "\n";
  std::exit(2);
}

Options read(int argc, char** argv) {
  Options options;
  const std::map<std::string, double*> numbers = {
      {"--warmup", &options.warmup}, {"--seconds", &options.seconds}, {"--stall", &options.stall}};
  for (int i = 1; i < argc; ++i) {
    const auto number = numbers.find(argv[i]);
    if (number != numbers.end() && i + 1 < argc) {
      *number->second = std::atof(argv[++i]);
    } else if (std::strcmp(argv[i], "--streams") == 0 && i + 1 < argc) {
      options.streams = std::atoi(argv[++i]);
    } else if (argv[i][0] == '-' || !options.description.empty()) {
      fail(std::string("unexpected argument '") + argv[i] + "'");
    } else {
      options.description = argv[i];
    }
  }
  if (options.description.empty() || options.streams < 1) fail("see the head of bench_streams.cpp");
  return options;
}

/// Holds the streaming thread of a stream while closed.
class Gate {
 public:
  void set(bool open) {
    std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;  ///< protects open_
  std::condition_variable changed_;
  bool open_ = true;
};

struct Stream {
  GstElement* pipeline = nullptr;
  std::atomic<uint64_t> frames{0};
  Gate gate;
};

GstPadProbeReturn count(GstPad*, GstPadProbeInfo*, gpointer stream) {
  static_cast<Stream*>(stream)->gate.pass();
  static_cast<Stream*>(stream)->frames.fetch_add(1, std::memory_order_relaxed);
  return GST_PAD_PROBE_OK;
}

std::unique_ptr<Stream> make_stream(const std::string& description) {
  auto stream = std::make_unique<Stream>();
  GError* error = nullptr;
  stream->pipeline = gst_parse_launch(description.c_str(), &error);
  if (error) fail(error->message);
  GstElement* sink = GST_IS_BIN(stream->pipeline)
                         ? gst_bin_get_by_name(GST_BIN(stream->pipeline), "sink")
                         : nullptr;
  if (!sink) fail("no element is called 'sink'");
  GstPad* pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count, stream.get(), nullptr);
  gst_object_unref(pad);
  gst_object_unref(sink);
  return stream;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + t.tv_usec * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

using Streams = std::vector<std::unique_ptr<Stream>>;

/// True when a stream has ended; an error ends the program.
bool has_ended(const Streams& streams) {
  for (const auto& stream : streams) {
    GstBus* bus = gst_element_get_bus(stream->pipeline);
    GstMessage* message =
        gst_bus_pop_filtered(bus, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    gst_object_unref(bus);
    if (!message) continue;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      fail(error->message);
    }
    gst_message_unref(message);
    return true;
  }
  return false;
}

/// Waits; false when a stream ended before.
bool wait(const Streams& streams, double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    if (has_ended(streams)) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

nlohmann::json measure(const Streams& streams, double seconds) {
  std::vector<uint64_t> before;
  for (const auto& stream : streams) before.push_back(stream->frames);
  const double cpu = cpu_seconds();
  const auto start = Clock::now();
  wait(streams, seconds);
  const double wall = std::chrono::duration<double>(Clock::now() - start).count();
  nlohmann::json frames = nlohmann::json::array();
  for (size_t i = 0; i < streams.size(); ++i) frames.push_back(streams[i]->frames - before[i]);
  return {{"seconds", wall}, {"cpu_seconds", cpu_seconds() - cpu}, {"frames", std::move(frames)}};
}

/// The numbers of an element's `stats`, under the name of its kind.
void add_stats(GstElement* element, nlohmann::json& kinds) {
  if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element), "stats")) return;
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  if (!stats) return;
  nlohmann::json& numbers = kinds[GST_OBJECT_NAME(gst_element_get_factory(element))];
  for (int i = 0; i < gst_structure_n_fields(stats); ++i) {
    const char* name = gst_structure_nth_field_name(stats, static_cast<guint>(i));
    guint64 value = 0;
    if (gst_structure_get_uint64(stats, name, &value)) numbers[name] = value;
  }
  gst_structure_free(stats);
}

nlohmann::json stats_of(const Stream& stream) {
  nlohmann::json kinds = nlohmann::json::object();
  GstIterator* elements = gst_bin_iterate_recurse(GST_BIN(stream.pipeline));
  GValue item = G_VALUE_INIT;
  while (gst_iterator_next(elements, &item) == GST_ITERATOR_OK) {
    add_stats(GST_ELEMENT(g_value_get_object(&item)), kinds);
    g_value_reset(&item);
  }
  g_value_unset(&item);
  gst_iterator_free(elements);
  return kinds;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const Options options = read(argc, argv);
  Streams streams;
  for (int i = 0; i < options.streams; ++i) streams.push_back(make_stream(options.description));
  for (const auto& stream : streams) gst_element_set_state(stream->pipeline, GST_STATE_PAUSED);
  for (const auto& stream : streams) {
    const GstStateChangeReturn state =
        gst_element_get_state(stream->pipeline, nullptr, nullptr, GST_CLOCK_TIME_NONE);
    if (state == GST_STATE_CHANGE_FAILURE) {
      has_ended(streams);  // says why
      fail("a pipeline does not start");
    }
  }
  for (const auto& stream : streams) gst_element_set_state(stream->pipeline, GST_STATE_PLAYING);
  nlohmann::json out;
  if (!wait(streams, options.warmup)) fail("a stream ended before the end of --warmup");
  out["plain"] = measure(streams, options.seconds);
  if (options.stall > 0) {
    streams[0]->gate.set(false);
    out["stalled"] = measure(streams, options.stall);
    streams[0]->gate.set(true);
    out["after"] = measure(streams, options.seconds);
  }
  out["stats"] = stats_of(*streams[0]);
  for (const auto& stream : streams) {
    gst_element_set_state(stream->pipeline, GST_STATE_NULL);
    gst_object_unref(stream->pipeline);
  }
  std::cout << out.dump() << "\n";
}
