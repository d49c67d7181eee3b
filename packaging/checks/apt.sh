#!/usr/bin/env bash
# As a user does it: the repository, apt, and the first detection; how long that takes, how much it brings, what a purge leaves. Then
# the demonstration's video.
# shellcheck source=packaging/checks/begin.sh
. "$(dirname "$0")/begin.sh"
# shellcheck source=packaging/checks/signed.sh
. "$(dirname "$0")/signed.sh"

installed_mb() { inside dpkg-query -W -f '${Installed-Size}\n' | awk '{ sum += $1 } END { printf "%.0f", sum / 1024 }'; }
installed_count() { inside dpkg-query -W -f 'x\n' | wc -l; }
apt_quietly() {
  inside apt-get -qq -y --no-install-recommends "$@" >"$place/apt.log" 2>&1 || {
    tail -n 20 "$place/apt.log" >&2
    fail "apt-get $* failed"
  }
}

add_repository
apt_quietly update
cp -a "$fresh" "$place/untouched"

echo "== what it brings, Debian $number"
apt_quietly install gstreamer1.0-tools gstreamer1.0-plugins-base
base_mb=$(installed_mb) base_count=$(installed_count)
apt_quietly install gstreamer1.0-hetero hetero-tools
echo "gstreamer1.0-hetero and hetero-tools beyond gstreamer1.0-tools and -plugins-base:" \
  "$(($(installed_count) - base_count)) packages, $(($(installed_mb) - base_mb)) MB"
[ $(($(installed_mb) - base_mb)) -le 130 ] || fail "that is more than 130 MB"
# Nothing is set, and nothing else is needed.
inside gst-inspect-1.0 heterodetect | sed -n '/^Plugin Details/,/^$/p'

echo "== a fresh system"
remove_chroot "$fresh"
mv "$place/untouched" "$fresh"
names=(gstreamer1.0-hetero hetero-tools hetero-doc gstreamer1.0-tools gstreamer1.0-plugins-good)
apt_quietly install --download-only "${names[@]}"
began=$(date +%s%N)
apt_quietly install "${names[@]}"
examples=/usr/share/doc/hetero-doc/examples/models
inside sh -euc "cd /root && gst-launch-1.0 -q filesrc location=/usr/share/doc/hetero-doc/docs/demo.jpg ! jpegdec ! videoconvert \
  ! heterodetect model=$examples/scene_detector.onnx model-proc=$examples/scene_detector.json \
  ! heterometaconvert ! heterometapublish file-path=found.json file-format=json-lines ! fakesink && grep -q truck found.json"
awk -v began="$began" -v now="$(date +%s%N)" 'BEGIN {
  printf "from apt-get install (download apart) to the first detection: %.1f s; wanted are 30 at most\n", (now - began) / 1e9 }'

echo "== the demonstration's video"
video=$root/out/demo/scene.mp4
if [ ! -e "$video" ]; then
  require demo
  mkdir -p "$(dirname "$video")"
  /usr/bin/python3 "$root/pipelines/demo/scene.py" --seed 424242 --frames 300 --output "$video" --ground-truth "${video%.mp4}.json"
fi
apt_quietly install gstreamer1.0-plugins-bad gstreamer1.0-libav
inside sh -euc "cd /root && gst-launch-1.0 -q filesrc location=$video ! decodebin ! videoconvert \
  ! heterodetect model=$examples/scene_detector.onnx model-proc=$examples/scene_detector.json \
  ! heterometaconvert add-empty-results=true ! heterometapublish file-path=video.json file-format=json-lines ! fakesink
  echo \"frames: \$(wc -l <video.json), objects: \$(grep -o '\"label\":' video.json | wc -l)\"
  [ \$(wc -l <video.json) = 300 ]"

echo "== purged"
inside sh -c "rm -rf /root/found.json /root/video.json /root/.cache
  dpkg-query -W -f '\${Package} \${Status}\n' | awk '/ installed\$/ { print \$1 }' | grep -E 'hetero' | xargs apt-get -qq -y purge --autoremove" >"$place/apt.log" 2>&1 ||
  fail "apt-get could not purge: $(tail -n 5 "$place/apt.log")"
# Not the repository's settings, nor where this checkout and the packages are mounted.
inside find / -xdev -path /proc -prune -o -path /var/cache/apt -prune -o -iname '*hetero*' -print >"$place/left"
grep -v -e "^$root" -e "^$place" -e '^/etc/apt/' -e '^/var/lib/apt/' "$place/left" >&2 && fail "these are left after a purge"
echo "nothing of ours is left after a purge"
