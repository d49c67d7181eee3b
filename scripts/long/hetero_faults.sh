#!/usr/bin/env bash
# Pipelines of 300 frames on HETERO whose devices fail at random moments, at compile, making of requests, submit, in the callback, wait, map and release.
#   ./check.sh --long hetero_faults [RUNS [SEED [FIRST]]]
# 1,000 runs; one that went wrong says how to run it again. Fails when a kind of fault never came about.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

folder=${HET_CHECK_BUILD:-build-check}
require build demo check
configure "$folder" -Dtests=true
build "$folder" tests/hetero/random_faults
exec "$folder/tests/hetero/random_faults" "$@"
