#!/usr/bin/env bash
# Random graphs of 5 to 40 nodes on every device, HETERO, MULTI and BATCH against REF, in pieces of 20 graphs.
#   graphs.sh [GRAPHS [SEED]]   how many (1000), the first one's seed (1)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"

graphs=${1:-1000}
first=${2:-1}
[[ $graphs =~ ^[1-9][0-9]*$ ]] || fail "the number of graphs is '$graphs'; give a whole number of at least 1"
[[ $first =~ ^[0-9]+$ ]] || fail "the seed is '$first'; give a whole number"
require build demo check
configure build-check -Dtests=true
pieces_begin "$root/build-check/graphs" "$graphs" "$first"
piece_build build-check tests/oracle/test_random_graphs
# OpenCL on a CPU counts as a GPU.
export HETERO_GPU_ALLOW_CPU=1 OMP_NUM_THREADS=2 HET_SOURCE_ROOT=$root
for ((seed = first; seed < first + graphs; seed += 20)); do
  count=$((first + graphs - seed < 20 ? first + graphs - seed : 20))
  piece "seeds_from_$seed" env HET_GRAPHS_SEED=$seed HET_GRAPHS=$count HET_GRAPHS_ACCELERATED=$count \
    build-check/tests/oracle/test_random_graphs --gtest_brief=1
done
pieces_end
echo "$graphs graphs from seed $first: 0 wrong"
