/// Entry of the tests of gst/: with GStreamer initialised.

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

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

int main(int argc, char** argv) {
  prepare_children();
  gst_init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  // Frees what GStreamer holds, so that leak checkers see only what is lost.
  gst_deinit();
  return failed;
}
