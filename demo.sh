#!/usr/bin/env bash
# Renders a scene that the demo's models never saw in training, detects and classifies its objects, draws
# them, and compares with the truth. Installs and builds only what that needs.
#   ./demo.sh [--output DIR]
#   ./demo.sh --input FILE --model MODEL.onnx [--model-proc FILE] [--labels-file FILE]
#             [--device DEVICE] [--threshold T] [--output DIR]
set -euo pipefail
root=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

usage() { sed -n '2,6s/^# \{0,1\}//p' "$0"; }

input='' model='' model_proc='' labels_file='' device=CPU threshold='' output=$root/out/demo
while [ $# -gt 0 ]; do
  option=$1
  case $option in
    --help | -h) usage; exit 0 ;;
    --input | --model | --model-proc | --labels-file | --device | --threshold | --output)
      [ $# -ge 2 ] || fail "$option needs a value"
      ;;
    *) usage >&2; fail "unknown option '$option'" ;;
  esac
  case $option in
    --input) input=$2 ;;
    --model) model=$2 ;;
    --model-proc) model_proc=$2 ;;
    --labels-file) labels_file=$2 ;;
    --device) device=$2 ;;
    --threshold) threshold=$2 ;;
    --output) output=$2 ;;
  esac
  shift 2
done
[ -z "$input" ] || [ -n "$model" ] || fail "--input needs --model: the demo's own model only knows the demo's scene"
for file in "$input" "$model" "$model_proc" "$labels_file"; do
  [ -z "$file" ] || [ -e "$file" ] || fail "there is no file '$file'"
done

# pipeline_progress WHAT < what progressreport and heterofpscounter print; other lines stay. The last rate is that of the whole run.
pipeline_progress() {
  local line rate='' place=''
  while IFS= read -r line; do
    case $line in
      progressreport*) place=${line#*: } ;;
      FpsCounter*) rate=$line ;;
      *) progress_end "$line" ;;
    esac
    progress "$1: $place"
  done
  progress_end "$rate"
}

started=$(date +%s)
require build demo
# For this machine alone, and without warnings, which are for who changes the code: a build takes half the time.
configure "$root/build" -Dtests=false -Ddispatch=native -Dwarning_level=0 -Dwerror=false
build "$root/build" plugins
mkdir -p "$output"
demo=$root/pipelines/demo

classify=''
if [ -z "$input" ]; then
  scene=$output/scene.mp4
  if [ ! -e "$output/scene.json" ] || [ "$demo/scene.py" -nt "$output/scene.json" ]; then
    progress "Rendering the scene (seed 424242) ..."
    /usr/bin/python3 "$demo/scene.py" --seed 424242 --frames 300 --output "$scene" --ground-truth "$output/scene.json" --progress |
      while read -r done all; do progress "Rendering the scene (seed 424242): frame $done of $all"; done
    progress_end
  fi
  input=$scene
  model=${model:-$demo/models/scene_detector.onnx}
  model_proc=${model_proc:-$demo/models/scene_detector.json}
  classify="! heteroclassify model=$demo/models/scene_attributes.onnx model-proc=$demo/models/scene_attributes.json device=$device"
fi

export GST_PLUGIN_PATH=$root/build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
export GST_REGISTRY=$root/build/gst-registry.bin
rm -f "$output/detections.json"
progress "Running heterodetect on $device ..."
# shellcheck disable=SC2086
gst-launch-1.0 -q filesrc location="$input" ! decodebin ! videoconvert ! 'video/x-raw,format={NV12,I420}' \
  ! heterodetect model="$model" ${model_proc:+model-proc="$model_proc"} ${labels_file:+labels-file="$labels_file"} \
  device="$device" ${threshold:+threshold=$threshold} $classify \
  ! heterometaconvert add-empty-results=true ! heterometapublish file-path="$output/detections.json" file-format=json-lines \
  ! progressreport silent=false update-freq=1 ! heterofpscounter \
  ! heterowatermark ! videoconvert ! x264enc speed-preset=veryfast bitrate=3000 ! h264parse ! mp4mux \
  ! filesink location="$output/annotated.mp4" | tee "$output/pipeline.log" | pipeline_progress "Running heterodetect on $device" ||
  fail "the pipeline failed; the message above says why"

/usr/bin/python3 "$demo/picture.py" "$output/annotated.mp4" "$output/annotated.png"
echo "Detections:        $output/detections.json"
echo "Annotated video:   $output/annotated.mp4"
echo "Annotated picture: $output/annotated.png"
if [ "$input" = "$output/scene.mp4" ]; then
  /usr/bin/python3 "$demo/evaluate.py" --detections "$output/detections.json" --ground-truth "$output/scene.json" \
    --minimum-map 0.90 --minimum-accuracy 0.95
fi
echo "Took $(($(date +%s) - started)) s"
