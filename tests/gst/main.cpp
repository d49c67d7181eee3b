/// Tests of the plugin as applications see it: loaded by GStreamer from the build folder.

#include <gst/gst.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  // Frees what GStreamer holds, so that leak checkers see only what is lost.
  gst_deinit();
  return failed;
}
