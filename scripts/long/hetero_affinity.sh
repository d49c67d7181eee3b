#!/usr/bin/env bash
# HETERO over REF, CPU and GPU with devices for nodes at random: every golden model beside its recording and CPU, four requests in flight.
#   ./check.sh --long hetero_affinity [ASSIGNMENTS [FILTER [SEED [MORE...]]]]
# 100 assignments of a model, 10 of a large one (more than 500 million multiply-adds: REF takes seconds). In pieces: a model's first ten, then
# 45 at a time in one process, whose assignments share the programs of the GPU; a run takes at most 40 minutes, the next one goes on.
# FILTER is a part of a folder's name; MORE goes to random_affinity (--seconds 60: no further assignment of a piece after a minute). OpenCL on
# a CPU counts as GPU; it compiles for seconds to minutes per new subgraph. Small models first.
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
of_large=10
assignments=${1:-100} filter=${2-} seed=${3:-1}
[[ $assignments =~ ^[1-9][0-9]*$ ]] || fail "the assignments a model are '$assignments'; give a whole number of at least 1"
pieces_begin "$root/$folder/pieces_hetero_affinity" "$@"
# What CPU does not take is skipped, with the reason.
run_block() {
  local status=0
  "$folder/tests/hetero/random_affinity" "$@" || status=$?
  [ $status = 0 ] || [ $status = 77 ]
}

# pieces_of GOLDEN FIRST COUNT UNTIL MORE...: the model's assignments from FIRST to UNTIL, COUNT at a time.
pieces_of() {
  local golden=$1 first=$2 count=$3 until=$4
  for (( ; first < until; first += count)); do
    piece "$(basename "$golden").$first" run_block "$golden" --root "$data" --first "$first" \
      --assignments "$((until - first < count ? until - first : count))" --of-large "$of_large" --seed "$seed" "${@:5}"
  done
}

# Small models first, each to its end.
while read -r golden; do
  pieces_of "$golden" 0 "$of_large" "$((assignments < of_large ? assignments : of_large))" "${@:4}"
  pieces_of "$golden" "$of_large" 45 "$assignments" "${@:4}"
done < <("$folder/tests/hetero/random_affinity" "$data/expected/golden" --root "$data" --filter "$filter" --list)
pieces_end
