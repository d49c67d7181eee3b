#include <filesystem>
#include <fstream>
#include <vector>

#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/fuse.h"
#include "devices/cpu/plan/plan_builder.h"
#include "inference/passes/prepare_model.h"
#include "inference/readers/onnx_reader.h"
#include "inference/writers/onnx_writer.h"
#include "tests/devices/cpu/cpu_testing.h"

/// What a compiled model keeps of the model's weights.
namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::random_tensor;

/// Random values in memory that counts the tensors that are gone.
Tensor counted(const Shape& shape, int& gone) {
  const Tensor content = random_tensor(shape, 5);
  return *Tensor::wrap(content.desc(), content.bytes(), content.size_bytes(),
                       [content, &gone] { ++gone; });
}

TEST_F(CpuTest, PlanningEmptiesConstantsThatItPacked) {
  int gone = 0;
  ModelMaker maker;
  Value* x = maker.input({1, 20, 6, 6});
  Value* weights = maker.constant(counted({24, 20, 3, 3}, gone));
  Value* a = maker.op("Conv", {x, weights}, make_attributes({{"pads", Ints(4, 1)}}));
  // Two readers; the value is converted to the convolution's blocked format.
  Value* embedding = maker.constant(counted({1, 24, 6, 6}, gone));
  Value* b = maker.op("Max", {a, embedding});
  maker.output(maker.op("Softmax", {b}, make_attributes({{"axis", int64_t{3}}})));
  maker.output(maker.op("Min", {a, embedding}));
  Value* rows = maker.op("Reshape", {b, maker.ints({36, 24})});
  maker.output(maker.op("MatMul", {rows, maker.constant(counted({24, 7}, gone))}));

  Model& model = maker.model();
  ASSERT_TRUE(prepare_model(model).ok());
  ASSERT_TRUE(cpu::fuse(model, false).ok());
  EXPECT_EQ(gone, 0);
  cpu::PlanOptions options;
  options.blocked = cpu::preferred_blocked_format();
  const auto plan = cpu::PlanBuilder(model, options).build();
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(gone, 3) << "the model and the plan are still there";
}

TEST_F(CpuTest, AConstantThatIsAnOutputStays) {
  ModelMaker maker;
  Value* x = maker.input({1, 4});
  Value* c = maker.random({1, 4});
  maker.output(maker.op("Max", {x, c}));
  maker.output(c);
  const Tensor wanted = *c->constant().clone();
  const auto compiled = compile(maker.model());
  const std::vector<Tensor> outputs = infer(*compiled, {random_tensor({1, 4}, 1)});
  EXPECT_EQ(*to_float_vector(outputs[1]), *to_float_vector(wanted));
}

/// Pages in use of the mapping of a file, from /proc/self/smaps.
int64_t resident_kib(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  int64_t sum = 0;
  bool wanted = false;
  for (std::string line; std::getline(maps, line);) {
    const bool heading = line.find(':') > line.find(' ');
    if (heading) wanted = line.find(path) != std::string::npos;
    if (wanted && line.rfind("Rss:", 0) == 0) sum += std::stoll(line.substr(4));
  }
  return sum;
}

TEST_F(CpuTest, PagesOfTheFileGoBackOnceAModelIsCompiled) {
  // Every weight is smaller than what is worth giving back by itself.
  ModelMaker maker;
  Value* x = maker.input({1, 32, 8, 8});
  Value* y = x;
  for (int i = 0; i < 24; ++i) y = maker.op("Relu", {maker.conv(y, 32, 32, 3)});
  maker.output(y);
  const std::string path =
      std::filesystem::temp_directory_path() / ("het_cpu_memory_" + std::to_string(getpid()));
  ASSERT_TRUE(write_onnx(maker.model(), path).ok());
  const auto model = read_onnx(path);
  ASSERT_TRUE(model) << model.error().message();
  const auto compiled = compile(**model);
  const int64_t kept = resident_kib(path);
  const std::vector<Tensor> inputs = random_inputs(maker.model());
  const std::vector<Tensor> got = infer(*compiled, inputs);
  const std::vector<Tensor> again = infer(*compile(**model), inputs);
  std::filesystem::remove(path);
  EXPECT_EQ(kept, 0);
  EXPECT_EQ(*to_float_vector(got[0]), *to_float_vector(again[0]));
}

}  // namespace
}  // namespace het
