#!/usr/bin/env bash
# The SIMD loops on AArch64: cross-compiles the library and the tests of the CPU device, of preprocessing and of the oracle, and runs
# them under qemu. Arm's libraries are unpacked into build-neon/sysroot (1.2 GB); the system gets a compiler and an emulator only.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/sysroot.sh
. "$root/scripts/sysroot.sh"

[ -e /etc/debian_version ] || fail "this check unpacks Debian's packages for arm64; it runs on Debian only"
require build check neon
folder=$root/build-neon
sysroot=$folder/sysroot
libraries=$sysroot/usr/lib/aarch64-linux-gnu
mkdir -p "$folder"
make_sysroot arm64 "$sysroot"

ccache=
! command -v ccache >/dev/null || ccache="'ccache', "
# A processor with NEON and without SVE, where oneDNN 2.6 leaves out some activations (devices/cpu/README.md).
# OpenCV needs libblas and liblapack, to which only their packages' installation would put links.
cat >"$folder/cross.ini" <<END
[constants]
sysroot = '$sysroot'
libraries = '$libraries'
algebra = libraries + '/blas:' + libraries + '/lapack'
[binaries]
c = [$ccache'aarch64-linux-gnu-gcc']
cpp = [$ccache'aarch64-linux-gnu-g++']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-cpu', 'cortex-a72', '-L', sysroot, '-E', 'LD_LIBRARY_PATH=' + algebra]
[properties]
sys_root = sysroot
pkg_config_libdir = [libraries + '/pkgconfig', sysroot + '/usr/share/pkgconfig']
[built-in options]
c_args = ['--sysroot=' + sysroot]
cpp_args = c_args
c_link_args = ['--sysroot=' + sysroot, '-Wl,-rpath-link,' + libraries + ':' + algebra]
cpp_link_args = c_link_args
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'armv8-a'
endian = 'little'
END
cross=()
[ -e "$folder/build.ninja" ] || cross=(--cross-file "$folder/cross.ini")
configure "$folder" "${cross[@]}" -Dtests=true
build "$folder" tests/{devices/test_devices,preprocess/test_preprocess,oracle/test_oracle} \
  examples/{custom_operator/channel_scale,custom_decoder/top_class}.so
# Left out: tests that expect oneDNN's generated kernels, or formats that only these take; what tells less than its time under qemu costs
# (measured choices, export of whole models, 400 products to cancel); a page of docs.
generated=(CpuTest.{SoftmaxAlongEveryAxis,PlanningEmptiesConstantsThatItPacked,AccuracyKeepsTheDirectConvolutionAndTheGraph}
  CpuTest.OtherConvolutionsAreNoWinogradOnes CustomOperator.TakesTheFormatOfItsNeighboursAndKeepsThePaddingZero
  CpuPasses.ChannelShufflesOfBlockedTensors CpuQuantised.WeightsWithOtherZeroPoints
  CpuTyped.PoolsOfBytesHaveAKernelInAnyFormat)
slow=(CpuChoices.\* CpuExport.\* CpuTest.CancelEndsAnExecutionBetweenSteps)
export GTEST_FILTER
GTEST_FILTER=-OperatorsPage.IsNotStale:$(IFS=: && echo "${generated[*]}:${slow[*]}")
export HET_ORACLE_CASES=2
meson test -C "$folder" --no-rebuild --timeout-multiplier 5 --print-errorlogs devices preprocess oracle || true
grep -m 1 'the SIMD loops chose' "$folder/meson-logs/testlog.txt" || fail "no test says what instruction set the loops chose"
exec /usr/bin/python3 scripts/test_summary.py "$folder/meson-logs/testlog.junit.xml"
