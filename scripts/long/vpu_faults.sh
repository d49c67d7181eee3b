#!/usr/bin/env bash
# Pipelines of 300 frames on HETERO:VPU,CPU whose VPU crashes, hangs, drops or corrupts answers, is slow, throttled, killed or unplugged at random moments, and perhaps comes back.
#   ./check.sh --long vpu_faults [RUNS [SEED [FIRST]]]
# 1,000 runs; one that went wrong says how to run it again. Fails, too, when file descriptors or memory are left.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

folder=${HET_CHECK_BUILD:-build-check}
require build demo check
configure "$folder" -Dtests=true
build "$folder" tests/devices/vpu_faults devices/vpu/daemon/hetero-vpud
HET_BUILD_ROOT=$PWD/$folder exec "$folder/tests/devices/vpu_faults" "$@"
