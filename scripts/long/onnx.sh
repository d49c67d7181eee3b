#!/usr/bin/env bash
# ONNX's newest conformance data: installs the pinned onnx package from PyPI into a virtual environment of the build folder, writes
# its node test cases as backend test folders and verifies them on REF and CPU (other devices: HET_DEVICES="REF CPU ..."). Each
# run ends with "N passed, N failed, N skipped"; skipped cases print their reason. Needs a network the first time.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
version=1.23.2

require build demo check long
configure build-check -Dtests=true
build build-check tools/hetero
folder=build-check/onnx-$version
python_environment "$folder/venv" "onnx==$version"
if [ ! -e "$folder/data" ]; then
  rm -rf "$folder/part"
  "$folder/venv/bin/python" scripts/onnx_node_data.py "$folder/part"
  mv "$folder/part" "$folder/data"
fi
status=0
for device in ${HET_DEVICES:-REF CPU}; do
  echo "$device:"
  build-check/tools/hetero verify "$folder/data" -d "$device" || status=1
done
exit "$status"
