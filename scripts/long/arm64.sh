#!/usr/bin/env bash
# The plugin and the programs on arm64: cross-compiles them and runs them under qemu beside this machine's own build. GStreamer shows the
# element, `hetero run` reads a picture, and gst-launch-1.0 the first frames of the demo's video, with both models in float and in int8;
# what they find has to be what is found here. Shares build-arm64 and its sysroot (1.6 GB) with scripts/long/neon.sh.
#   ./check.sh --long arm64
# HET_CHECK_BUILD names another build of this machine than build-check.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/cross.sh
. "$root/scripts/cross.sh"

frames=30
demo=$root/pipelines/demo
models=$demo/models
native=$root/${HET_CHECK_BUILD:-build-check}
results=$cross_folder/results

# describe_pipeline SUFFIX OUTPUT: what gst-launch-1.0 runs, with models of that suffix.
describe_pipeline() {
  echo "filesrc location=$results/scene.mp4 ! qtdemux ! h264parse ! avdec_h264 \
    ! heterodetect model=$models/scene_detector$1.onnx model-proc=$models/scene_detector.json device=CPU \
    ! heteroclassify model=$models/scene_attributes$1.onnx model-proc=$models/scene_attributes.json device=CPU \
    ! heterometaconvert add-empty-results=true ! heterometapublish file-path=$2 file-format=json-lines ! fakesink"
}

# native_gstreamer PROGRAM ARGUMENT...: as emulated_gstreamer, on this machine.
native_gstreamer() {
  GST_REGISTRY=$results/gst-registry.bin GST_PLUGIN_PATH=$native/gst "$@"
}

# run_picture SUFFIX PROGRAM...: what `hetero run` finds on the picture.
run_picture() {
  local suffix=$1
  shift
  "$@" run "$models/scene_detector$suffix.onnx" --model-proc "$models/scene_detector.json" --image "$results/scene.png"
}

# compare WHAT EXPECTED ACTUAL BOXES CONFIDENCES: counts what differs by more.
failed=0
compare() {
  echo "$1"
  "$demo/compare.py" "$2" "$3" --box-tolerance "$4" --confidence-tolerance "$5" || failed=$((failed + 1))
}

require demo
cross_configure
configure "$native" -Dtests=true
build "$cross_folder" plugins tools/hetero devices/vpu/daemon/hetero-vpud
build "$native" plugins tools/hetero

rm -rf "$results" "$cross_folder/gst-registry.bin"
mkdir -p "$results"
/usr/bin/python3 "$demo/scene.py" --seed 424242 --frames $frames --output "$results/scene.mp4" --ground-truth "$results/scene.json"
/usr/bin/python3 "$demo/picture.py" "$results/scene.mp4" "$results/scene.png"

for plugin in gst/libgsthetero.so gst/libgstheterobrokers.so serving/metrics/libgstheterometrics.so; do
  emulated_gstreamer gst-inspect-1.0 "$cross_folder/$plugin" >"$results/plugin.txt" || fail "GStreamer for arm64 cannot load $plugin"
  sed -n 's/^  \(Name\|Version\) .* \(\S*\)$/\2/p' "$results/plugin.txt" | paste -sd' '
done
emulated_gstreamer gst-inspect-1.0 heterodetect >"$results/heterodetect.txt" || fail "GStreamer for arm64 has no heterodetect"
grep -E '^  (Long-name|Filename) ' "$results/heterodetect.txt"
emulated "$cross_folder/devices/vpu/daemon/hetero-vpud" --help >"$results/hetero-vpud.txt" || fail "hetero-vpud for arm64 does not run"
emulated "$cross_folder/tools/hetero" devices >"$results/devices.txt" || fail "hetero devices for arm64 ended with an error"
grep -qx CPU "$results/devices.txt" || fail "hetero devices for arm64 does not list CPU: $(head -n 3 "$results/devices.txt")"

for suffix in '' _int8; do
  run_picture "$suffix" "$native/tools/hetero" >"$results/picture$suffix.native"
  run_picture "$suffix" emulated "$cross_folder/tools/hetero" >"$results/picture$suffix.arm64"
  # shellcheck disable=SC2046 # one word a property
  native_gstreamer gst-launch-1.0 -q $(describe_pipeline "$suffix" "$results/video$suffix.native")
  # shellcheck disable=SC2046
  emulated_gstreamer gst-launch-1.0 -q $(describe_pipeline "$suffix" "$results/video$suffix.arm64")
done
# A sum that rounds otherwise falls on the next of 256 levels, which are up to 2.2 pixels apart in the int8 detector's boxes. Instead of
# int8 in float it differs by more than 3 pixels in these frames.
compare "A picture, float" "$results"/picture.{native,arm64} 0.11 0.0011
compare "A picture, int8" "$results"/picture_int8.{native,arm64} 3 0.05
compare "$frames frames of the video, float" "$results"/video.{native,arm64} 0.05 0.001
compare "$frames frames of the video, int8" "$results"/video_int8.{native,arm64} 3 0.05
[ "$failed" = 0 ] || fail "$failed of 4 comparisons with this machine's build failed; $results has what was found"
echo "arm64: all 4 comparisons passed"
