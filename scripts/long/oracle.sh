#!/usr/bin/env bash
# The oracle at length: random cases of every operator on every device against REF.
#   oracle.sh [CASES [SEED]]   cases an operator (200), seed (the time; printed)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

# OpenCL on a CPU counts as a GPU; it takes a second to build the kernels of a case.
export HETERO_GPU_ALLOW_CPU=1 HET_ORACLE_ACCELERATED_CASES=${HET_ORACLE_ACCELERATED_CASES:-8}
export HET_ORACLE_CASES=${1:-200} HET_ORACLE_SEED=${2:-$(date +%s)}
[[ $HET_ORACLE_CASES =~ ^[1-9][0-9]*$ ]] || fail "the cases an operator are '$HET_ORACLE_CASES'; give a whole number of at least 1"
[[ $HET_ORACLE_SEED =~ ^[0-9]+$ ]] || fail "the seed is '$HET_ORACLE_SEED'; give a whole number"
require build demo check
configure build-check -Dtests=true
build build-check tests/oracle/test_oracle
echo "seed $HET_ORACLE_SEED, $HET_ORACLE_CASES cases an operator"
HET_SOURCE_ROOT=$root OMP_NUM_THREADS=2 exec build-check/tests/oracle/test_oracle --gtest_brief=1
