#!/usr/bin/env bash
# The GPU device on one OpenCL implementation after another: its tests, every operator's random cases, golden models.
#   ./check.sh --long opencl [pocl|intel|oclgrind]...   (all three)
# pocl is Debian's, intel that for processors from PyPI (x86-64, AMD's too), oclgrind a checker that executes kernels instruction by
# instruction: writes outside of memory and races between work-items are errors there. In pieces: a run takes at most 40 minutes, the
# next one goes on. docs/opencl.md has the results.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"
# shellcheck source=scripts/opencl/implementation.sh
. "$root/scripts/opencl/implementation.sh"
# shellcheck source=scripts/opencl/oclgrind.sh
. "$root/scripts/opencl/oclgrind.sh"

implementations=("$@")
[ $# -gt 0 ] || implementations=(pocl intel oclgrind)
folder=$root/${HET_CHECK_BUILD:-build-check} data=${HET_SHARED_DATA:-$root/../shared/data}
require build demo check
configure "$folder" -Dtests=true
build "$folder"
export GST_HETERO_CACHE_DIR='' HET_SHARED_DATA=$data HET_SOURCE_ROOT=$root HET_BUILD_ROOT=$folder
results=$folder/pieces_opencl
pieces_begin "$results" "$@"

# gtest NAME PROGRAM ARGUMENT...: what has not passed is printed; NAME.log has all.
gtest() {
  local name=$1 status=0
  shift
  "$@" >"$results/$name.log" 2>&1 || status=$?
  echo "$name: $(grep -E '^\[  (PASSED|SKIPPED|FAILED)  ?\] [0-9]+ test' "$results/$name.log" | paste -sd' ')"
  grep -A 1 ': Skipped$' "$results/$name.log" | grep -v -e ': Skipped$' -e '^--$' | sort -u | sed 's/^/  skipped: /' || true
  [ $status = 0 ] || grep -E -B 12 '^\[  FAILED  \] .* \(' "$results/$name.log" || tail -n 40 "$results/$name.log"
  return $status
}

# verify NAME FOLDER [SECONDS]: a golden model on device GPU; with SECONDS one that takes longer is left out.
verify() {
  local status=0
  OPENCL_LAYERS=$layers timeout "${3:-0}" "$folder/tools/hetero" verify "$2" --root "$data" -d GPU >"$results/$1.log" 2>&1 || status=$?
  if [ $status = 124 ]; then
    echo "skipped: $1 takes more than $3 s here"
    return 0
  fi
  [ $status = 0 ] || grep -v -e '^passed' "$results/$1.log" || true
  grep '^skipped' "$results/$1.log" || true
  return $status
}

for implementation in "${implementations[@]}"; do
  opencl_use "$implementation"
  echo "$implementation: $("$folder/tools/hetero" devices | sed -n '/^GPU/,$s/^  FULL_DEVICE_NAME *//p' | head -n 1)"
  seconds=0 layers=''
  if [ "$implementation" = oclgrind ]; then
    oclgrind_tests
    seconds=$oclgrind_seconds layers=$folder/tests/opencl_layer/recording_layer.so
  else
    piece "$implementation.gpu" gtest "$implementation.gpu" "$folder/tests/devices/test_devices" --gtest_filter='Gpu*' --gtest_brief=1
    piece "$implementation.oracle" gtest "$implementation.oracle" "$folder/tests/oracle/test_oracle" --gtest_brief=1
  fi
  for golden in "$data"/expected/golden/onnx/* "$data"/expected/golden/ir/*; do
    piece "$implementation.golden.$(basename "$golden")" verify "$implementation.golden.$(basename "$golden")" "$golden" "$seconds"
  done
  [ "$implementation" != oclgrind ] || oclgrind_summary
done
pieces_end
