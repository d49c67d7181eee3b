#!/usr/bin/env bash
# Pipelines through 1,000 starts, stops, pauses, seeks, flushes, other caps and other properties in
# random order (./check.sh --long cycles [COUNT [SEED]]): fails when one stands still or reports an
# error, when the process holds more than 1 % more after the first fifth, or when GStreamer's leaks
# tracer finds an object at the end.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

folder=${HET_CHECK_BUILD:-build-check}
require build demo check
configure "$folder" -Dtests=true
build "$folder" tests/gst/pipeline_cycles plugins
export GST_PLUGIN_PATH=$root/$folder/gst GST_REGISTRY=$root/$folder/tests/gst/registry.bin
export HET_SOURCE_ROOT=$root HET_SHARED_DATA=$root/../shared/data HETERO_GPU_ALLOW_CPU=1 POCL_CACHE_DIR=$root/$folder/pocl-cache
# Free memory between allocations would differ from run to run with an arena per thread; so would GLib's slices. What a
# thread keeps for its own next allocations counts as live: up to 1 % of all after some thousand cycles.
export MALLOC_ARENA_MAX=1 GLIBC_TUNABLES=glibc.malloc.tcache_count=0 G_SLICE=always-malloc
export GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1
output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0
"$folder/tests/gst/pipeline_cycles" "${1:-1000}" ${2:+"$2"} 2> "$output" || status=$?
grep -v "GST_TRACER" "$output" >&2 || true
if grep "object-alive, type-name=(string)[^%]" "$output"; then fail "objects of GStreamer stayed"; fi
[ "$status" = 0 ] || fail "pipeline_cycles ended with $status"
