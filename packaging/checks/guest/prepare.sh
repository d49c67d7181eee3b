#!/usr/bin/env bash
# The guest's disks in FOLDER: payload.ext4 with what stage.sh has laid out, and a link to the system of image.sh.
# Usage: prepare.sh BUILD FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:?a build folder} folder=${2:?a folder}
mkdir -p "$folder"
"$here/stage.sh" "$build" "$folder/stage"
system=$("$here/image.sh" "$folder/stage")
ln -sfn "$system" "$folder/system"
rm -f "$folder/payload.ext4"
mke2fs -q -t ext4 -d "$folder/stage/usr/local" "$folder/payload.ext4" \
  "$(($(du -sm "$folder/stage/usr/local" | cut -f1) + 32))M" 2>&1 | sed '/^Creating regular file/d'
