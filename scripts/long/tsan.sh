#!/usr/bin/env bash
# The tests with threads (core, devices, HETERO and its like, pipelines, archives) under ThreadSanitizer. Debian's
# libgomp, GLib and GStreamer are not instrumented, so what they synchronise is left out;
# tests/gst/elements/glib_locks.cpp tells the sanitizer about the locks of GLib that our code relies on, c11_threads.cpp
# about threads of C11.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

require build demo check
configure build-tsan -Dtests=true -Dbuildtype=plain '-Dcpp_args=-O1 -g1' -Db_sanitize=thread -Db_lundef=false
build build-tsan tests/inference/test_inference tests/devices/test_devices tests/devices/gpu_child tests/devices/cpu_child tests/hetero/test_hetero tests/hetero/hand_off_child tests/devices/test_vpu devices/vpu/daemon/hetero-vpud tests/opencl_layer/copying_layer.so tests/opencl_layer/failing_layer.so tests/opencl_layer/naming_layer.so tests/opencl_layer/surface_layer.so tests/va/het_test_drv_video.so tests/va/het_render_node.so tools/hetero examples/custom_device/mydev.so examples/custom_operator/channel_scale.so examples/custom_decoder/top_class.so examples/custom_preprocess/contrast.so tests/gst/test_gst_parts tests/gst/test_gst_pipelines tests/gst/pipeline_cycles tests/gst/python_cycles tests/serving/metrics/test_metrics tests/serving/archive/test_archive_results plugins python-package
# The registry is made in the process, which has the sanitizer's runtime.
export HET_PRELOAD GST_REGISTRY_FORK=no
HET_PRELOAD=$(g++ -print-file-name=libtsan.so)
export TSAN_OPTIONS=halt_on_error=0:exitcode=66:ignore_noninstrumented_modules=1:suppressions=$root/scripts/long/tsan.supp
forget_results build-tsan
meson test -C build-tsan --no-rebuild --timeout-multiplier 10 --print-errorlogs inference devices vpu hetero gst_parts gst_pipelines gst_random_streams metrics archive_results || true
# Memory that GLib's slices pass between threads would look like races.
G_SLICE=always-malloc GST_PLUGIN_PATH=$root/build-tsan/gst GST_REGISTRY=$root/build-tsan/tests/gst/registry.bin HET_SOURCE_ROOT=$root GST_HETERO_CACHE_DIR= HETERO_GPU_ALLOW_CPU=1 POCL_CACHE_DIR=$root/build-tsan/pocl-cache \
  build-tsan/tests/gst/pipeline_cycles 200 || [ $? = 2 ] || fail "200 random cycles of pipelines under ThreadSanitizer"
# heteropython and hetero.gst; Python itself is not instrumented either, but its GIL is made of what the sanitizer knows (until 3.12).
PYTHONPATH=$root/build-tsan/python G_SLICE=always-malloc GST_PLUGIN_PATH=$root/build-tsan/gst:$root/build-tsan/python/gst/element GST_REGISTRY=$root/build-tsan/tests/gst/registry.bin \
  build-tsan/tests/gst/python_cycles 100 || fail "100 cycles of heteropython under ThreadSanitizer"
exec /usr/bin/python3 scripts/test_summary.py build-tsan/meson-logs/testlog.junit.xml
