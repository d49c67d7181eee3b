#!/usr/bin/env bash
# Tries the OpenCL devices of this machine. Nothing is installed and nothing is written outside of the folder of results.
#
#   ./run.sh                     every part; from a quarter of an hour on
#   ./run.sh --quick             a few minutes: fewer tests, shorter measurements
#   ./run.sh PART...             some parts:
#     self_test   is every device right and fast: hetero devices --self-test, with its report as JSON
#     gpu_tests   the tests of the GPU device
#     oracle      every operator with random inputs on every device, beside the reference implementation
#     peak        what the device reaches at best, and what convolutions and products of a model reach of it: float32 and float16, batch 1 and 32
#     compile     how long models compile, with the caches of the driver and ours empty
#     hetero      HETERO:GPU,CPU beside CPU: frames a second, and whether both find the same objects in a picture
#   ./run.sh --results FOLDER    where report.txt and self_test.json go (results, beside this file)
#   ./run.sh -- PROGRAM ARGS     runs one program of the archive, as: ./run.sh -- hetero devices
#
# The driver is this machine's own, as OCL_ICD_VENDORS or /etc/OpenCL/vendors names it. HETERO_GPU_ALLOW_CPU=1 lets OpenCL on a processor count
# as GPU. Both files can be sent: the report has this machine's kernel, processor and devices, no names of its own.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
  printf 'run.sh: %s\n' "$*" >&2
  exit 2
}

all_parts="self_test gpu_tests oracle peak compile hetero"
quick=0 parts='' results=$here/results program=
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --results)
      [ -n "${2-}" ] || fail "--results needs a folder"
      results=$2
      shift
      ;;
    --)
      shift
      program=${1-}
      [ -n "$program" ] || fail "-- needs a program: $(find "$here/build" -type f -perm -u+x ! -name '*.so' -printf '%f ')"
      shift
      break
      ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    -*) fail "unknown option '$1'; ./run.sh --help lists them" ;;
    *)
      case " $all_parts " in *" $1 "*) parts="$parts $1" ;; *) fail "there is no part '$1'; parts are: $all_parts" ;; esac
      ;;
  esac
  shift
done

# The newer one of each, ours or this machine's: drivers load into our process, and a driver that was made for a newer C library does not
# load with an older one. A folder that cannot be written to keeps ours.
version_of_c() {
  "$1" --version 2>/dev/null | sed -n '1s/.*version \([0-9][0-9.]*[0-9]\).*/\1/p'
}
newer() { # FIRST SECOND: whether FIRST is a version and newer
  [ -n "$1" ] && [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | tail -n 1)" = "$1" ]
}
machine_loader=
for loader in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do
  [ ! -x "$loader" ] || machine_loader=$loader
done
ours=$(version_of_c "$here/system/c/ld.so") theirs=
[ -z "$machine_loader" ] || theirs=$(version_of_c "$machine_loader")
c_library="of the archive, $ours (this machine: ${theirs:-none, or too old to tell})"
set_links() { # C CXX LOADER
  ln -sfn "$1" "$here/use/c" && ln -sfn "$2" "$here/use/cxx" && ln -sfn "$3" "$here/use/ld.so"
} 2>/dev/null
if newer "$theirs" "$ours"; then
  # The libraries of C++ are taken from where the newer C library is: a system has both of about the same age.
  if set_links ../system/none ../system/none "$machine_loader" && (cd "$here" && build/tools/hetero --help) >/dev/null 2>&1; then
    c_library="of this machine, $theirs (the archive: $ours)"
  else
    set_links ../system/c ../system/cxx c/ld.so
  fi
else
  set_links ../system/c ../system/cxx c/ld.so
fi

export HET_BUILD_ROOT=$here/build HET_SOURCE_ROOT=$here/source HET_SHARED_DATA=$here/source GST_HETERO_CACHE_DIR=
if [ -n "$program" ]; then
  path=$(find "$here/build" -type f -name "$program" | head -n 1)
  [ -n "$path" ] || fail "there is no program '$program' in $here/build"
  cd "$here" && exec "$path" "$@" # the interpreter is named from here
fi

mkdir -p "$results" || fail "the folder '$results' for the results cannot be made; --results names another"
results=$(cd "$results" && pwd)
report=$results/report.txt
: >"$report" || fail "'$report' cannot be written; --results names another folder"
work=$(mktemp -d) || fail "no temporary folder can be made in ${TMPDIR:-/tmp}"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$here" || fail "cannot enter $here"
models=source/pipelines/demo/models
hetero=build/tools/hetero
# Caches of drivers, so that nothing is left behind and nothing is there before.
export POCL_CACHE_DIR=$work/driver XDG_CACHE_HOME=$work/cache CUDA_CACHE_PATH=$work/cuda
mkdir -p "$POCL_CACHE_DIR" "$XDG_CACHE_HOME" "$CUDA_CACHE_PATH"

say() {
  printf '%s\n' "$*" | tee -a "$report"
}

outcomes=
wrong=0
# outcome PART TEXT...
outcome() {
  local part=$1
  shift
  outcomes="$outcomes$(printf '%-10s %s' "$part" "$*")
"
}

# run SECONDS COMMAND...: with its output in the report; a signal or the end of its time is said. Status of the command.
run() {
  local seconds=$1 status
  shift
  timeout -k 10 "$seconds" "$@" 2>&1 | tee -a "$report"
  status=${PIPESTATUS[0]}
  case $status in
    0) ;;
    124) say "stopped: it took more than $seconds s" ;;
    12[5-9] | 1[3-9][0-9]) say "ended by signal $((status - 128)), or could not be started (status $status)" ;;
    *) say "exit status $status" ;;
  esac
  return "$status"
}

# part NAME WHAT
part() {
  say ""
  say "== $1: $2"
}

# ended PART STATUS
ended() {
  if [ "$2" = 0 ]; then outcome "$1" "passed"; else
    outcome "$1" "FAILED, see above"
    wrong=1
  fi
}

self_test() {
  run 150 $hetero devices --self-test --json "$results/self_test.json"
  ended self_test $?
}

# What some tests need is not in the archive.
left_out=$(sed 's/ .*//' left_out.txt | paste -sd:)
tell_left_out() { # PATTERN
  grep "^$1" left_out.txt | sed 's/^\([^ ]*\) /left out: \1: it /' | tee -a "$report"
}

# googletest SECONDS PROGRAM FILTER: failures and skipped tests with their reasons.
googletest() {
  local seconds=$1 program=$2 filter=$3 status
  timeout -k 10 "$seconds" "$program" "--gtest_filter=$filter-$left_out" >"$work/tests.txt" 2>&1
  status=$?
  # All but the lines of tests that pass, paths from the top of the source tree, and each of many equal lines once.
  grep -v -E '^\[( RUN      |       OK |----------)\]|^Running main|^Note: |^$' "$work/tests.txt" | sed 's|^/[^ :]*/\.\./||' | uniq | tee -a "$report"
  case $status in
    0 | 1) ;;
    124) say "stopped: it took more than $seconds s; the last test: $(grep '^\[ RUN' "$work/tests.txt" | tail -n 1)" ;;
    *) say "ended with status $status in: $(grep '^\[ RUN' "$work/tests.txt" | tail -n 1)" ;;
  esac
  grep -q '^\[==========\] [1-9].* ran' "$work/tests.txt" || status=1
  return $status
}

gpu_tests() {
  tell_left_out Gpu
  local filter='Gpu*'
  [ $quick = 0 ] || filter='GpuConv*:GpuMatMul*:GpuDiscovery*'
  googletest 3600 build/tests/devices/test_devices "$filter"
  ended gpu_tests $?
}

oracle() {
  tell_left_out Operators
  local filter='*'
  [ $quick = 0 ] || filter='*/Conv:*/MatMul:*/Softmax:*/Resize'
  googletest 3600 build/tests/oracle/test_oracle "$filter"
  ended oracle $?
}

peak() {
  local seconds=0.2 type batch status=0 peak=build/benchmarks/opencl_peak/bench_opencl_peak
  if [ ! -x $peak ]; then
    say "skipped: this archive was made of a build without benchmarks"
    outcome peak "skipped: not in this archive"
    return
  fi
  [ $quick = 0 ] || seconds=0.02
  for type in f32 f16; do
    for batch in 1 32; do
      say "-- scene_detector, $type, batch $batch"
      run 600 $peak --seconds $seconds --batch $batch $([ $type = f32 ] || echo --f16) $models/scene_detector.onnx || status=1
    done
  done
  ended peak $status
}

compile() {
  local model what cache status=0
  for model in "$models"/*.onnx; do
    say "-- $(basename "$model")"
    rm -rf "$work/cache_dir"
    # Of the driver's cache nothing is left each time.
    for what in "no cache at all" "an empty cache of ours" "a filled cache of ours"; do
      cache=$work/cache_dir
      case $what in no*) cache= ;; esac
      rm -rf "$work/none"
      mkdir "$work/none"
      say "with $what:"
      run 600 env POCL_CACHE_DIR="$work/none" XDG_CACHE_HOME="$work/none" CUDA_CACHE_DISABLE=1 NEO_CACHE_PERSISTENT=0 MESA_SHADER_CACHE_DISABLE=1 \
        AMD_COMGR_CACHE=0 build/tests/devices/gpu_child compile "$model" CACHE_DIR="$cache" BATCH_SIZE=1 || status=1
    done
  done
  ended compile $status
}

# alike FILE FILE: the same words, and numbers that rounding makes differ: scores, which come second, by 0.01 at most, pixels by half of one.
alike() {
  [ -s "$1" ] && [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ] && paste "$1" "$2" | tr -d '(),' | awk '{
    half = NF / 2
    for (i = 1; i <= half; ++i) {
      a = $i
      b = $(i + half)
      if (a == b) continue
      if (a !~ /^-?[0-9.]+$/ || b !~ /^-?[0-9.]+$/) exit 1
      most = i == 2 ? 0.01 : 0.5
      if (a - b > most || b - a > most) exit 1
    }
  }'
}

hetero() {
  local device model status=0 seconds=5
  [ $quick = 0 ] || seconds=1
  for model in "$models"/*.onnx; do
    for device in CPU HETERO:GPU,CPU; do
      say "-- $(basename "$model") on $device"
      timeout -k 10 300 $hetero bench "$model" -d "$device" -hint throughput -b 1 -t $seconds -cache_dir "" >"$work/bench.txt" 2>&1 || {
        status=1
        tail -n 5 "$work/bench.txt" | tee -a "$report"
      }
      sed -n 's/^\[ INFO \] *//; /^\(Compile\|Execution Devices\|Median\|Throughput\|subgraph\)/p' "$work/bench.txt" | tee -a "$report"
    done
  done
  for device in CPU HETERO:GPU,CPU; do
    timeout 300 $hetero run $models/scene_detector.onnx --model-proc $models/scene_detector.json --image source/examples/python/street.jpg \
      -d $device >"$work/objects.$device" 2>&1 || status=1
  done
  say "-- objects in a picture, on CPU"
  tee -a "$report" <"$work/objects.CPU"
  if alike "$work/objects.CPU" "$work/objects.HETERO:GPU,CPU"; then
    say "HETERO:GPU,CPU finds the same, to half a pixel and 0.01 of the score"
  else
    say "-- and on HETERO:GPU,CPU, where not all is the same"
    tee -a "$report" <"$work/objects.HETERO:GPU,CPU"
    status=1
  fi
  ended hetero $status
}

say "hetero on this machine, $(sed -n 's/^commit //p' version.txt | cut -c-12), $(sed -n 's/^built on /built on /p' version.txt)"
say "kernel $(uname -sr), $(uname -m); C library $c_library"
say "OpenCL drivers: $(ls "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}" 2>/dev/null | paste -sd' ')"
no_gpu=$(timeout 60 $hetero devices 2>&1 | grep -A 1 '^GPU (not available)' | sed -n '2s/^ *//p')
for name in ${parts:-$all_parts}; do
  begin=$SECONDS
  case $name in
    self_test) part $name "is every device right and fast" ;;
    gpu_tests) part $name "the tests of the GPU device" ;;
    oracle) part $name "random inputs for every operator, beside the reference implementation" ;;
    peak) part $name "what the device reaches at best, and what a model's layers reach of it" ;;
    compile) part $name "how long models compile in a new process, the driver's cache empty" ;;
    hetero) part $name "HETERO:GPU,CPU beside CPU" ;;
  esac
  case $name in
    peak | compile | hetero)
      if [ -n "$no_gpu" ]; then
        say "skipped: $no_gpu"
        outcome $name "skipped: ${no_gpu:0:100}"
        continue
      fi
      ;;
  esac
  $name
  say "$name took $((SECONDS - begin)) s"
done
say ""
say "== outcome"
say "$outcomes"
say "The whole report: $report"
exit $wrong
