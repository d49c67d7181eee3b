#!/usr/bin/env bash
# The GPU device compiles, runs and releases a model 1,000 times (./check.sh --long gpu_cycles
# [COUNT]): fails when the process grows by more than 8 MB after the first fifth or an OpenCL object
# stays.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

folder=${HET_CHECK_BUILD:-build-check}
if [ ! -e "$folder/tests/opencl_layer/failing_layer.so" ]; then
  require build demo check
  configure "$folder" -Dtests=true
  build "$folder"
fi
export HETERO_GPU_ALLOW_CPU=${HETERO_GPU_ALLOW_CPU:-1} HET_LAYER_COUNT=1
export OPENCL_LAYERS=$root/$folder/tests/opencl_layer/failing_layer.so
output=$("$folder/tests/devices/gpu_child" cycles "${1:-1000}")
printf '%s\n' "$output"
grep -q '^live contexts 0 queues 0 buffers 0 programs 0 kernels 0 events 0$' <<<"$output" ||
  fail "OpenCL objects stayed"
awk '$1 == "growth_mb" && $2 > 8 { exit 1 }' <<<"$output" || fail "the process grows"
