#!/usr/bin/env bash
# HETERO over REF, CPU and GPU with devices for nodes at random: every golden model beside its recording and CPU, four requests in flight.
#   ./check.sh --long hetero_affinity [ASSIGNMENTS [FILTER [SEED [MORE...]]]]
# In pieces, a model's next five assignments each: a run takes at most 40 minutes, the next one goes on.
# 100 assignments a model; FILTER is a part of a folder's name; MORE goes to random_affinity (--seconds 60: no further assignment of a
# model after a minute; --first N). OpenCL on a CPU counts as GPU; it compiles for seconds to minutes per new subgraph. Small models first.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"

folder=${HET_CHECK_BUILD:-build-check}
require build demo check
configure "$folder" -Dtests=true
build "$folder" tests/hetero/random_affinity
export HETERO_GPU_ALLOW_CPU=${HETERO_GPU_ALLOW_CPU:-1} POCL_CACHE_DIR=${POCL_CACHE_DIR:-$root/$folder/pocl-cache}
data=${HET_SHARED_DATA:-$root/../shared/data}
assignments=${1:-100} filter=${2-} seed=${3:-1}
[[ $assignments =~ ^[1-9][0-9]*$ ]] || fail "the assignments a model are '$assignments'; give a whole number of at least 1"
pieces_begin "$root/$folder/pieces_hetero_affinity" "$@"
# What CPU does not take is skipped, with the reason.
run_block() {
  local status=0
  "$folder/tests/hetero/random_affinity" "$@" || status=$?
  [ $status = 0 ] || [ $status = 77 ]
}

# Small models first, each to its end.
while read -r golden; do
  for ((first = 0; first < assignments; first += 5)); do
    piece "$(basename "$golden").$first" run_block "$golden" --root "$data" --first "$first" \
      --assignments "$((assignments - first < 5 ? assignments - first : 5))" --seed "$seed" "${@:4}"
  done
done < <("$folder/tests/hetero/random_affinity" "$data/expected/golden" --root "$data" --filter "$filter" --list)
pieces_end
