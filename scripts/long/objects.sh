#!/usr/bin/env bash
# What is found with models as exporters of today write them: makes the exports of scripts/exporters as `--long exporters` does, reads them
# without a descriptor, and compares objects, classes and maps on pictures with those of the exporter's own library. With names of exporters
# only those. In pieces of one exporter, which go on where they stopped; the last run writes docs/models_read.md. Sources that change begin
# it anew.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
all="ultralytics torchvision timm transformers pytorch anomalib"
names=${*:-$all}
for name in $names; do
  case " $all " in *" $name "*) ;; *) fail "'$name' is none of: $all" ;; esac
done

require build demo check long
configure build-check -Dtests=true
build build-check tools/hetero
environment=$root/build-exporters/torch
folder=$root/build-exporters/objects
mkdir -p "$folder"
state="$(git rev-parse HEAD) $(git diff HEAD | sha256sum | cut -c1-16)"
if [ "$(cat "$folder/state" 2>/dev/null)" != "$state" ]; then
  rm -f "$folder"/*.json
  echo "$state" >"$folder/state"
fi
# Ultralytics installs packages and asks its server otherwise.
export YOLO_OFFLINE=true YOLO_AUTOINSTALL=false YOLO_CONFIG_DIR=$folder PYTHONDONTWRITEBYTECODE=1 HETERO_GPU_ALLOW_CPU=1 GST_HETERO_CACHE_DIR=
python_environment "$environment" -r scripts/exporters/torch.txt
until=$((SECONDS + 60 * ${HET_PIECES_MINUTES:-30}))
files=()
for name in $names; do
  status=0
  left=$(((until - SECONDS) / 60))
  "$environment/bin/python" scripts/exporters/objects.py build-check/tools/hetero "$folder/work" "$folder/$name.json" "$name" \
    --minutes "$((left > 0 ? left : 0))" || status=$?
  [ "$status" != 75 ] || { echo "Not yet done: $name. Run the same command again to go on." && exit 75; }
  [ "$status" = 0 ] || fail "the exports of $name ended with $status"
  files+=("$folder/$name.json")
done
/usr/bin/python3 scripts/exporters/objects_table.py - - "${files[@]}"
[ "$names" = "$all" ] || { echo "docs/models_read.md is written when all exporters have run" && exit 0; }
versions=$(grep -hv '^#' scripts/exporters/torch.txt | sort -u | sed 's/==/ /' | paste -sd, | sed 's/,/, /g')
/usr/bin/python3 scripts/exporters/objects_table.py docs/models_read.md \
  "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $versions" "${files[@]}"
