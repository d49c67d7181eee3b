#!/usr/bin/env bash
# Readers under libFuzzer, on a corpus that tests/fuzz/make_corpus.py writes; then the line coverage of the readers' sources
# under seeds and corpus.
#   fuzz.sh [MINUTES [TARGET...]]   CPU-minutes a target (30), targets (all)
# In pieces, one a target: no target is begun after 30 minutes (HET_PIECES_MINUTES), the next run goes on with those that are left.
# Finds (crash-*, leak-*, timeout-*, oom-*) and logs lie in build-fuzz/findings; what was found new stays in build-fuzz/corpus.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"

minutes=${1:-30}
[[ $minutes =~ ^[1-9][0-9]*$ ]] || fail "the minutes a target are '$minutes'; give a whole number of at least 1"
shift || true
targets=("$@")
[ $# -gt 0 ] || targets=(onnx openvino_ir model_proc modelinfo labels npy device_text exported exported_split vpu_messages vpu_host vpu_session zones metrics_http)
for target in "${targets[@]}"; do
  [ -e "tests/fuzz/$target.cpp" ] || fail "no fuzz target '$target'; tests/fuzz/ has one .cpp for each"
done

require build check fuzz
export CXX=clang++
! command -v ccache >/dev/null || CXX='ccache clang++'
# Warnings are the ordinary build's matter.
configure build-fuzz -Dfuzz=true -Dwerror=false -Dbuildtype=plain -Db_lundef=false '-Dcpp_args=-O1 -gline-tables-only'
pieces_begin "$root/build-fuzz/pieces" "$minutes"
build build-fuzz "${targets[@]/#/tests/fuzz/fuzz_}"

# The sources whose coverage counts, by target: a pattern of paths.
sources_of() {
  case $1 in
    onnx) echo 'inference/readers/onnx(_reader|/.*)[.]cpp' ;;
    openvino_ir) echo 'inference/readers/openvino_ir(_reader|/.*)[.]cpp' ;;
    model_proc) echo 'inference/decoders/(model_proc|json_object)[.]cpp' ;;
    modelinfo) echo 'inference/decoders/(descriptors/(key_file|modelinfo.*)|exchange/.*)[.]cpp' ;;
    labels) echo 'inference/decoders/labels[.]cpp' ;;
    npy) echo 'tools/npy[.]cpp' ;;
    device_text) echo 'inference/properties[.]cpp' ;;
    exported) echo 'inference/exported_file[.]cpp' ;;
    exported_split) echo 'hetero/exported_plan[.]cpp' ;;
    vpu_messages) echo 'devices/vpu/link_(bytes|messages)[.]cpp' ;;
    vpu_host) echo 'devices/vpu/connection[.]cpp' ;;
    vpu_session) echo 'devices/vpu/daemon/session[.]cpp' ;;
    metrics_http) echo 'serving/metrics/(exposition|http)/.*[.]cpp' ;;
    zones) echo 'inference/zones/.*[.]cpp' ;;
  esac
}

# Sets $spent to the seconds of processor time of this shell's children. No subshell may come between.
measure() {
  times >"$findings/times"
  spent=$(awk 'NR == 2 { split($1, u, "[ms]"); split($2, s, "[ms]"); print int(u[1] * 60 + u[2] + s[1] * 60 + s[2]) }' "$findings/times")
}

# fuzz TARGET: until the CPU-minutes are spent or something is found, in slices, since libFuzzer knows wall time only.
fuzz() {
  local target=$1 log=$findings/$1.log left=$((minutes * 60)) start=$spent
  : >"$log"
  while [ "$left" -gt 0 ]; do
    LLVM_PROFILE_FILE=/dev/null build-fuzz/tests/fuzz/fuzz_"$target" -max_total_time=$((left < 300 ? left : 300)) -timeout=10 \
      -rss_limit_mb=2048 -detect_leaks=1 -max_len=65536 -print_final_stats=1 -dict="$seeds/$target.dict" \
      -artifact_prefix="$findings/$target-" "build-fuzz/corpus/$target" "$seeds/$target" >>"$log" 2>&1 || return 1
    measure
    left=$((minutes * 60 - spent + start))
  done
}

# The sum or the largest of a statistic over the slices of a target.
statistic() {
  awk -v name="stat::$2:" -v how="$3" '$1 == name { sum += $2; if ($2 > most) most = $2 } END { print how == "sum" ? sum + 0 : most + 0 }' \
    "$findings/$1.log"
}

seeds=build-fuzz/seeds findings=build-fuzz/findings
rm -rf "$seeds"
/usr/bin/python3 tests/fuzz/make_corpus.py "$root" "$seeds"
mkdir -p "$findings"
# run_target TARGET: fuzzes, then measures what lines the corpus reaches; both are told in one line, kept beside the progress.
run_target() {
  local target=$1 before seconds lines program profile status=0
  mkdir -p "build-fuzz/corpus/$target"
  measure
  before=$spent
  if ! fuzz "$target"; then
    status=1
    grep -m 3 -E 'ERROR:|SUMMARY:|runtime error:' "$findings/$target.log" || tail -n 5 "$findings/$target.log"
  fi
  measure
  seconds=$((spent - before))

  program=build-fuzz/tests/fuzz/fuzz_$target profile=build-fuzz/coverage_$target
  LLVM_PROFILE_FILE=$profile.profraw "$program" -runs=0 -rss_limit_mb=2048 -artifact_prefix="$profile-" "build-fuzz/corpus/$target" "$seeds/$target" \
    >"$profile.log" 2>&1 || echo "$target: the coverage run ended early; see $profile.log"
  llvm-profdata merge -sparse "$profile.profraw" -o "$profile.profdata"
  # Columns: name, regions 3, functions 3, lines 3 (number, missed, share), branches. Files that a program was compiled from by
  # relative paths cannot be chosen in llvm-cov's own arguments.
  llvm-cov report "$program" -instr-profile="$profile.profdata" | awk -v sources="$(sources_of "$target")\$" '$1 ~ sources' >"$profile.txt"
  lines=$(awk '{ all += $8; missed += $9 } END { printf "%.1f", all ? 100 * (all - missed) / all : 0 }' "$profile.txt")
  awk -v lines="$lines" 'BEGIN { exit lines >= 80 }' && {
    echo "$target: under 80 % of the lines"
    status=1
  }
  printf '%s: %d CPU-seconds, %d executions, %d MiB at most, %s %% of the lines of its sources (%s)\n' "$target" "$seconds" \
    "$(statistic "$target" number_of_executed_units sum)" "$(statistic "$target" peak_rss_mb most)" "$lines" "$profile.txt" |
    tee "build-fuzz/pieces/$target.txt"
  return $status
}

for target in "${targets[@]}"; do
  [ -z "$(piece_result "$target")" ] || cat "build-fuzz/pieces/$target.txt"
  piece "$target" run_target "$target"
done
pieces_end
