#!/usr/bin/env bash
# Golden outputs on a VPU, alone and in HETERO, in float16: cosine similarity of at least 0.999 to the recorded ones.
#
#   ./check.sh --long vpu_golden
#
# What the device has no operator for is skipped alone, with the reason. Ends with 1 where a model misses the similarity.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

folder=${HET_CHECK_BUILD:-build-check} data=${HET_SHARED_DATA:-../shared/data}
require build demo check
configure "$folder" -Dtests=true
build "$folder" tools/hetero devices/vpu/daemon/hetero-vpud
HETERO_VPU_FOLDER=$(mktemp -d)
export HETERO_VPU_FOLDER HETERO_GPU_ALLOW_CPU=1
"$folder/devices/vpu/daemon/hetero-vpud" --socket "$HETERO_VPU_FOLDER/a.sock" >/dev/null &
trap 'kill %1; rm -rf "$HETERO_VPU_FOLDER"' EXIT
while [ ! -e "$HETERO_VPU_FOLDER/a.sock" ]; do sleep 0.1; done
status=0
for device in VPU HETERO:VPU,CPU HETERO:GPU,VPU,CPU; do
  for golden in onnx ir; do
    echo "$device, golden/$golden:"
    "$folder/tools/hetero" verify "$data/expected/golden/$golden" --root "$data" -d "$device" --cosine 0.999 >"$HETERO_VPU_FOLDER/log" 2>&1 || status=1
    grep -E '^FAILED|passed, ' "$HETERO_VPU_FOLDER/log"
  done
done
exit $status
