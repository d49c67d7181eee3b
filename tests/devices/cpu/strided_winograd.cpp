// 3x3 convolutions with stride 2 in models. The kernel itself is tested in winograd.cpp.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/products/winograd.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using namespace cpu_testing;

class CpuStridedWinograd : public CpuTest {
 protected:
  static Value* strided(ModelMaker& maker, Value* x, int64_t ic, int64_t oc,
                        const Ints& pads = Ints(4, 1), const Ints& strides = {2, 2}) {
    Value* weights = maker.random({oc, ic, 3, 3}, 0.05f);
    return maker.op("Conv", {x, weights, maker.random({oc})},
                    make_attributes({{"pads", pads}, {"strides", strides}}));
  }
  static Value* swish(ModelMaker& maker, Value* x) {
    return maker.op("Mul", {x, maker.op("Sigmoid", {x})});
  }
  static size_t taken(const std::vector<ProfileRow>& rows) {
    return static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [](const ProfileRow& row) {
      return row.status == ProfileStatus::Executed && row.layer_type == "Conv" &&
             row.exec_type.find("_stride2_") != std::string::npos;
    }));
  }
  /// Three such convolutions with tails; channels fill blocks only in part.
  static Model& model(ModelMaker& maker, int64_t batch) {
    Value* x = maker.input({batch, 32, 57, 58});
    Value* y = maker.op("Relu", {strided(maker, x, 32, 72, {1, 0, 0, 1})});
    Value* a = swish(maker, strided(maker, y, 72, 72));
    Value* b = strided(maker, y, 72, 72);
    maker.output(maker.op("Relu", {maker.op("Add", {b, a})}));
    return maker.model();
  }
};

TEST_F(CpuStridedWinograd, IsTakenWithTails) {
  for (const char* threads : {"1", "2", "3"}) {
    for (const int64_t batch : {1, 2}) {
      ModelMaker maker;
      const auto rows = compare(model(maker, batch), 2e-5f,
                                {{"INFERENCE_NUM_THREADS", threads}, {"NUM_STREAMS", "1"}});
      EXPECT_EQ(taken(rows), 3u) << threads << " threads, batch " << batch;
    }
  }
}

TEST_F(CpuStridedWinograd, EveryPaddingInAModel) {
  for (const int64_t begin : {0, 1, 2}) {
    for (const int64_t end : {0, 1, 2}) {
      for (const int64_t size : {47, 48}) {
        ModelMaker maker;
        Value* x = maker.input({1, 64, size, 95 - size});
        maker.output(strided(maker, x, 64, 64, {begin, end, end, begin}));
        EXPECT_EQ(taken(compare(maker.model())), 1u) << begin << " " << end << " " << size;
      }
    }
  }
}

TEST_F(CpuStridedWinograd, OtherPlansStayDirect) {
  ModelMaker maker;
  Model& strides = model(maker, 1);
  EXPECT_EQ(taken(compare(strides, 2e-6f, {{"EXECUTION_MODE_HINT", "ACCURACY"}})), 0u);
  if (cpu::has_bfloat16()) {
    EXPECT_EQ(taken(compare(strides, 3e-2f, {{"INFERENCE_PRECISION_HINT", "bf16"}})), 0u);
  }
  for (const Ints& other : {Ints{2, 1}, Ints{1, 2}, Ints{3, 3}}) {
    ModelMaker other_maker;
    Value* x = other_maker.input({1, 64, 60, 60});
    other_maker.output(strided(other_maker, x, 64, 64, Ints(4, 1), other));
    const auto rows = compare(other_maker.model());
    EXPECT_EQ(implementation(rows, "Conv0").rfind("jit", 0), 0u) << implementation(rows, "Conv0");
  }
}

TEST_F(CpuStridedWinograd, ComesBackFromAnExportedModel) {
  ModelMaker maker;
  Model& made = model(maker, 1);
  const auto compiled = compile(made, {});
  ASSERT_NE(compiled, nullptr);
  std::stringstream stream;
  ASSERT_TRUE(compiled->export_model(stream).ok());
  const auto back = device_->import_model(stream, {{"PERF_COUNT", "YES"}});
  ASSERT_TRUE(back) << back.error().message();
  const std::vector<Tensor> inputs = random_inputs(made);
  const std::vector<Tensor> wanted = infer(*compiled, inputs);
  std::vector<ProfileRow> rows;
  const std::vector<Tensor> got = infer(**back, inputs, &rows);
  EXPECT_EQ(taken(rows), 3u);
  ASSERT_EQ(got[0].size_bytes(), wanted[0].size_bytes());
  EXPECT_EQ(std::memcmp(got[0].bytes(), wanted[0].bytes(), wanted[0].size_bytes()), 0);
}

TEST_F(CpuStridedWinograd, IsMeasuredBesideTheDirectAlgorithm) {
  namespace fs = std::filesystem;
  std::string folder = fs::temp_directory_path() / "strided_winograd_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  ModelMaker maker;
  compile(model(maker, 1), {{"CACHE_DIR", folder}, {"INFERENCE_PRECISION_HINT", "f32"}});
  std::string stored;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (!file.path().filename().string().starts_with("choices-cpu-")) continue;
    std::ifstream stream(file.path());
    stored.append(std::istreambuf_iterator<char>(stream), {});
  }
  fs::remove_all(folder);
  EXPECT_NE(stored.find("conv3x3 float32 n:1 ic:32 57x58 oc:72 28x29 pad:1,0 s:2"),
            std::string::npos)
      << stored;
  for (const char* name : {"\"direct\"", "\"winograd_f4\"", "\"winograd_f2_late\""}) {
    EXPECT_NE(stored.find(name), std::string::npos) << name << " in " << stored;
  }
}

/// A convolution of a stride with padding of 1, as the rule sees it.
std::optional<cpu::WinogradShape> choice(int64_t channels, int64_t size) {
  cpu::WinogradShape shape;
  shape.stride = 2;
  shape.ic = channels;
  shape.oc = channels;
  shape.ih = 2 * size;
  shape.iw = 2 * size;
  shape.oh = size;
  shape.ow = size;
  shape.pad_top = 1;
  shape.pad_left = 1;
  return cpu::choose_winograd(shape);
}

TEST(StridedWinogradChoice, FollowsTheSizeOfTheLayer) {
  // Two tiles of 4 x 4 for 7 results, in padding in part: no gain. With 64 channels there is one
  // where all weights stay in the cache of a core.
  EXPECT_FALSE(choice(128, 7));
  EXPECT_FALSE(choice(64, 1));
  ASSERT_TRUE(choice(128, 10));
  EXPECT_EQ(choice(128, 10)->m, 2);
  ASSERT_TRUE(choice(64, 28));
  EXPECT_EQ(choice(64, 28)->m, 4);
  EXPECT_EQ(choice(64, 28)->stride, 2);
}

}  // namespace
}  // namespace het
