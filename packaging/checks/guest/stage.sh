#!/usr/bin/env bash
# What the guest gets beside its system: this build as `meson install` puts it below /usr/local, the demo's models, the pieces.
# Usage: stage.sh BUILD STAGE
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
build=${1:?a build folder} stage=${2:?a folder to make}
rm -rf "$stage"
mkdir -p "$stage"
DESTDIR=$(realpath "$stage") meson install -C "$build" --no-rebuild --quiet >"$stage.log" 2>&1 || {
  tail -n 10 "$stage.log" >&2
  exit 1
}
rm -rf "$stage/usr/local/include"
mkdir -p "$stage/usr/local/guest/models"
cp "$root"/pipelines/demo/models/scene_detector* "$stage/usr/local/guest/models/"
cp -r "$(dirname "$0")"/* "$root/packaging/systemd/drop-ins" "$stage/usr/local/guest/"
