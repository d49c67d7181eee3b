#!/usr/bin/env bash
# The GPU device alone beside recorded outputs: golden models and Debian's ONNX conformance data
# (./check.sh --long gpu_verify [FOLDER...]). OpenCL on a CPU counts. Models that the device refuses
# are skipped with the reason; anything wrong fails.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

require build demo check
configure build-check -Dtests=true
build build-check tools/hetero
export HETERO_GPU_ALLOW_CPU=1
data=${HET_SHARED_DATA:-$root/../shared/data}
if [ $# -eq 0 ]; then
  set -- "$data/expected/golden/onnx" "$data/expected/golden/ir"
  for folder in /usr/share/libonnx-testdata/data/{simple,pytorch-converted,pytorch-operator,node}; do
    [ ! -d "$folder" ] || set -- "$@" "$folder"
  done
fi
status=0
for folder in "$@"; do
  echo "$folder"
  build-check/tools/hetero verify "$folder" --root "$data" -d GPU | grep -v '^passed' || status=1
done
exit $status
