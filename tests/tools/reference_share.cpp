#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "devices/register_devices.h"
#include "tools/golden_run.h"

/// The part of a model's time that the CPU device spends in reference implementations: processor
/// time on one thread, which other processes disturb least.
namespace het {
namespace {

namespace fs = std::filesystem;

constexpr double kAllowedShare = 0.01;
constexpr int kMeasurements = 5;  ///< the best counts: others may have emptied the caches
constexpr int kMinimumRuns = 5;
constexpr std::chrono::milliseconds kEnough{100};

std::vector<fs::path> golden_folders() {
  std::vector<fs::path> folders;
  const char* shared = std::getenv("HET_SHARED_DATA");
  const fs::path root = fs::path(shared == nullptr ? "" : shared) / "expected" / "golden";
  for (const char* kind : {"onnx", "ir"}) {
    if (!fs::is_directory(root / kind)) continue;
    for (const auto& entry : fs::directory_iterator(root / kind)) {
      if (fs::exists(entry.path() / "golden.json")) folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

double median(std::vector<int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

/// Medians over several inferences, in microseconds.
struct Share {
  double reference_us = 0.0;
  double total_us = 0.0;
  std::string nodes;  ///< that the reference ran

  double value() const { return total_us > 0.0 ? reference_us / total_us : 0.0; }
};

Result<Share> measure(InferRequest& request) {
  std::vector<ProfileRow> rows;
  std::vector<std::vector<int64_t>> times_us;
  const auto start = std::chrono::steady_clock::now();
  for (int run = 0; run < kMinimumRuns || std::chrono::steady_clock::now() - start < kEnough;
       ++run) {
    HET_TRY(request.infer());
    rows = request.profiling();
    times_us.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) times_us[i].push_back(rows[i].cpu_us);
  }
  Share share;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double us = median(times_us[i]);
    share.total_us += us;
    if (rows[i].exec_type != "ref") continue;
    share.reference_us += us;
    share.nodes += fmt::format("\n  {:6.0f} us {} '{}'", us, rows[i].layer_type, rows[i].node_name);
  }
  return share;
}

class ReferenceShare : public testing::TestWithParam<fs::path> {};

TEST_P(ReferenceShare, TakesAtMostOnePercent) {
  const std::shared_ptr<Core> core = het::core();
  const VerifyContext context{*core,
                              "CPU",
                              {{"PERF_COUNT", "YES"}, {"INFERENCE_NUM_THREADS", "1"}},
                              std::getenv("HET_SHARED_DATA")};
  const auto run = prepare_golden_run(context, GetParam());
  ASSERT_TRUE(run) << run.error().message();
  ASSERT_TRUE(run->request->infer().ok());
  const std::vector<ProfileRow> rows = run->request->profiling();
  if (std::none_of(rows.begin(), rows.end(),
                   [](const ProfileRow& row) { return row.exec_type == "ref"; })) {
    return;
  }
  Share best;
  for (int measurement = 0; measurement < kMeasurements; ++measurement) {
    const auto share = measure(*run->request);
    ASSERT_TRUE(share) << share.error().message();
    if (measurement == 0 || share->value() < best.value()) best = *share;
    if (best.value() <= kAllowedShare) break;
  }
  std::printf("%6.2f %% of %8.0f us\n", 100.0 * best.value(), best.total_us);
  EXPECT_LE(best.value(), kAllowedShare)
      << "the reference takes " << best.reference_us << " of " << best.total_us
      << " us; write CPU kernels for:" << best.nodes;
}

std::string test_name(const testing::TestParamInfo<fs::path>& given) {
  std::string name = given.param.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

TEST(ReferenceShareFolders, AreThere) {
  if (golden_folders().empty()) GTEST_SKIP() << "the shared data (HET_SHARED_DATA) is absent";
  EXPECT_GE(golden_folders().size(), 40u);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ReferenceShare);
INSTANTIATE_TEST_SUITE_P(Golden, ReferenceShare, testing::ValuesIn(golden_folders()), test_name);

}  // namespace
}  // namespace het
