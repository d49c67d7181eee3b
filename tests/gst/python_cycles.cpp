/// Pipelines with heteropython on threads of their own: starts, stops in the middle, flushing
/// seeks, in all kinds of interpreters, with scripts that share a module and keep frames. For
/// ThreadSanitizer, which knows no other program that starts Python (./check.sh --long tsan).
///
///   python_cycles COUNT [SEED]
///
/// Prints how many frames the scripts saw; exits with 1 when a pipeline fails or stands still.
#include <gst/gst.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr char kScript[] = R"(
import threading

kept = []
guard = threading.Lock()


class Changer:
    def __init__(self, name):
        self.name = str(name)
        self.frames = 0

    def process_frame(self, frame):
        self.frames += 1
        for region in frame.regions():
            region.rect(), region.label(), region.confidence()
        region = frame.add_region(1, 2, 20, 20, self.name, 0.5)
        region.add_tensor("classification")["label"] = "x"
        region.set_object_id(self.frames)
        if self.frames % 3 == 0:
            frame.remove_region(frame.regions()[0])
        frame.add_message(self.name)
        memoryview(frame._map(self.frames % 2 == 0)[0])[0, 0, 0]
        with guard:
            kept.append((frame, region))
            del kept[:-4]
        return self.frames % 5 != 0
)";

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "python_cycles: %s\n", text.c_str());
  std::_Exit(1);
}

GstPadProbeReturn count(GstPad*, GstPadProbeInfo*, gpointer frames) {
  static_cast<std::atomic<long>*>(frames)->fetch_add(1);
  return GST_PAD_PROBE_OK;
}

/// Until the stream ends, or for so many frames.
void run(const std::string& script, const std::string& interpreters, int seed,
         std::atomic<long>& frames) {
  std::mt19937 chance(static_cast<unsigned>(seed));
  const std::string python =
      "heteropython module=" + script + " class=Changer arg=" + std::to_string(seed) + " ";
  const std::string line =
      "videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8,width=64,height=48 ! "
      "heteroattachroi roi=5,5,30,30 ! " +
      python + interpreters + " ! queue ! " + python + "name=last ! fakesink sync=false";
  GError* problem = nullptr;
  GstElement* pipeline = gst_parse_launch(line.c_str(), &problem);
  if (problem != nullptr) fail(line + ": " + problem->message);
  GstElement* last = gst_bin_get_by_name(GST_BIN(pipeline), "last");
  GstPad* pad = gst_element_get_static_pad(last, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count, &frames, nullptr);
  gst_object_unref(pad);
  gst_object_unref(last);
  GstBus* bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const int what = std::uniform_int_distribution(0, 3)(chance);
  if (what > 0) {
    g_usleep(std::uniform_int_distribution<gulong>(1000, 30000)(chance));
    if (what == 1) gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0);
  }
  const bool to_the_end = what < 2;
  GstMessage* message =
      gst_bus_timed_pop_filtered(bus, to_the_end ? 120 * GST_SECOND : 0,
                                 static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  if (message == nullptr && to_the_end) fail(line + " does not end");
  if (message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gchar* debug = nullptr;
    gst_message_parse_error(message, &problem, &debug);
    fail(std::string(problem->message) + "\n" + debug);
  }
  if (message != nullptr) gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: python_cycles COUNT [SEED]");
  const int cycles = std::atoi(argv[1]);
  const int seed = argc > 2 ? std::atoi(argv[2]) : 1;
  gst_init(nullptr, nullptr);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("python_cycles_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string script = folder / "changer.py";
  std::ofstream(script) << kScript;
  std::vector<std::string> kinds{"interpreter=shared", "interpreter=own"};
#ifdef HET_PYTHON_OWN_GIL
  kinds.emplace_back("interpreter=own-gil");
#endif
  std::atomic<long> frames{0};
  for (int cycle = 0; cycle < cycles; ++cycle) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] {
        run(script, kinds[(static_cast<size_t>(cycle) + i) % kinds.size()],
            seed + 3 * cycle + static_cast<int>(i), frames);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::filesystem::remove_all(folder);
  std::printf("%d cycles of 3 pipelines: %ld frames\n", cycles, frames.load());
  return frames.load() > 0 ? 0 : 1;
}
