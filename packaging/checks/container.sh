#!/usr/bin/env bash
# The root of packaging/container/Containerfile, and with an OpenCL driver that of Containerfile.opencl, made by the same install.sh where
# no registry can be reached, and pipelines in them as podman run --read-only gives: a root that cannot be written, an ordinary user.
# Where podman works, the Containerfiles themselves, too.
# shellcheck source=packaging/checks/begin.sh
. "$(dirname "$0")/begin.sh"
# shellcheck source=packaging/checks/signed.sh
. "$(dirname "$0")/signed.sh"
[ "$number" = 13 ] || fail "the images are Debian 13's"

# Of a recipe: the words behind install.sh and its repository, and the variables, one a line.
packages_of() { sed -e ':again' -e '/\\$/{N;s/\\\n *//;b again' -e '}' "$1" | sed -n 's/.*install\.sh \/repository //p' | tr -d '"'; }
environment_of() { sed -n 's/^ENV //p' "$1" | tr ' ' '\n'; }

# restricted COMMAND...: in $fresh, as the images are run.
restricted() {
  # shellcheck disable=SC2016 # expanded inside
  isolated bash -euc '
    fresh=$1 data=$2
    shift 2
    mount --bind "$fresh" "$fresh"
    mount -t proc proc "$fresh/proc"
    mount --rbind /sys "$fresh/sys"
    mount --rbind /dev "$fresh/dev"
    mount -t tmpfs tmpfs "$fresh/tmp"
    mkdir "$fresh/tmp/data"
    mount --bind "$data" "$fresh/tmp/data"
    mount -o remount,bind,ro "$fresh/tmp/data"
    mount -o remount,bind,ro "$fresh"
    exec chroot "$fresh" /usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
      /usr/bin/env -i -C /tmp PATH=/usr/bin:/bin HOME=/tmp "$@"
  ' restricted "$fresh" "$root/pipelines/demo" "$@"
}

# pipeline DEVICE COMMAND...: frames through it on that device.
pipeline() {
  local device=$1
  shift
  "$@" gst-launch-1.0 -q videotestsrc num-buffers=30 ! video/x-raw,format=NV12,width=320,height=240 \
    ! heterodetect model=/tmp/data/models/scene_detector.onnx model-proc=/tmp/data/models/scene_detector.json device="$device" \
    ! heterowatermark ! heterometaconvert add-empty-results=true ! heterometapublish file-path=/tmp/found.json file-format=json-lines ! fakesink
  echo "device=$device: 30 frames"
}

# The slim variant of Debian's image leaves these out.
printf 'path-exclude /usr/share/%s/*\n' doc info linda lintian locale man groff >"$fresh/etc/dpkg/dpkg.cfg.d/slim"
echo 'path-include /usr/share/doc/*/copyright' >>"$fresh/etc/dpkg/dpkg.cfg.d/slim"
rm -rf "$fresh"/usr/share/{doc,info,lintian,locale,man,groff}/* "$fresh/etc/apt/sources.list.d/gst-hetero.list"
add_repository
rm "$fresh/etc/apt/sources.list.d/gst-hetero.list"
recipes=$root/packaging/container
tar -C "$fresh" --exclude='./proc/*' --exclude='./sys/*' --exclude='./dev/*' -cf "$place/bare.tar" .
bare=$(du -sm --one-file-system "$fresh" | cut -f1)
# shellcheck disable=SC2046 # a word a package
inside sh "$recipes/install.sh" "$place/repository" $(packages_of "$recipes/Containerfile") >"$place/apt.log" 2>&1 ||
  fail "install.sh failed: $(tail -n 10 "$place/apt.log")"
tar -C "$fresh" --exclude='./proc/*' --exclude='./sys/*' --exclude='./dev/*' -cf "$place/gst-hetero.tar" .
echo "gst-hetero: $(du -sm --one-file-system "$fresh" | cut -f1) MB, $bare of them the bare system; as .tar.xz $(xz -T0 -1 -c "$place/gst-hetero.tar" | wc -c | awk '{ print int($1 / 1e6) }') MB"
mapfile -t variables < <(environment_of "$recipes/Containerfile")
restricted "${variables[@]}" sh -c 'for tool in cc gcc g++ c++ clang make meson; do ! command -v $tool || exit 1; done' || fail "the image has a compiler"
restricted "${variables[@]}" sh -c '[ "$(id -un)" = hetero ]' || fail "the image has no ordinary user hetero"
pipeline CPU restricted "${variables[@]}"
restricted "${variables[@]}" hetero devices | grep -w CPU

inside sh "$recipes/install.sh" "$place/repository" pocl-opencl-icd >"$place/apt.log" 2>&1 || fail "install.sh failed: $(tail -n 10 "$place/apt.log")"
echo "gst-hetero-opencl with pocl-opencl-icd: $(du -sm --one-file-system "$fresh" | cut -f1) MB"
mapfile -t -O "${#variables[@]}" variables < <(environment_of "$recipes/Containerfile.opencl")
pipeline HETERO:GPU,CPU restricted "${variables[@]}" HETERO_GPU_ALLOW_CPU=1

# by_podman: the Containerfiles themselves, with $place/bare.tar for the image that they begin with.
by_podman() {
  local podman=(podman --root "$place/podman" --runroot "$place/podman.run" --storage-driver vfs)
  local build=("${podman[@]}" build -q --isolation=chroot --pull=never)
  "${podman[@]}" import -q "$place/bare.tar" docker.io/library/debian:13-slim
  mkdir -p "$place/context/out"
  cp -r "$root/packaging" "$place/context/"
  mv "$place/repository" "$place/context/out/"
  "${build[@]}" -t gst-hetero -f "$recipes/Containerfile" "$place/context"
  "${build[@]}" -t gst-hetero-opencl --build-arg ICD=pocl-opencl-icd -f "$recipes/Containerfile.opencl" "$place/context"
  "${podman[@]}" images --format '{{.Repository}}: {{.Size}}'
  "${podman[@]}" run --rm --read-only --tmpfs /tmp --network=none gst-hetero -q videotestsrc num-buffers=30 ! heterowatermark ! fakesink \
    2>"$place/run.log" && echo "podman run: 30 frames" || echo "skipped: podman run ($(tail -n 1 "$place/run.log"))"
}
if ! command -v podman >/dev/null; then
  echo "skipped: the Containerfiles by podman, which is not installed"
elif ! podman --root "$place/podman" --runroot "$place/podman.run" --storage-driver vfs info >"$place/podman.log" 2>&1; then
  echo "skipped: the Containerfiles by podman ($(tail -n 1 "$place/podman.log"))"
else
  by_podman
fi
