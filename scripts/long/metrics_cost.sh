#!/usr/bin/env bash
# What the tracer heterometrics costs (./check.sh --long metrics_cost [SECONDS]): processor time of a pipeline with it, asked once a
# second, beside the same without, in pairs of random order. Fails where the mean of the ratios is above 1.01. SECONDS (600) of processor
# time in all; in pieces.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"

seconds=${1:-600}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "the seconds are '$seconds'; give a whole number of at least 1"
folder=${HET_CHECK_BUILD:-build-check}
require build demo check
configure "$folder" -Dtests=true
build "$folder" plugins
[ -e "$folder/serving/metrics/libgstheterometrics.so" ] || fail "this build has no libmicrohttpd, so no tracer heterometrics"
export GST_PLUGIN_PATH=$root/$folder/gst:$root/$folder/serving/metrics GST_REGISTRY=$root/$folder/tests/serving/metrics/registry.bin OMP_NUM_THREADS=2
pieces_begin "$root/$folder/metrics_cost" "$seconds"
# Six pieces; what each has measured is kept beside the progress.
rows=()
for number in 1 2 3 4 5 6; do
  result=$root/$folder/metrics_cost/$number.csv
  piece "part$number" /usr/bin/python3 tests/serving/metrics/cost.py measure "$root" "$((seconds / 6 + 1))" "$result"
  rows+=("$result")
done
pieces_end
exec /usr/bin/python3 tests/serving/metrics/cost.py tell "${rows[@]}"
