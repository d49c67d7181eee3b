#!/usr/bin/env bash
# Readers under libFuzzer, on a corpus that tests/fuzz/make_corpus.py writes; then the line coverage of the readers' sources.
#   fuzz.sh [MINUTES [TARGET...]]   CPU-minutes a target (30), targets (all)
# Finds (crash-*, leak-*, timeout-*, oom-*) and logs lie in build-fuzz/findings; what was found new stays in build-fuzz/corpus.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

minutes=${1:-30}
[[ $minutes =~ ^[1-9][0-9]*$ ]] || fail "the minutes a target are '$minutes'; give a whole number of at least 1"
shift || true
targets=("$@")
[ $# -gt 0 ] || targets=(onnx openvino_ir model_proc labels npy device_text)
for target in "${targets[@]}"; do
  [ -e "tests/fuzz/$target.cpp" ] || fail "no fuzz target '$target'; tests/fuzz/ has one .cpp for each"
done

require build check fuzz
export CXX=clang++
# Warnings are the ordinary build's matter.
options=(-Dfuzz=true -Dwerror=false -Dbuildtype=plain -Db_lundef=false)
configure build-fuzz "${options[@]}" '-Dcpp_args=-O1 -gline-tables-only'
build build-fuzz "${targets[@]/#/tests/fuzz/fuzz_}"
configure build-fuzz-coverage "${options[@]}" -Dfuzz_coverage=true '-Dcpp_args=-O1 -g'
build build-fuzz-coverage "${targets[@]/#/tests/fuzz/fuzz_}"

# The sources whose coverage counts, by target.
sources_of() {
  case $1 in
    onnx) ls inference/readers/onnx/*.cpp inference/readers/onnx_reader.cpp ;;
    openvino_ir) ls inference/readers/openvino_ir/*.cpp inference/readers/openvino_ir_reader.cpp ;;
    model_proc) ls inference/decoders/model_proc.cpp inference/decoders/json_object.cpp ;;
    labels) ls inference/decoders/labels.cpp ;;
    npy) ls tools/npy.cpp ;;
    device_text) ls inference/properties.cpp ;;
  esac
}

seeds=build-fuzz/seeds findings=build-fuzz/findings
/usr/bin/python3 tests/fuzz/make_corpus.py "$root" "$seeds"
mkdir -p "$findings"
failed=()
for target in "${targets[@]}"; do
  corpus=build-fuzz/corpus/$target log=$findings/$target.log
  mkdir -p "$corpus"
  if ! build-fuzz/tests/fuzz/fuzz_"$target" -max_total_time=$((minutes * 60)) -timeout=10 -rss_limit_mb=2048 -detect_leaks=1 \
    -max_len=65536 -print_final_stats=1 -dict="$seeds/$target.dict" -artifact_prefix="$findings/$target-" \
    "$corpus" "$seeds/$target" >"$log" 2>&1; then
    failed+=("$target")
    grep -m 3 -E 'ERROR:|SUMMARY:|runtime error:' "$log" || tail -n 5 "$log"
  fi
  grep -E 'stat::(number_of_executed_units|average_exec_per_sec)' "$log" | sed "s/^/$target: /" || true
done

# Line coverage under seeds and corpus, without fuzzing.
low=()
for target in "${targets[@]}"; do
  program=build-fuzz-coverage/tests/fuzz/fuzz_$target
  profile=build-fuzz-coverage/$target
  LLVM_PROFILE_FILE=$profile.profraw "$program" -runs=0 -timeout=10 -rss_limit_mb=2048 "build-fuzz/corpus/$target" "$seeds/$target" \
    >"$profile.log" 2>&1 || fail "the coverage run of $target failed; see $profile.log"
  llvm-profdata merge -sparse "$profile.profraw" -o "$profile.profdata"
  # shellcheck disable=SC2046  # one word a source
  llvm-cov report "$program" -instr-profile="$profile.profdata" $(sources_of "$target") >"$profile.txt"
  # Columns: name, regions 3, functions 3, lines 3 (number, missed, share), branches.
  lines=$(awk '$1 == "TOTAL" { sub("%", "", $10); print $10 }' "$profile.txt")
  echo "$target: $lines % of the lines of its sources ($profile.txt)"
  awk -v lines="$lines" 'BEGIN { exit lines >= 80 }' && low+=("$target")
done
[ ${#low[@]} = 0 ] || echo "Under 80 %: ${low[*]}"
[ ${#failed[@]} = 0 ] || fail "finds in: ${failed[*]}; inputs and logs are in $findings. Make each a test before fixing it."
