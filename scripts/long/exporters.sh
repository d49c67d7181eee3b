#!/usr/bin/env bash
# What exporters of today write: makes every export of scripts/exporters with random weights (PyTorch's and TensorFlow's exporters from
# PyPI, 6 GB, fetched once), and compares it with ONNX Runtime or OpenVINO on CPU and REF, small ones on GPU and HETERO as well. With names
# of exporters only those. In pieces of one exporter, which go on where they stopped; the last run writes docs/models.md. Sources that
# change begin it anew, with --keep-right only what was not right before, here or in scripts/exporters/rows.json.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
all="ultralytics torchvision timm transformers pytorch anomalib otx onnxruntime wheels tensorflow"
keep_right=
if [ "${1-}" = --keep-right ]; then
  keep_right=yes
  shift
fi
names=${*:-$all}
for name in $names; do
  case " $all " in *" $name "*) ;; *) fail "'$name' is none of: $all" ;; esac
done

require build demo check long
configure build-check -Dtests=true
build build-check tools/hetero
folder=$root/build-exporters
mkdir -p "$folder"
state="$(git rev-parse HEAD) $(git diff HEAD | sha256sum | cut -c1-16)"
if [ "$(cat "$folder/state" 2>/dev/null)" != "$state" ]; then
  if [ -n "$keep_right" ]; then
    compgen -G "$folder/*.json" >/dev/null || /usr/bin/python3 scripts/exporters/rows.py split scripts/exporters/rows.json "$folder"
    /usr/bin/python3 scripts/exporters/rows.py right "$folder"/*.json
  else
    rm -f "$folder"/*.json
  fi
  echo "$state" >"$folder/state"
fi
# Ultralytics installs packages and asks its server otherwise.
export YOLO_OFFLINE=true YOLO_AUTOINSTALL=false YOLO_CONFIG_DIR=$folder PYTHONDONTWRITEBYTECODE=1 HETERO_GPU_ALLOW_CPU=1 GST_HETERO_CACHE_DIR=
until=$((SECONDS + 60 * ${HET_PIECES_MINUTES:-30}))
for name in $names; do
  environment=torch
  [ "$name" != tensorflow ] || environment=tensorflow
  python_environment "$folder/$environment" -r "scripts/exporters/$environment.txt"
  status=0
  left=$(((until - SECONDS) / 60))
  "$folder/$environment/bin/python" scripts/exporters/run.py build-check/tools/hetero "$folder/work" "$folder/$name.json" "$name" \
    --minutes "$((left > 0 ? left : 0))" || status=$?
  [ "$status" != 75 ] || { echo "Not yet done: $name. Run the same command again to go on." && exit 75; }
  [ "$status" = 0 ] || fail "the exports of $name ended with $status"
done
[ "$names" = "$all" ] || { echo "docs/models.md is written when all exporters have run" && exit 0; }
files=()
for name in $all; do files+=("$folder/$name.json"); done
/usr/bin/python3 scripts/exporters/rows.py collect scripts/exporters/rows.json "${files[@]}"
versions=$(grep -hv '^#' scripts/exporters/*.txt | sort -u | sed 's/==/ /' | paste -sd, | sed 's/,/, /g')
/usr/bin/python3 scripts/exporters/table.py docs/models.md \
  "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $versions" "${files[@]}"
