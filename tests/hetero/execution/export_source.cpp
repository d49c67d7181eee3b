// Exported models that fail over when they are imported: by the file that their model was read
// from.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "inference/base/log.h"
#include "inference/model/source_path.h"
#include "inference/writers/onnx_writer.h"
#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// FAST computes as CPU does, but no Tanh; it fails when `broken_` says so.
class HeteroExportSource : public HeteroDeviceTest {
 protected:
  void SetUp() override {
    HeteroDeviceTest::SetUp();
    fast_->inner = "CPU";
    refuse_types(*fast_, {"Tanh"});
    fast_->outcome = [this](size_t) { return state(); };
    fast_->compiling = [this](const Model&) { return state(); };
    std::string name = (fs::temp_directory_path() / "hetero-source-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    set_log_sink(
        [this](LogLevel, std::string_view message) {
          const std::lock_guard lock(mutex_);
          log_ += std::string(message) + "\n";
        },
        LogLevel::Info);
  }
  void TearDown() override {
    set_log_sink({}, LogLevel::Warning);
    fs::remove_all(folder_);
  }
  Status state() const {
    return broken_ ? error(StatusCode::DeviceLost, "the link is down") : Status();
  }
  std::string logged() {
    const std::lock_guard lock(mutex_);
    return std::exchange(log_, {});
  }

  /// FAST reads behind CPU and beside it.
  static std::unique_ptr<Model> late(unsigned seed) {
    ModelMaker maker("late");
    Value* x = maker.op("Tanh", {maker.input({1, 3, 12, 12})});
    Value* weights = maker.constant(random_tensor({1, 3, 12, 12}, seed));
    maker.output(maker.op("Tanh", {maker.op("Relu", {maker.op("Mul", {x, weights})})}));
    return maker.model().clone();
  }
  std::string write(const Model& model, const std::string& name) {
    const std::string path = (folder_ / name).string();
    const Status status = write_onnx(model, path);
    EXPECT_TRUE(status.ok()) << status.message();
    return path;
  }
  std::unique_ptr<Model> read(const std::string& path) {
    auto model = core_.read_model(path);
    EXPECT_TRUE(model) << model.error().message();
    return std::move(*model);
  }
  std::string export_of(const Model& model, const std::string& devices = "HETERO:FAST,CPU",
                        Properties properties = {}) {
    properties.emplace("HETERO_RETRY_INTERVAL", "5");
    std::ostringstream stream;
    const Status status = compile(model, devices, properties)->export_model(stream);
    EXPECT_TRUE(status.ok()) << status.message();
    return stream.str();
  }
  Result<std::shared_ptr<CompiledModel>> import(const std::string& file,
                                                const Properties& properties = {},
                                                const std::string& device = "HETERO") {
    std::istringstream stream(file);
    return core_.import_model(stream, device, properties);
  }
  std::string fail_over_of(const std::string& file, const Properties& properties = {}) {
    const auto model = import(file, properties);
    return model ? property(**model, "HETERO_FAIL_OVER") : model.error().message();
  }

  fs::path folder_;
  std::atomic<bool> broken_ = false;
  std::mutex mutex_;  ///< protects log_
  std::string log_;
};

TEST_F(HeteroExportSource, AnImportedModelGoesOnWithoutALostDeviceAndTakesItBack) {
  const auto model = read(write(*late(5), "model.onnx"));
  const std::string file = export_of(*model);
  const auto imported = import(file);
  ASSERT_TRUE(imported) << imported.error().message();
  CompiledModel& back = **imported;
  EXPECT_EQ(property(back, "HETERO_FAIL_OVER"), "YES");
  EXPECT_EQ(property(back, "EXECUTION_DEVICES"), "CPU FAST");
  auto request = *back.create_infer_request();
  const std::vector<Tensor> inputs = inputs_of(back);
  const std::vector<Tensor> wanted = infer(*request, inputs);
  const auto expect_same = [&] {
    const std::vector<Tensor> got = infer(*request, inputs);
    EXPECT_EQ(std::memcmp(got[0].bytes(), wanted[0].bytes(), got[0].size_bytes()), 0);
  };
  broken_ = true;
  expect_same();  // behind what CPU has computed
  EXPECT_THAT(logged(), HasSubstr("runs without FAST"));
  expect_same();
  EXPECT_EQ(property(back, "EXECUTION_DEVICES"), "CPU");
  broken_ = false;
  for (int i = 0; i < 2000 && property(back, "EXECUTION_DEVICES") == "CPU"; ++i) {
    expect_same();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(property(back, "EXECUTION_DEVICES"), "CPU FAST");
  EXPECT_EQ(property(back, "HETERO_NUMBER_OF_SUBMODELS"), "3");
  expect_same();
}

TEST_F(HeteroExportSource, ADeviceOfTheListWithoutSubgraphsTakesOver) {
  const auto model = read(write(*diamond(), "model.onnx"));
  refuse_types(*fast_, {});
  const auto imported = import(export_of(*model));
  ASSERT_TRUE(imported) << imported.error().message();
  EXPECT_EQ(property(**imported, "EXECUTION_DEVICES"), "FAST");
  auto request = *(*imported)->create_infer_request();
  broken_ = true;
  const Status status = request->infer();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(property(**imported, "EXECUTION_DEVICES"), "CPU");
}

TEST_F(HeteroExportSource, ShapesAndPicturesAreThoseOfTheExport) {
  ModelMaker maker("open");
  Value* x = maker.input({1, 3, kUnknownDim, kUnknownDim});
  maker.output(maker.op("Add", {maker.op("Tanh", {x}), maker.op("Relu", {x})}));
  const auto model = read(write(maker.model(), "model.onnx"));
  ASSERT_TRUE(model->reshape({{"x0", {1, 3, 8, 8}}}).ok());
  PreprocessDesc desc;
  desc.mean = {1.0f, 2.0f, 3.0f};
  model->set_preprocess(0, desc);
  const auto imported = import(export_of(*model));
  ASSERT_TRUE(imported) << imported.error().message();
  EXPECT_EQ(property(**imported, "HETERO_FAIL_OVER"), "YES");
  broken_ = true;
  const Image image = *make_host_image(PixelFormat::RGB, 16, 10);
  std::fill_n(image.planes[0].buffer->host(), image.planes[0].buffer->size_bytes(), std::byte{90});
  auto request = *(*imported)->create_infer_request();
  ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
  const Status status = request->infer();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_NEAR(request->output(0).data<float>()[0], 90.0f, 1e-3f);
}

TEST_F(HeteroExportSource, WhatIsNotThereOrNotTheSameGivesNone) {
  const std::string path = write(*late(5), "model.onnx");
  const auto model = read(path);
  const std::string file = export_of(*model);
  // Other weights.
  write(*late(6), "model.onnx");
  EXPECT_EQ(fail_over_of(file), "NO");
  EXPECT_THAT(logged(), AllOf(HasSubstr("imported without fail-over"), HasSubstr(path),
                              HasSubstr("the file has changed")));
  for (const char* text : {"", "no model"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(fail_over_of(file), "NO");
  }
  logged();
  fs::remove(path);
  EXPECT_EQ(fail_over_of(file), "NO");
  EXPECT_THAT(logged(), HasSubstr("there is no file '" + path + "'"));
  const auto imported = import(file);
  ASSERT_TRUE(imported);
  broken_ = true;
  EXPECT_EQ((*(*imported)->create_infer_request())->infer().code(), StatusCode::DeviceLost);
}

TEST_F(HeteroExportSource, AChangedModelGivesNone) {
  const auto model = read(write(*late(5), "model.onnx"));
  model->add_output("more", model->nodes()[0]->output());
  EXPECT_EQ(fail_over_of(export_of(*model)), "NO");
  EXPECT_THAT(logged(), HasSubstr("changed between reading and compiling"));
  EXPECT_EQ(fail_over_of(export_of(*late(5))), "NO");
  EXPECT_THAT(logged(), HasSubstr("does not say which file the model was read from"));
}

TEST_F(HeteroExportSource, WeightsPathNamesTheFile) {
  const std::string path = write(*late(5), "model.onnx");
  const std::string file = export_of(*read(path));
  const std::string moved = (folder_ / "moved.onnx").string();
  fs::rename(path, moved);
  EXPECT_EQ(fail_over_of(file, {{"WEIGHTS_PATH", moved}}), "YES");
  EXPECT_EQ(fail_over_of(export_of(*late(5)), {{"WEIGHTS_PATH", moved}}), "YES");
  EXPECT_EQ(fail_over_of(export_of(*late(5), "HETERO:FAST,CPU", {{"WEIGHTS_PATH", moved}})), "YES");
  const std::string other = write(*late(6), "other.onnx");
  EXPECT_THAT(fail_over_of(file, {{"WEIGHTS_PATH", other}}),
              AllOf(HasSubstr("WEIGHTS_PATH"), HasSubstr(other), HasSubstr("has changed")));
  EXPECT_THAT(fail_over_of(file, {{"WEIGHTS_PATH", path}}), HasSubstr("there is no file"));
  EXPECT_EQ(file.find(moved), std::string::npos);
}

TEST_F(HeteroExportSource, FailOverMayBeSwitchedOff) {
  const auto model = read(write(*late(5), "model.onnx"));
  EXPECT_EQ(fail_over_of(export_of(*model), {{"HETERO_FAIL_OVER", "NO"}}), "NO");
  const std::string without = export_of(*model, "HETERO:FAST,CPU", {{"HETERO_FAIL_OVER", "NO"}});
  EXPECT_EQ(without.find(folder_.string()), std::string::npos);
  logged();
  EXPECT_EQ(fail_over_of(without), "NO");
  EXPECT_THAT(logged(), testing::Not(HasSubstr("fail-over"))) << "nobody has asked for it";
  EXPECT_EQ(fail_over_of(without, {{"HETERO_FAIL_OVER", "YES"}}), "NO");
  EXPECT_THAT(logged(), HasSubstr("it had none when it was exported"));
  EXPECT_THAT(fail_over_of(without, {{"WEIGHTS_PATH", (folder_ / "model.onnx").string()}}),
              HasSubstr("it had none when it was exported"));
}

TEST_F(HeteroExportSource, TheNoteOfThePathStaysInTheProcess) {
  const std::string path = write(*late(5), "model.onnx");
  const auto model = read(path);
  EXPECT_EQ(source_path(*model), path);
  EXPECT_EQ(source_path(*model->clone()), path);
  const auto bytes = write_onnx_bytes(*model);
  ASSERT_TRUE(bytes) << bytes.error().message();
  EXPECT_EQ(bytes->find(folder_.string()), std::string::npos);
}

}  // namespace
}  // namespace het::hetero
