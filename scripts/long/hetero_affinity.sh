#!/usr/bin/env bash
# HETERO over REF, CPU and GPU with devices for nodes at random: every golden model beside its recording and CPU, four requests in flight.
#   ./check.sh --long hetero_affinity [ASSIGNMENTS [FILTER [SEED [MORE...]]]]
# 100 assignments a model; FILTER is a part of a folder's name; MORE goes to random_affinity (--seconds 60: no further assignment of a
# model after a minute; --first N). OpenCL on a CPU counts as GPU; it compiles for seconds to minutes per new subgraph. Small models first.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

folder=${HET_CHECK_BUILD:-build-check}
require build demo check
configure "$folder" -Dtests=true
build "$folder" tests/hetero/random_affinity
export HETERO_GPU_ALLOW_CPU=${HETERO_GPU_ALLOW_CPU:-1} POCL_CACHE_DIR=${POCL_CACHE_DIR:-$root/$folder/pocl-cache}
data=${HET_SHARED_DATA:-$root/../shared/data}
exec "$folder/tests/hetero/random_affinity" "$data/expected/golden" --root "$data" --assignments "${1:-100}" \
  --filter "${2-}" --seed "${3:-1}" "${@:4}"
