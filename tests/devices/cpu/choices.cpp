// Choices by measurement. Which candidate is the fastest is not tested: what happens with one is.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "cpu_testing.h"
#include "devices/cpu/loops/depthwise_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/fastest_of.h"
#include "devices/cpu/plan/precision_choice.h"
#include "inference/base/checksum.h"
#include "inference/base/log.h"
#include "inference/passes/prepare_model.h"

namespace het::cpu {
namespace {

namespace fs = std::filesystem;
using namespace cpu_testing;
using std::chrono::milliseconds;

std::function<Status()> sleeper(int time_ms, int& runs) {
  return [time_ms, &runs]() -> Status {
    ++runs;
    std::this_thread::sleep_for(milliseconds(time_ms));
    return {};
  };
}

TEST(FastestOf, FarBehindLeavesAfterTwoTurns) {
  int quick = 0;
  int slow = 0;
  int swept = 0;
  const std::vector<std::function<Status()>> runs = {sleeper(20, slow), sleeper(1, quick)};
  const auto times = fastest_us(
      runs, [&] { ++swept; }, MeasuringClock::now() + std::chrono::seconds(60));
  ASSERT_TRUE(times && *times);
  EXPECT_GE((**times)[0], 20e3);
  EXPECT_GE((**times)[1], 1e3);
  EXPECT_LT((**times)[1], (**times)[0]);
  EXPECT_EQ(slow, 2);
  EXPECT_GT(quick, 3);
  EXPECT_EQ(swept, slow + quick);
}

TEST(FastestOf, NothingWhenTheTimeIsOver) {
  int runs_done = 0;
  const std::vector<std::function<Status()>> runs = {sleeper(5, runs_done)};
  const auto late = fastest_us(
      runs, [] {}, MeasuringClock::now() - milliseconds(1));
  ASSERT_TRUE(late);
  EXPECT_FALSE(*late);
  EXPECT_EQ(runs_done, 0);
  const auto cut = fastest_us(
      runs, [] {}, MeasuringClock::now() + milliseconds(2));
  ASSERT_TRUE(cut);
  EXPECT_FALSE(*cut);
}

TEST(FastestOf, AFailureIsAFailure) {
  const std::vector<std::function<Status()>> runs = {
      []() -> Status { return error(StatusCode::Internal, "broken"); }};
  EXPECT_FALSE(fastest_us(
      runs, [] {}, MeasuringClock::now() + std::chrono::seconds(9)));
}

class CpuChoices : public CpuTest {
 protected:
  void SetUp() override {
    CpuTest::SetUp();
    std::string name = fs::temp_directory_path() / "cpu_choices_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    set_log_sink([](LogLevel, std::string_view) {}, LogLevel::Warning);
    fs::remove_all(folder_);
  }

  /// A convolution that may be direct or Winograd's, and a product.
  static Model& small_model(ModelMaker& maker) {
    Value* x = maker.input({1, 32, 20, 20});
    Value* y = maker.op("Relu", {maker.conv(x, 32, 48, 3)});
    Value* rows = maker.op("Reshape", {y, maker.ints({48, 400})});
    maker.output(maker.op("MatMul", {rows, maker.random({400, 160}, 0.05f)}));
    return maker.model();
  }
  /// Enough work in products for their type to be chosen.
  static Model& large_model(ModelMaker& maker) {
    Value* x = maker.input({1, 64, 28, 28});
    for (int i = 0; i < 3; ++i) x = maker.op("Relu", {maker.conv(x, 64, 64, 3)});
    maker.output(x);
    return maker.model();
  }

  Properties properties(Properties more = {}) const {
    more["CACHE_DIR"] = folder_ / "store";
    more["INFERENCE_NUM_THREADS"] = "1";
    more.try_emplace("INFERENCE_PRECISION_HINT", "f32");
    return more;
  }
  /// A device that has read nothing yet.
  void forget() { device_ = *cpu::make_device(core_, ""); }

  fs::path store_file() const {
    for (const auto& file : fs::directory_iterator(folder_ / "store")) {
      if (file.path().filename().string().starts_with("choices-cpu-")) return file.path();
    }
    return {};
  }
  std::vector<std::string> stored_lines() const {
    std::vector<std::string> lines;
    std::ifstream stream(store_file());
    for (std::string line; std::getline(stream, line);) lines.push_back(line.substr(17));
    return lines;
  }
  /// Gives the stored choice of the key that begins so another name; the rest stays as it is.
  void change_choice(const std::string& key, const std::string& name) {
    std::string content;
    int changed = 0;
    for (std::string line : stored_lines()) {
      if (line.find("\"key\":\"" + key) != std::string::npos) {
        const size_t begin = line.find("\"choice\":\"") + 10;
        line.replace(begin, line.find('"', begin) - begin, name);
        ++changed;
      }
      content += fmt::format("{:016x} {}\n", checksum(line), line);
    }
    ASSERT_EQ(changed, 1) << key;
    std::ofstream(store_file(), std::ios::trunc) << content;
  }
  std::string runs_as(const Model& model, const std::string& node, Properties more = {}) {
    more = properties(more);
    more["PERF_COUNT"] = "YES";
    const auto compiled = compile(model, more);
    std::vector<ProfileRow> rows;
    infer(*compiled, random_inputs(model), &rows);
    return implementation(rows, node);
  }

  fs::path folder_;
};

TEST_F(CpuChoices, AreStoredWithTheTimesOfAllCandidates) {
  ModelMaker maker;
  compile(small_model(maker), properties());
  const std::vector<std::string> lines = stored_lines();
  ASSERT_EQ(lines.size(), 3u) << "a header, a convolution, a product";
  const std::string all = lines[1] + lines[2];
  for (const char* part :
       {"conv3x3 float32 n:1 ic:32 20x20 oc:48 20x20 pad:1,1 threads:1",
        "matmul float32 m:48 k:400 n:160 threads:1", "\"direct\":", "\"winograd_f2\":",
        "\"winograd_f4_late\":", "\"fetch_ahead\":", "\"onednn\":"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " in " << all;
  }
}

TEST_F(CpuChoices, AStoredChoiceIsTaken) {
  ModelMaker maker;
  Model& model = small_model(maker);
  compile(model, properties());
  for (const auto& [choice, wanted] : std::initializer_list<std::pair<std::string, std::string>>{
           {"winograd_f2", "winograd_f2_"}, {"winograd_f4", "winograd_f4_"}, {"direct", "jit"}}) {
    change_choice("conv3x3", choice);
    forget();
    EXPECT_TRUE(runs_as(model, "Conv0").starts_with(wanted))
        << choice << ": " << runs_as(model, "Conv0");
  }
  for (const auto& [choice, wanted] : std::initializer_list<std::pair<std::string, std::string>>{
           {"fetch_ahead", "own_gemm"}, {"onednn", "brgemm"}}) {
    change_choice("matmul", choice);
    forget();
    const std::string runs = runs_as(model, "MatMul3");
    EXPECT_EQ(runs.find("own_gemm") == 0, choice == "fetch_ahead") << choice << ": " << runs;
  }
}

TEST_F(CpuChoices, AStoredChoiceIsTakenInBFloat16) {
  if (!has_bfloat16()) GTEST_SKIP() << cpu_testing::kNoBfloat16;
  ModelMaker maker;
  Model& model = small_model(maker);
  const Properties narrow = {{"INFERENCE_PRECISION_HINT", "bf16"}};
  compile(model, properties(narrow));
  for (const auto& [choice, wanted] :
       std::initializer_list<std::pair<std::string, std::string>>{{"winograd_f2", "winograd_f2_"},
                                                                  {"winograd_f4", "winograd_f4_"},
                                                                  {"direct", "brgconv"}}) {
    change_choice("conv3x3 bfloat16 n:1 ic:32 20x20 oc:48", choice);
    forget();
    const std::string runs = runs_as(model, "Conv0", narrow);
    EXPECT_EQ(runs.starts_with("winograd"), choice != "direct") << choice << ": " << runs;
    EXPECT_TRUE(choice == "direct" || runs.starts_with(wanted)) << choice << ": " << runs;
  }
}

TEST_F(CpuChoices, DepthwiseConvolutionsRunOnEitherKernel) {
  if (cpu::depthwise_lanes() > 8 && !cpu::has_bfloat16()) {
    GTEST_SKIP() << "ONEDNN_MAX_CPU_ISA keeps oneDNN's blocks smaller than our vectors";
  }
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 8, 56, 56}), 8, 96);
  x = maker.op("Relu", {maker.conv(x, 96, 96, 3, 96)});
  maker.output(maker.conv(x, 96, 8));
  compile(maker.model(), properties());
  for (const auto& [choice, wanted] : std::initializer_list<std::pair<std::string, std::string>>{
           {"own", "own_dw_"}, {"onednn", "jit"}}) {
    change_choice("depthwise", choice);
    forget();
    EXPECT_TRUE(runs_as(maker.model(), "Conv1").starts_with(wanted))
        << choice << ": " << runs_as(maker.model(), "Conv1");
    forget();
    compare(maker.model(), 2e-5f, properties());
  }
}

TEST_F(CpuChoices, EveryCandidateIsRight) {
  ModelMaker maker;
  Model& model = small_model(maker);
  compile(model, properties());
  for (const char* choice :
       {"direct", "winograd_f2", "winograd_f2_late", "winograd_f4", "winograd_f4_late"}) {
    change_choice("conv3x3", choice);
    for (const char* product : {"fetch_ahead", "onednn"}) {
      change_choice("matmul", product);
      forget();
      compare(model, 2e-5f, properties());
    }
  }
}

TEST_F(CpuChoices, AChoiceThatDoesNotApplyIsMeasuredAgain) {
  ModelMaker maker;
  Model& model = small_model(maker);
  compile(model, properties());
  change_choice("conv3x3", "winograd_f9");
  forget();
  compare(model, 2e-5f, properties());
}

TEST_F(CpuChoices, TheSameStoreGivesTheSameResults) {
  ModelMaker maker;
  Model& model = small_model(maker);
  const std::vector<Tensor> inputs = random_inputs(model);
  const auto first = infer(*compile(model, properties()), inputs);
  for (int i = 0; i < 3; ++i) {
    if (i == 2) forget();
    const auto again = infer(*compile(model, properties()), inputs);
    EXPECT_EQ(*to_float_vector(again[0]), *to_float_vector(first[0]));
  }
}

TEST_F(CpuChoices, FixedRulesTouchNoFile) {
  ModelMaker maker;
  Model& model = large_model(maker);
  compile(model, properties({{"DETERMINISTIC", "YES"}}));
  EXPECT_FALSE(fs::exists(folder_ / "store"));
  // A stored choice does not count either.
  compile(model, properties());
  change_choice("conv3x3", "winograd_f2");
  forget();
  ASSERT_TRUE(runs_as(model, "Conv0").starts_with("winograd_f2_"));
  const std::string ruled = runs_as(model, "Conv0", {{"DETERMINISTIC", "YES"}});
  EXPECT_FALSE(ruled.starts_with("winograd_f2_")) << ruled;
  const std::string accurate = runs_as(model, "Conv0", {{"EXECUTION_MODE_HINT", "ACCURACY"}});
  EXPECT_TRUE(accurate.starts_with("jit")) << accurate;
}

TEST_F(CpuChoices, AFolderThatCannotBeIsNoError) {
  std::ofstream(folder_ / "store") << "a file";
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view text) { warnings.emplace_back(text); },
               LogLevel::Warning);
  ModelMaker maker;
  compare(small_model(maker), 2e-5f, properties());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("CACHE_DIR"), std::string::npos) << warnings[0];
}

TEST_F(CpuChoices, TheChosenTypeCanBeRead) {
  ModelMaker maker;
  Model& model = large_model(maker);
  const auto precision = [&](const Properties& more) {
    forget();
    return *compile(model, properties(more))->get_property("INFERENCE_PRECISION_HINT");
  };
  const Properties open{{"INFERENCE_PRECISION_HINT", "dynamic"}};
  const std::string measured = precision(open);
  if (!has_bfloat16_arithmetic()) {
    EXPECT_EQ(measured, "f32");
    GTEST_SKIP() << "this processor has no bfloat16 arithmetic to choose";
  }
  EXPECT_TRUE(measured == "f32" || measured == "bf16") << measured;
  for (const char* stored : {"bf16", "f32"}) {
    change_choice("model ", stored);
    EXPECT_EQ(precision(open), stored);
    EXPECT_EQ(precision({{"INFERENCE_PRECISION_HINT", "f32"}}), "f32");
    EXPECT_EQ(precision({{"INFERENCE_PRECISION_HINT", "bf16"}}), "bf16");
    EXPECT_EQ(precision({{"INFERENCE_PRECISION_HINT", "dynamic"}, {"DETERMINISTIC", "YES"}}),
              "f32");
    EXPECT_EQ(
        precision({{"INFERENCE_PRECISION_HINT", "dynamic"}, {"EXECUTION_MODE_HINT", "ACCURACY"}}),
        "f32");
  }
}

TEST_F(CpuChoices, ModelsOfOneStructureShareAKeyAndOthersDoNot) {
  ModelMaker a;
  ModelMaker b;
  ModelMaker other;
  ASSERT_TRUE(prepare_model(large_model(a)).ok());
  ASSERT_TRUE(prepare_model(large_model(b)).ok());
  const std::string key = model_choice_key(a.model());
  EXPECT_EQ(model_choice_key(b.model()), key);
  Value* x = other.input({1, 64, 28, 28});
  for (int i = 0; i < 3; ++i) x = other.op("Relu", {other.conv(x, 64, 64, i == 2 ? 1 : 3)});
  other.output(x);
  ASSERT_TRUE(prepare_model(other.model()).ok());
  EXPECT_NE(model_choice_key(other.model()), key);
  EXPECT_TRUE(may_choose_precision(a.model()));
  ModelMaker tiny;
  tiny.output(tiny.conv(tiny.input({1, 8, 4, 4}), 8, 8, 3));
  ASSERT_TRUE(prepare_model(tiny.model()).ok());
  EXPECT_FALSE(may_choose_precision(tiny.model())) << "too little work";
}

TEST_F(CpuChoices, WhatQuantisedModelsLeaveInFloatCounts) {
  ModelMaker mixed;
  Value* scale = mixed.constant(Tensor::from<float>({}, {0.05f}));
  Value* zero = mixed.constant(Tensor::from<uint8_t>({}, {0}));
  Value* x = mixed.conv(mixed.input({1, 64, 28, 28}), 64, 64, 3);
  mixed.output(
      mixed.op("DequantizeLinear", {mixed.op("QuantizeLinear", {x, scale, zero}), scale, zero}));
  ASSERT_TRUE(prepare_model(mixed.model()).ok());
  EXPECT_TRUE(may_choose_precision(mixed.model()));
}

}  // namespace
}  // namespace het::cpu
