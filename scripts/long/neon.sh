#!/usr/bin/env bash
# The SIMD loops on AArch64: cross-compiles the library and the tests of the CPU device, of preprocessing and of the oracle, and runs
# them under qemu. Arm's libraries are unpacked into build-arm64/sysroot (1.6 GB); the system gets a compiler and an emulator only.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/cross.sh
. "$root/scripts/cross.sh"

folder=$cross_folder
cross_configure
build "$folder" tests/{devices/test_devices,preprocess/test_preprocess,oracle/test_oracle} \
  examples/{custom_operator/channel_scale,custom_decoder/top_class,custom_preprocess/contrast}.so
# Left out: tests that expect oneDNN's generated kernels, or formats that only these take; what tells less than its time under qemu costs
# (measured choices, export of whole models, 400 products to cancel); tests that start programs, which qemu cannot; a page of docs.
generated=(CpuTest.{SoftmaxAlongEveryAxis,PlanningEmptiesConstantsThatItPacked,AccuracyKeepsTheDirectConvolutionAndTheGraph}
  CpuTest.OtherConvolutionsAreNoWinogradOnes CustomOperator.TakesTheFormatOfItsNeighboursAndKeepsThePaddingZero
  CpuPasses.ChannelShufflesOfBlockedTensors CpuQuantised.WeightsWithOtherZeroPoints
  CpuTyped.PoolsOfBytesHaveAKernelInAnyFormat CpuSmallWork.StepsOfAPlan)
programs=(GpuDiscovery.{WithoutDriversOtherDevicesWork,DriversThatDoNotLoadAreNamed,TheToolShowsWhyThereIsNoGpu,ThePluginLoadsWithoutDrivers})
slow=(CpuChoices.\* CpuExport.\* CpuTest.CancelEndsAnExecutionBetweenSteps)
export GTEST_FILTER
GTEST_FILTER=-OperatorsPage.IsNotStale:$(IFS=: && echo "${generated[*]}:${programs[*]}:${slow[*]}")
export HET_ORACLE_CASES=2
forget_results "$folder"
meson test -C "$folder" --no-rebuild --timeout-multiplier 5 --print-errorlogs devices preprocess oracle || true
grep -m 1 'the SIMD loops chose' "$folder/meson-logs/testlog.txt" || fail "no test says what instruction set the loops chose"
exec /usr/bin/python3 scripts/test_summary.py "$folder/meson-logs/testlog.junit.xml"
