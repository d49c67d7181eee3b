#include <sstream>

#include "devices/gpu/exported_model.h"
#include "tests/devices/gpu/gpu_child_models.h"
#include "tests/devices/gpu/gpu_testing.h"

/// export_model() and import_model() of the GPU device.
namespace het::gpu_testing {
namespace {

class GpuExport : public GpuTest {
 protected:
  std::string exported(const Model& model, const Properties& properties = {}) {
    const auto compiled = compile(model, properties);
    std::ostringstream stream;
    const Status status = compiled->export_model(stream);
    EXPECT_TRUE(status.ok()) << status.message();
    return stream.str();
  }
  Result<std::shared_ptr<CompiledModel>> imported(const std::string& file,
                                                  const Properties& properties = {}) {
    std::istringstream stream(file);
    return device_->import_model(stream, properties);
  }
};

TEST_F(GpuExport, AnImportedModelDoesTheSame) {
  ModelMaker maker("with_weights");
  Value* x = maker.input({1, 8, 33, 5});
  Value* y = maker.op("Mul", {x, maker.random({8, 33, 5})});
  maker.output(maker.op("Sigmoid", {maker.op("Add", {y, maker.random({8, 1, 1})})}));
  const std::string file = exported(maker.model(), {{"NUM_STREAMS", "3"}});
  const auto model = imported(file);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ((*model)->name(), "with_weights");
  EXPECT_EQ(*(*model)->get_property("NUM_STREAMS"), "3");
  const std::vector<Tensor> inputs = random_inputs(maker.model());
  compare_tensors(infer(**model, inputs)[0], infer(*compile(maker.model()), inputs)[0], 0.0f, 0);
  // What is given at import wins, and an imported model can be exported.
  const auto other = imported(file, {{"NUM_STREAMS", "1"}});
  ASSERT_TRUE(other);
  EXPECT_EQ(*(*other)->get_property("NUM_STREAMS"), "1");
  std::ostringstream again;
  EXPECT_TRUE((*model)->export_model(again).ok());
  EXPECT_TRUE(imported(again.str()));
}

TEST_F(GpuExport, TheFileDoesNotDecideWhereThisProcessReadsAndWrites) {
  const std::string folder = testing::TempDir() + "gpu-export";
  const std::string file = exported(*chains(1), {{"CACHE_DIR", folder}});
  std::istringstream stream(file);
  const auto content = gpu::read_exported_model(stream);
  ASSERT_TRUE(content) << content.error().message();
  EXPECT_EQ(content->properties.count("CACHE_DIR"), 0u);
  std::ostringstream forged;
  ASSERT_TRUE(gpu::write_exported_model(forged, *chains(1), {{"NUM_STREAMS", "2000"}}).ok());
  EXPECT_EQ(imported(forged.str()).error().code(), StatusCode::InvalidArgument);
}

TEST_F(GpuExport, DamagedFilesAndThoseOfOthersAreRefused) {
  const std::string file = exported(*chains(2));
  for (size_t bytes = 0; bytes < file.size(); bytes += 1 + file.size() / 64) {
    EXPECT_FALSE(imported(file.substr(0, bytes))) << bytes;
    std::string changed = file;
    changed[bytes] = static_cast<char>(changed[bytes] ^ 0x40);
    std::istringstream stream(changed);
    (void)gpu::read_exported_model(stream);
  }
  const size_t place = file.find("GPU");
  ASSERT_NE(place, std::string::npos);
  const auto other = imported(std::string(file).replace(place, 3, "CPU"));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().code(), StatusCode::Internal);
}

}  // namespace
}  // namespace het::gpu_testing
