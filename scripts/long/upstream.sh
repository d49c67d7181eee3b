#!/usr/bin/env bash
# heteroinference beside GStreamer's onnxinference, both with GStreamer's own decoders and overlay behind them: an SSD, a YOLOv8 and a
# segmentation model on the demo's scene (pipelines/upstream). Compares the objects, boxes and masks of every frame, says the speeds, and
# leaves pictures side by side in BUILD/upstream. Needs GStreamer 1.28; elsewhere, as root: ./check.sh --debian 14 --long upstream
#   ./check.sh --long upstream [PAIRS]
# HET_CHECK_BUILD names another build folder than build-check.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

require demo
version=$(gst-launch-1.0 --version | sed -n 's/^GStreamer //p')
if [ "$(printf '%s\n' 1.28 "$version" | sort -V | head -n 1)" != 1.28 ]; then
  echo "skipped: GStreamer is $version here, and 1.28 has the elements to compare with: ./check.sh --debian 14 --long upstream"
  exit 77
fi
gst-inspect-1.0 --exists onnxinference || { echo "skipped: this GStreamer $version was built without onnxinference"; exit 77; }

require build demo check
build=${HET_CHECK_BUILD:-build-check}
configure "$build" -Dtests=true
build "$build" plugins tools/hetero
folder=$root/$build/upstream
mkdir -p "$folder"

for scene in "scene 640x384" "wide 1280x720"; do
  read -r name size <<<"$scene"
  [ -e "$folder/$name.json" ] || /usr/bin/python3 pipelines/demo/scene.py --seed 424242 --frames 300 --size "$size" \
    --output "$folder/$name.mp4" --ground-truth "$folder/$name.json"
done
/usr/bin/python3 pipelines/upstream/tensor_models.py "$folder"
for model in "$folder"/*.onnx; do
  "$build/tools/hetero" inspect "$model" --modelinfo "$model.modelinfo" >"$model.txt" || [ $? = 1 ] ||
    fail "hetero inspect failed on $model"
done
export GST_PLUGIN_PATH=$root/$build/gst GST_REGISTRY=$folder/registry.bin
exec /usr/bin/python3 pipelines/upstream/side_by_side.py "$folder" --pairs "${1:-5}"
