// Exported models: what comes back computes the same, and no content of a file does harm.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cpu_testing.h"
#include "devices/cpu/cpu_compiled_model.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/register_devices.h"
#include "inference/model/exported_file.h"

namespace het::cpu {
namespace {

namespace fs = std::filesystem;
using namespace cpu_testing;
using Json = nlohmann::json;

class CpuExport : public CpuTest {
 protected:
  std::string exported(const CompiledModel& compiled) {
    std::ostringstream stream;
    const Status status = compiled.export_model(stream);
    EXPECT_TRUE(status.ok()) << status.message();
    return stream.str();
  }
  Result<std::shared_ptr<CompiledModel>> imported(const std::string& file,
                                                  const Properties& properties = {}) {
    std::istringstream stream(file);
    return device_->import_model(stream, properties);
  }
  /// Exports, imports and compares what both compute, bit by bit. Returns the file.
  std::string round_trip(const Model& model, const Properties& properties = {}) {
    const auto compiled = compile(model, properties);
    if (!compiled) return {};
    std::string file = exported(*compiled);
    const auto back = imported(file);
    EXPECT_TRUE(back) << back.error().message();
    if (!back) return {};
    EXPECT_EQ((*back)->name(), compiled->name());
    EXPECT_EQ(*(*back)->get_property("INFERENCE_PRECISION_HINT"),
              *compiled->get_property("INFERENCE_PRECISION_HINT"));
    std::vector<Tensor> inputs = random_inputs(model);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorDesc& desc = model.inputs()[i].value->desc();
      if (inputs[i].type() == desc.type) continue;
      inputs[i] = *Tensor::allocate(desc);  // zeros of the other types
      std::memset(inputs[i].bytes(), 0, inputs[i].size_bytes());
    }
    const std::vector<Tensor> wanted = infer(*compiled, inputs);
    const std::vector<Tensor> got = infer(**back, inputs);
    EXPECT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
      EXPECT_EQ(to_string(got[i].desc()), to_string(wanted[i].desc()));
      EXPECT_EQ(std::memcmp(got[i].bytes(), wanted[i].bytes(), wanted[i].size_bytes()), 0)
          << "output " << i << " of " << model.name();
    }
    return file;
  }

  /// Convolutions of all kinds with what is fused into them, products, a table that stays as it is.
  static Model& small_model(ModelMaker& maker) {
    Value* x = maker.input({1, 3, 24, 24});
    Value* y = maker.op("Relu", {maker.conv(x, 3, 32, 3)});
    Value* scaled = maker.op("Mul", {maker.conv(y, 32, 48, 3), maker.random({1, 48, 1, 1})});
    y = maker.op("Sigmoid", {scaled});
    y = maker.op("Add", {maker.conv(y, 48, 48, 3, 48), y});
    y = maker.op("Add", {maker.conv(y, 48, 48), maker.random({1, 48, 24, 24})});
    Value* rows = maker.op("Reshape", {y, maker.ints({48, 576})});
    rows = maker.op("MatMul", {rows, maker.random({576, 96}, 0.05f)});
    maker.output(maker.op("Add", {rows, maker.random({96})}));
    maker.output(y);
    maker.model().set_name("small");
    return maker.model();
  }

  std::shared_ptr<Core> shared_core_ = het::core();
};

TEST_F(CpuExport, ComputesTheSameWithoutPlainWeights) {
  ModelMaker maker;
  Model& model = small_model(maker);
  // Direct convolutions: the other ones pack more than there is.
  const std::string file = round_trip(model, {{"EXECUTION_MODE_HINT", "ACCURACY"}});
  // 576 x 96 and 48 x 32 x 9 floats would stand in it twice, else.
  size_t weights = 0;
  for (const auto& value : model.values()) {
    if (value->is_constant()) weights += value->constant().size_bytes();
  }
  EXPECT_LT(file.size(), weights + 120000) << "names, the graph and padding take some";
}

TEST_F(CpuExport, TypesAndModes) {
  ModelMaker maker;
  Model& model = small_model(maker);
  round_trip(model, {{"EXECUTION_MODE_HINT", "ACCURACY"}});
  round_trip(model, {{"INFERENCE_NUM_THREADS", "1"}});
  round_trip(model, {{"NUM_STREAMS", "2"}, {"INFERENCE_NUM_THREADS", "2"}});
  round_trip(model, {{"SPARE_CORES", "1"}});
  if (has_bfloat16()) round_trip(model, {{"INFERENCE_PRECISION_HINT", "bf16"}});
}

TEST_F(CpuExport, ChoicesComeAlong) {
  std::string folder = fs::temp_directory_path() / "cpu_export_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  ModelMaker maker;
  Model& model = small_model(maker);
  const std::string file =
      round_trip(model, {{"CACHE_DIR", folder}, {"INFERENCE_PRECISION_HINT", "f32"}});
  fs::remove_all(folder);
  EXPECT_NE(file.find("conv3x3 float32"), std::string::npos);
  EXPECT_EQ(file.find(folder), std::string::npos) << "the importing process has its own folder";
}

TEST_F(CpuExport, DepthwiseConvolutionsOfEitherKernel) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 8, 30, 30}), 8, 128);
  x = maker.op("Relu", {maker.conv(x, 128, 128, 3, 128)});  // enough weights to stand elsewhere
  maker.output(maker.conv(x, 128, 8));
  round_trip(maker.model());
}

TEST_F(CpuExport, PointwiseConvolutionsOfEitherKernel) {
  ModelMaker maker;
  Value* x = maker.op("Relu", {maker.conv(maker.input({1, 24, 20, 20}), 24, 96)});
  maker.output(maker.conv(x, 96, 64));
  round_trip(maker.model());
}

TEST_F(CpuExport, GroupsThatAreJoined) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 8, 20, 20}), 8, 32);
  maker.output(maker.conv(maker.conv(x, 32, 32, 3, 16), 32, 32));  // groups of two channels
  round_trip(maker.model());
  if (has_bfloat16()) round_trip(maker.model(), {{"INFERENCE_PRECISION_HINT", "bf16"}});
}

TEST_F(CpuExport, TransposedConvolutionsThatAreSplit) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 8, 10, 10}), 8, 32);
  Value* y = maker.op("ConvTranspose", {x, maker.random({32, 48, 2, 2}, 0.2f), maker.random({48})},
                      cpu_testing::make_attributes({{"strides", cpu_testing::Ints{2, 2}}}));
  maker.output(maker.conv(maker.op("Relu", {y}), 48, 32));
  round_trip(maker.model());
  if (has_bfloat16()) round_trip(maker.model(), {{"INFERENCE_PRECISION_HINT", "bf16"}});
}

TEST_F(CpuExport, QuantisedModels) {
  ModelMaker maker;
  Value* x = maker.input({1, 16, 12, 12});
  const auto levels = [&](Value* value) {
    Value* scale = maker.constant(Tensor::scalar(0.05f));
    Value* zero = maker.constant(Tensor::scalar(uint8_t{128}));
    Value* bytes = maker.op("QuantizeLinear", {value, scale, zero});
    return maker.op("DequantizeLinear", {bytes, scale, zero});
  };
  Value* weights =
      maker.op("DequantizeLinear",
               {maker.constant(random_bytes<int8_t>({32, 16, 3, 3}, 5)),
                maker.constant(Tensor::scalar(0.01f)), maker.constant(Tensor::scalar(int8_t{0}))});
  Value* y = maker.op("Conv", {levels(x), weights}, make_attributes({{"pads", Ints(4, 1)}}));
  maker.output(levels(maker.op("Relu", {y})));
  round_trip(maker.model());
  round_trip(maker.model(), {{"EXECUTION_MODE_HINT", "ACCURACY"}});
}

/// Two sets of packed weights a node: those of the products, and ones that sum windows.
TEST_F(CpuExport, ProductsOfBytesWithZeroPoints) {
  ModelMaker maker;
  const std::vector<Value*> bytes =
      maker.split("DynamicQuantizeLinear", {maker.input({1, 8, 9, 7})}, 3);
  Value* w = maker.constant(random_bytes<uint8_t>({20, 8, 3, 3}, 5));
  Value* zero = maker.constant(Tensor::scalar(uint8_t{3}));
  maker.output(maker.op("ConvInteger", {bytes[0], w, bytes[2], zero}));
  Value* columns = maker.constant(random_bytes<uint8_t>({7, 30}, 6));
  maker.output(maker.op("MatMulInteger", {bytes[0], columns, bytes[2], zero}));
  round_trip(maker.model());
}

TEST_F(CpuExport, PropertiesMayBeReplacedWhereWeightsStillFit) {
  ModelMaker maker;
  const auto compiled = compile(small_model(maker), {{"INFERENCE_NUM_THREADS", "1"}});
  const std::string file = exported(*compiled);
  const auto counted = imported(file, {{"PERF_COUNT", "YES"}});
  ASSERT_TRUE(counted) << counted.error().message();
  EXPECT_EQ(*(*counted)->get_property("PERF_COUNT"), "YES");
  EXPECT_EQ(*(*counted)->get_property("INFERENCE_NUM_THREADS"), "1") << "as it was compiled";
  const auto streams = imported(file, {{"NUM_STREAMS", "2"}, {"INFERENCE_NUM_THREADS", "2"}});
  EXPECT_TRUE(streams) << streams.error().message();

  const auto threads = imported(file, {{"INFERENCE_NUM_THREADS", "2"}});
  ASSERT_FALSE(threads);
  EXPECT_NE(threads.error().message().find("threads of a stream: 1"), std::string::npos)
      << threads.error().message();
  const auto precision = imported(file, {{"INFERENCE_PRECISION_HINT", "bf16"}});
  ASSERT_FALSE(precision);
  EXPECT_NE(precision.error().message().find("f32"), std::string::npos);
}

TEST_F(CpuExport, AnImportedModelIsNotExportedAgain) {
  ModelMaker maker;
  const std::string file = exported(*compile(small_model(maker)));
  std::ostringstream stream;
  const Status status = (*imported(file))->export_model(stream);
  EXPECT_EQ(status.code(), StatusCode::NotSupported);
  EXPECT_NE(status.message().find("copy the file"), std::string::npos) << status.message();
}

TEST_F(CpuExport, TheCoreNamesWhatItCannotDo) {
  ModelMaker maker;
  const std::string file = exported(*compile(small_model(maker)));
  std::istringstream stream(file);
  const auto shaped = shared_core_->import_model(stream, "CPU", {{"INPUT_SHAPES", "[1,3,8,8]"}});
  ASSERT_FALSE(shaped);
  EXPECT_NE(shaped.error().message().find("INPUT_SHAPES"), std::string::npos);
  const auto whole = shared_core_->import_model(stream, "CPU");
  EXPECT_TRUE(whole) << whole.error().message();
  std::istringstream other(file);
  EXPECT_FALSE(shared_core_->import_model(other, "REF"));
  std::istringstream empty("");
  const auto nothing = shared_core_->import_model(empty, "CPU");
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message().find("cannot import a model for CPU"), std::string::npos);

  Model open("open");
  Value* x = open.add_input("x", {ElementType::Float32, {1, kUnknownDim}});
  open.add_output("y", open.add_node("relu", "Relu", "", {x}, {"y"})->output());
  const auto dynamic = shared_core_->compile_model(open, "CPU");
  ASSERT_TRUE(dynamic) << dynamic.error().message();
  std::ostringstream out;
  EXPECT_EQ((*dynamic)->export_model(out).code(), StatusCode::NotSupported);
}

TEST_F(CpuExport, EveryTruncationAndFlippedBitIsAnError) {
  ModelMaker maker;
  maker.output(maker.conv(maker.input({1, 8, 6, 6}), 8, 16, 3));
  const std::string file = exported(*compile(maker.model()));
  ASSERT_TRUE(imported(file));
  for (size_t length = 0; length < file.size(); length += length < 4000 ? 13 : 211) {
    EXPECT_FALSE(imported(file.substr(0, length))) << length << " of " << file.size();
  }
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    std::string changed = file;
    const size_t at =
        round < 200 ? random() % std::min<size_t>(file.size(), 3000) : random() % file.size();
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    // Padding between sections has no checksum and no meaning.
    const auto result = imported(changed);
    EXPECT_TRUE(!result || file[at] == 0) << "byte " << at;
  }
}

/// The manifest of a file, and the file with another one. Checksums are right again.
Json manifest_of(const std::string& file) {
  std::istringstream stream(file);
  const ExportedFile whole = *ExportedFile::read(stream, "CPU");
  const auto content = whole.section("manifest");
  const auto* text = reinterpret_cast<const char*>(content->data());
  return Json::parse(text, text + content->size());
}
std::string with_manifest(const std::string& file, const std::string& manifest) {
  std::istringstream stream(file);
  const ExportedFile whole = *ExportedFile::read(stream, "CPU");
  std::vector<ExportedSection> sections = whole.sections();
  for (ExportedSection& section : sections) {
    if (section.name != "manifest") continue;
    section.content = std::as_bytes(std::span(manifest.data(), manifest.size()));
  }
  std::ostringstream out;
  EXPECT_TRUE(ExportedFile::write(out, "CPU", sections).ok());
  return out.str();
}

TEST_F(CpuExport, AnotherMachineIsAClearError) {
  ModelMaker maker;
  const std::string file = exported(*compile(small_model(maker)));
  Json manifest = manifest_of(file);
  manifest["machine"] = "a processor of tomorrow";
  const auto result = imported(with_manifest(file, manifest.dump()));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), StatusCode::NotSupported);
  for (const char* part : {"another machine", "a processor of tomorrow", "oneDNN", "export"}) {
    EXPECT_NE(result.error().message().find(part), std::string::npos) << result.error().message();
  }
}

TEST_F(CpuExport, AManifestThatDoesNotFitIsAnError) {
  ModelMaker maker;
  const std::string file = exported(*compile(small_model(maker)));
  const Json manifest = manifest_of(file);
  ASSERT_TRUE(imported(with_manifest(file, manifest.dump())));
  ASSERT_FALSE(manifest["weights"].empty());
  const auto fails = [&](const char* what, const std::function<void(Json&)>& change) {
    Json changed = manifest;
    change(changed);
    EXPECT_FALSE(imported(with_manifest(file, changed.dump()))) << what;
  };
  fails("list", [](Json& m) { m = Json::array(); });
  for (const auto& [name, value] : manifest.items()) {
    fails(name.c_str(), [&name = name](Json& m) { m.erase(name); });
    fails(name.c_str(), [&name = name](Json& m) { m[name] = 7; });
  }
  const std::string weight = manifest["weights"].begin().key();
  for (const char* shape :
       {"float32[7,32,3,3]", "float32[1073741824,1073741824,9,9]", "float32[16777216,32,3,3]",
        "float32[-1,32,3,3]", "float32[x]", "float32[1,,2]", "float32", "", "[]", "int8[48,32,3,3]",
        "floaty[48,32,3,3]", "float32[99999999999999999999]"}) {
    fails(shape, [&](Json& m) { m["weights"][weight] = shape; });
  }
  fails("unknown weight", [](Json& m) { m["weights"]["nobody"] = "float32[1]"; });
  fails("missing weight", [&](Json& m) { m["weights"].erase(weight); });
  ASSERT_FALSE(manifest["constants"].empty());
  const std::string table = manifest["constants"].begin().key();
  for (const char* shape : {"float32[1,48,24,25]", "float32[1,48,24]", "bool[110592]", "int8[7]",
                            "float32[4611686018427387904,4]", "float32[-1]", ""}) {
    fails(shape, [&](Json& m) { m["constants"][table] = shape; });
  }
  fails("unknown constant", [](Json& m) { m["constants"]["nobody"] = "float32[1]"; });
  fails("missing constant", [&](Json& m) { m["constants"].erase(table); });
  fails("other node", [](Json& m) { m["packed"][0] = "nobody"; });
  fails("too few names", [](Json& m) { m["packed"].erase(0); });
  fails("bad property", [](Json& m) { m["properties"]["NUM_STREAMS"] = "many"; });
  fails("unknown property", [](Json& m) { m["properties"]["COLOUR"] = "red"; });
  fails("read-only property", [](Json& m) { m["properties"]["NETWORK_NAME"] = "x"; });
  // A library to load is none of the file's business; it is not even looked at.
  Json loading = manifest;
  loading["properties"]["EXTENSIONS"] = "/nowhere/none.so";
  EXPECT_TRUE(imported(with_manifest(file, loading.dump())));
}

TEST_F(CpuExport, NoContentDoesHarm) {
  ModelMaker maker;
  Value* x = maker.input({1, 16, 6, 6});
  Value* y = maker.op("Relu", {maker.conv(x, 16, 16, 3)});
  Value* rows = maker.op("Reshape", {y, maker.ints({16, 36})});
  maker.output(maker.op("MatMul", {rows, maker.random({36, 40})}));
  const auto compiled = compile(maker.model(), {{"INFERENCE_NUM_THREADS", "1"}});
  const std::string file = exported(*compiled);
  const Json manifest = manifest_of(file);
  DeviceParts parts{*read_topology(), manifest["machine"], std::make_shared<CoreBudgets>(2)};
  const std::vector<Tensor> inputs = random_inputs(maker.model());
  std::mt19937 random(11);
  int survived = 0;
  for (int round = 0; round < 500; ++round) {
    std::string changed = file;
    const size_t changes = 1 + random() % 4;
    for (size_t k = 0; k < changes; ++k) {
      // Mostly manifest and graph: packed weights are only numbers.
      const size_t range = round % 4 == 0 ? file.size() : std::min<size_t>(file.size(), 6000);
      changed[random() % range] = static_cast<char>(random());
    }
    std::istringstream stream(changed);
    const auto result =
        CpuCompiledModel::import(stream, {}, parts, ExportedFile::Checksums::Ignore);
    if (!result) continue;
    ++survived;
    const auto request = (*result)->create_infer_request();
    if (!request || (*result)->inputs().size() != inputs.size()) continue;
    if ((*request)->set_input(0, inputs[0]).ok()) (void)(*request)->infer();
  }
  EXPECT_GT(survived, 0) << "nothing got as far as the plan";
}

TEST_F(CpuExport, ModelsOfTheSharedData) {
  const char* data = std::getenv("HET_SHARED_DATA");
  if (data == nullptr || !fs::is_directory(fs::path(data) / "models")) {
    GTEST_SKIP() << "needs the shared data";
  }
  for (const char* name :
       {"onnx/fastestdet_352.onnx", "onnx/nanodet_m_320.onnx", "onnx/deimv2_atto_320.onnx",
        "onnx/person_reid_0288_nhwc.onnx", "onnx/squeezenet1.1_fp16.onnx", "onnx/yunet_n_320.onnx",
        "onnx/ultraface_rfb_320.onnx", "onnx/kws_qdq_int8.onnx",
        "onnx/mobilenet_v2_qoperator_int8.onnx", "onnx/deeplab_v3_257.onnx"}) {
    const auto model = shared_core_->read_model(fs::path(data) / "models" / name);
    ASSERT_TRUE(model) << model.error().message();
    std::map<std::string, Shape> shapes;
    for (const ModelInput& input : (*model)->inputs()) {
      Shape shape = input.value->desc().shape;
      for (int64_t& dim : shape) dim = dim == kUnknownDim ? 1 : dim;
      shapes[input.value->name()] = shape;
    }
    ASSERT_TRUE((*model)->reshape(shapes).ok());
    SCOPED_TRACE(name);
    round_trip(**model);
  }
}

}  // namespace
}  // namespace het::cpu
