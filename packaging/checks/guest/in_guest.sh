# Sourced by the pieces, which run in the guest as root.
# shellcheck shell=bash disable=SC2034 # of the pieces

guest=/usr/local/guest
# One frame takes the emulated processors a third of a second.
detector="heterodetect model=$guest/models/scene_detector.onnx model-proc=$guest/models/scene_detector.json"
pictures="videotestsrc pattern=ball ! video/x-raw,format=NV12,width=320,height=240"
publish="heterometaconvert add-empty-results=true ! heterometapublish file-format=json"
export GST_HETERO_CACHE_DIR=/var/cache/hetero

fail() {
  echo "FAILED: $*"
  hetero-launch --status || true
  journalctl --no-pager -n 40 -o cat -u 'hetero-launch@*' 2>/dev/null || true
  exit 1
}

# within SECONDS WHAT COMMAND...: as soon as it succeeds, while $launcher, where a piece has set it, runs.
within() {
  local until=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ -z "${launcher-}" ] || kill -0 "$launcher" 2>/dev/null || fail "$what: the launcher has ended"
    [ "$SECONDS" -lt "$until" ] || fail "$what did not happen in time"
    sleep 1
  done
}

is_well() { hetero-launch --status "$1"; }

# instances_of NAME: their processes, which the kernel knows as the launcher's children; more than one a line.
instances_of() {
  local launcher
  launcher=$(hetero-launch --status "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["pid"])') || return
  pgrep -P "$launcher"
}

# frames_of NAME: instance and frames so far, a line each.
frames_of() {
  hetero-launch --status "$1" --json | python3 -c '
import json, sys
for row in json.load(sys.stdin)[0]["instances"]: print(row["name"], row["frames"], row["runs"], row["pid"])'
}

# has_frames NAME NUMBER: every instance has that many.
has_frames() { frames_of "$1" | awk -v number="$2" '$2 < number { few = 1 } END { exit few || !NR }'; }

# complete FILE: a whole JSON document; prints how many frames it has.
complete() {
  python3 -c '
import json, sys
frames = json.load(open(sys.argv[1]))
times = [frame["timestamp"] for frame in frames]
assert times == sorted(set(times)) and times, "times are not in order"
print(f"{sys.argv[1]}: complete, {len(frames)} frames")' "$1" || fail "$1 is not complete: $(tail -c 200 "$1")"
}
