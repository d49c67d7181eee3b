/// Entry of the tests of gst/: with GStreamer initialised, and with its leaks tracer (GST_TRACERS),
/// whose finds fail the program.

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

/// With a sanitizer, processes that we start load the instrumented plugin too (GStreamer's scanner,
/// gst-launch-1.0): its runtime has to come first there. What third-party programs leak is not
/// looked at.
static void prepare_children() {
  const char* runtime = std::getenv("HET_PRELOAD");
  if (!runtime) return;
  const char* options = std::getenv("ASAN_OPTIONS");
  setenv("LD_PRELOAD", runtime, 1);
  setenv("ASAN_OPTIONS", (std::string(options ? options : "") + ":detect_leaks=0").c_str(), 1);
}

/// Objects that the tracer says are left.
static std::vector<std::string>& left_objects() {
  static std::vector<std::string> left;
  return left;
}

static void take_log(GstDebugCategory* category, GstDebugLevel level, const gchar* file,
                     const gchar* function, gint line, GObject* object, GstDebugMessage* message,
                     gpointer user) {
  if (std::strcmp(gst_debug_category_get_name(category), "GST_TRACER") != 0) {
    gst_debug_log_default(category, level, file, function, line, object, message, user);
    return;
  }
  const char* text = gst_debug_message_get(message);
  if (std::strncmp(text, "object-alive, ", 14) == 0) left_objects().emplace_back(text);
}

static void listen_to_the_tracer() {
  const char* tracers = std::getenv("GST_TRACERS");
  if (!tracers || !std::strstr(tracers, "leaks")) return;
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_add_log_function(take_log, nullptr, nullptr);
  gst_debug_set_threshold_for_name("GST_TRACER", GST_LEVEL_TRACE);
}

int main(int argc, char** argv) {
  prepare_children();
  gst_init(&argc, &argv);
  listen_to_the_tracer();
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  // Frees what GStreamer holds, so that leak checkers see only what is lost.
  gst_deinit();
  for (const std::string& object : left_objects()) {
    std::fprintf(stderr, "GStreamer's leaks tracer: %s\n", object.c_str());
  }
  return left_objects().empty() ? failed : 1;
}
