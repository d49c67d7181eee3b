# Sourced by scripts/long/opencl.sh: tests in Oclgrind, a process each, and what it found by kernel file.
# shellcheck shell=bash disable=SC2154 # folder, results: of the script

oclgrind_seconds=60 # what takes longer is left out

# oclgrind_run NAME COMMAND...: with races and the API checked; findings in NAME.findings, launched kernels in NAME.kernels.
oclgrind_run() {
  local name=$1
  shift
  rm -f "$results/$name.kernels" "$results/$name.findings"
  OCLGRIND_DATA_RACES=1 OCLGRIND_CHECK_API=1 OCLGRIND_LOG=$results/$name.findings HET_LAYER_KERNELS=$results/$name.kernels \
    OPENCL_LAYERS=${OPENCL_LAYERS:-$folder/tests/opencl_layer/recording_layer.so} timeout "$oclgrind_seconds" "$@" >"$results/$name.log" 2>&1
}

# oclgrind_test NAME PROGRAM FILTER: passes where the test does and nothing was found.
oclgrind_test() {
  local name=$1 status=0 reason
  oclgrind_run "$name" "$2" --gtest_brief=1 --gtest_filter="$3" || status=$?
  reason=$(oclgrind_limit "$name" $status)
  if [ -n "$reason" ]; then
    echo "skipped: $3: $reason"
    rm -f "$results/$name.findings"
    return 0
  fi
  [ $status = 0 ] || tail -n 30 "$results/$name.log"
  if [ -s "$results/$name.findings" ]; then
    echo "Oclgrind on $3:"
    head -n 20 "$results/$name.findings"
    status=1
  fi
  return $status
}

# oclgrind_limit NAME STATUS: what Oclgrind 21.10 cannot do, if that is why a test did not pass.
oclgrind_limit() {
  local undefined
  undefined=$(sed -n 's/^Undefined external function: //p' "$results/$1.log" | head -n 1)
  if [ "$2" = 124 ]; then
    echo "it takes more than $oclgrind_seconds s here"
  elif [ -n "$undefined" ]; then
    echo "Oclgrind has no $undefined"
  elif grep -q 'notifyKernelBegin.*Assertion' "$results/$1.log"; then
    echo "Oclgrind runs the commands of one queue at a time"
  elif [[ $1 == oclgrind.GpuSurfaces.* ]] && grep -q 'needs OpenCL 3' "$results/$1.log"; then
    echo "Oclgrind is an OpenCL 1.2, which does not import DMA-BUFs"
  elif [[ $1 == oclgrind.GpuProbes.* ]] && grep -q '^Segmentation fault' "$results/$1.log"; then
    echo "Oclgrind crashes where two threads build, which the layer of other tests prevents"
  fi
}

oclgrind_tests() {
  local test
  piece oclgrind.planted_race oclgrind_planted race 'data race'
  piece oclgrind.planted_overrun oclgrind_planted overrun 'Invalid write'
  while read -r test; do
    piece_beside "oclgrind.$test" oclgrind_test "oclgrind.$test" "$folder/tests/devices/test_devices" "$test"
  done < <(listed_tests "$folder/tests/devices/test_devices" 'Gpu*')
  while read -r test; do
    piece_beside "oclgrind.$(basename "$test")" oclgrind_test "oclgrind.$(basename "$test")" "$folder/tests/oracle/test_oracle" "$test"
  done < <(listed_tests "$folder/tests/oracle/test_oracle" '*DevicesAgree*')
  wait
}

# listed_tests PROGRAM FILTER: names, one a line.
listed_tests() {
  "$1" --gtest_list_tests --gtest_filter="$2" | awk '/^[^ ].*\.$/ { suite = $1 } /^  / { print suite $1 }'
}

# oclgrind_planted NAME TEXT: a kernel of a user that is wrong is found.
oclgrind_planted() {
  local name=oclgrind.planted_$1
  /usr/bin/python3 "$root/scripts/opencl/planted/make_model.py" "$results"
  oclgrind_run "$name" "$folder/tools/hetero" run "$results/planted.onnx" -d GPU --extensions "$folder/examples/custom_operator/channel_scale.so" \
    --input "x=$results/planted.npy" --output "$results/planted" --properties "CONFIG_FILE=$root/scripts/opencl/planted/$1.xml" || true
  if ! grep -qi "$2" "$results/$name.findings"; then
    cat "$results/$name.log"
    echo "Oclgrind did not find the planted $1"
    return 1
  fi
  echo "found the planted $1: $(grep -im 1 "$2" "$results/$name.findings")"
  rm "$results/$name.findings"
}

# oclgrind_summary: a line a kernel file; fails where less than nine files of ten ran.
oclgrind_summary() {
  piece oclgrind.summary /usr/bin/python3 "$root/scripts/opencl/kernel_files.py" "$root/devices/gpu/kernels" "$results"
}
