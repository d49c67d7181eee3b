#!/usr/bin/env bash
# What the program cache of the GPU device saves: process starts without and with its files.
#   ./check.sh --long gpu_cache [MODEL.onnx ...]
# The driver's own cache is empty every time. Fails when a warm start compiles less than 5 times as
# fast as a cold one.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

folder=${HET_CHECK_BUILD:-build-check}
if [ ! -x "$folder/tests/devices/gpu_child" ]; then
  require build demo check
  configure "$folder" -Dtests=true
  build "$folder"
fi
export HETERO_GPU_ALLOW_CPU=${HETERO_GPU_ALLOW_CPU:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compile_ms MODEL: of a process whose driver has nothing cached. A batch that is open is 1.
compile_ms() {
  local settings=("CACHE_DIR=$work/cache")
  case $1 in *.*) settings+=(BATCH_SIZE=1) ;; esac
  rm -rf "$work/driver"
  mkdir "$work/driver"
  POCL_CACHE_DIR=$work/driver CUDA_CACHE_DISABLE=1 NEO_CACHE_PERSISTENT=0 \
    "$folder/tests/devices/gpu_child" compile "$1" "${settings[@]}" |
    sed -n 's/^compile_ms //p'
}

failed=0
for model in 1 16 "$@"; do
  rm -rf "$work/cache"
  cold=$(compile_ms "$model")
  warm=$(for _ in 1 2 3; do compile_ms "$model"; done | sort -n | sed -n 2p)
  case $model in *.*) what=$(basename "$model") ;; *) what="$model generated kernels" ;; esac
  awk -v what="$what" -v cold="$cold" -v warm="$warm" 'BEGIN {
    printf "%s: %.0f ms without files, %.0f ms with them, %.1f times as fast\n", what, cold, warm, cold / warm
    exit cold < 5 * warm }' || failed=$((failed + 1))
done
echo "$failed failed"
[ "$failed" = 0 ]
