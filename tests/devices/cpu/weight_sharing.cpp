// WEIGHT_SHARING: models whose packed weights are those of a file in CACHE_DIR.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "cpu_testing.h"
#include "devices/cpu/model_store.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/register_devices.h"
#include "inference/base/log.h"
#include "tests/devices/special_values.h"

namespace het::cpu {
namespace {

namespace fs = std::filesystem;
using namespace cpu_testing;

class CpuWeightSharing : public CpuTest {
 protected:
  void SetUp() override {
    CpuTest::SetUp();
    std::string name = fs::temp_directory_path() / "weight_sharing_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    set_log_sink([this](LogLevel, std::string_view text) { warnings_.emplace_back(text); },
                 LogLevel::Warning);
  }
  void TearDown() override {
    set_log_sink([](LogLevel, std::string_view) {}, LogLevel::Warning);
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  Properties sharing(Properties more = {}) const {
    more.insert({{"WEIGHT_SHARING", "MACHINE"}, {"CACHE_DIR", folder_}, {"DETERMINISTIC", "YES"}});
    return more;
  }
  static Properties alone(Properties more = {}) {
    more.insert({{"CACHE_DIR", ""}, {"DETERMINISTIC", "YES"}});
    return more;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& file : fs::directory_iterator(folder_)) {
      if (file.path().filename().string().starts_with("cpu-")) found.push_back(file.path());
    }
    return found;
  }
  static std::string read(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return (std::ostringstream() << stream.rdbuf()).str();
  }
  static void write(const fs::path& path, const std::string& content) {
    fs::remove(path);
    std::ofstream(path, std::ios::binary) << content;
  }
  static uint64_t inode(const fs::path& path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
  }
  static bool is_mapped(const fs::path& path) {
    return read("/proc/self/maps").find(path.filename().string()) != std::string::npos;
  }
  static std::vector<Tensor> inputs_of(const Model& model) {
    std::vector<Tensor> inputs = random_inputs(model);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorDesc& desc = model.inputs()[i].value->desc();
      if (inputs[i].type() == desc.type) continue;
      inputs[i] = *Tensor::allocate(desc);
      std::memset(inputs[i].bytes(), 0, inputs[i].size_bytes());
    }
    return inputs;
  }
  static void expect_same_bits(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(to_string(got[i].desc()), to_string(wanted[i].desc()));
      EXPECT_EQ(std::memcmp(got[i].bytes(), wanted[i].bytes(), wanted[i].size_bytes()), 0)
          << "output " << i;
    }
  }
  /// Compiles alone, as who writes the file and as who finds it, and compares, bit by bit, what
  /// they compute, and what they export.
  void expect_same(const Model& model, const Properties& more = {},
                   std::vector<Tensor> inputs = {}) {
    if (inputs.empty()) inputs = inputs_of(model);
    const auto own = compile(model, alone(more));
    const auto writer = compile(model, sharing(more));
    const auto reader = compile(model, sharing(more));
    ASSERT_TRUE(own && writer && reader);
    ASSERT_EQ(files().size(), 1u);
    EXPECT_TRUE(is_mapped(files()[0]));
    const std::vector<Tensor> wanted = infer(*own, inputs);
    expect_same_bits(infer(*writer, inputs), wanted);
    expect_same_bits(infer(*reader, inputs), wanted);
    expect_same_bits(infer(*reader, inputs), wanted);
    EXPECT_EQ(*reader->get_property("INFERENCE_PRECISION_HINT"),
              *own->get_property("INFERENCE_PRECISION_HINT"));
    const std::string exported_alone = exported(*own);
    EXPECT_EQ(exported(*writer), exported_alone);
    EXPECT_EQ(exported(*reader), exported_alone);
    std::istringstream stream(exported_alone);
    EXPECT_TRUE(device_->import_model(stream, {}));
    EXPECT_TRUE(warnings_.empty()) << warnings_[0];
    fs::remove(files()[0]);
  }
  static std::string exported(const CompiledModel& compiled) {
    std::ostringstream stream;
    const Status status = compiled.export_model(stream);
    EXPECT_TRUE(status.ok()) << status.message();
    return stream.str();
  }

  /// Winograd and direct convolutions, what is fused into them, a product, a table that stays.
  static Model& small_model(ModelMaker& maker) {
    Value* x = maker.input({1, 3, 24, 24});
    Value* y = maker.op("Relu", {maker.conv(x, 3, 64, 3)});
    y = maker.op("Sigmoid",
                 {maker.op("Mul", {maker.conv(y, 64, 64, 3), maker.random({1, 64, 1, 1})})});
    y = maker.op("Add", {maker.conv(y, 64, 64, 3, 64), y});
    y = maker.op("Add", {maker.conv(y, 64, 48), maker.random({1, 48, 24, 24})});
    Value* rows = maker.op("Reshape", {y, maker.ints({48, 576})});
    rows = maker.op("MatMul", {rows, maker.random({576, 96}, 0.05f)});
    maker.output(maker.op("Tanh", {maker.op("Add", {rows, maker.random({96})})}));
    maker.output(y);
    return maker.model();
  }

  fs::path folder_;
  std::vector<std::string> warnings_;
  std::shared_ptr<Core> shared_core_ = het::core();
};

TEST_F(CpuWeightSharing, TheFileIsWrittenOnceAndMapped) {
  ModelMaker maker;
  Model& model = small_model(maker);
  const auto first = compile(model, sharing());
  ASSERT_EQ(files().size(), 1u);
  const fs::path path = files()[0];
  const uint64_t written = inode(path);
  EXPECT_TRUE(is_mapped(path)) << "who packs uses the file, too";
  const auto second = compile(model, sharing());
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(inode(path), written);
  const auto third = compile(model, {{"CACHE_DIR", folder_}, {"DETERMINISTIC", "YES"}});
  EXPECT_EQ(inode(path), written);
  // Whoever has mapped the file keeps it.
  const std::vector<Tensor> inputs = inputs_of(model);
  fs::remove(path);
  expect_same_bits(infer(*first, inputs), infer(*third, inputs));
  expect_same_bits(infer(*second, inputs), infer(*third, inputs));
}

TEST_F(CpuWeightSharing, TypesAndModes) {
  ModelMaker maker;
  Model& model = small_model(maker);
  expect_same(model);
  expect_same(model, {{"EXECUTION_MODE_HINT", "ACCURACY"}});
  expect_same(model, {{"INFERENCE_NUM_THREADS", "1"}});
  expect_same(model, {{"NUM_STREAMS", "2"}, {"INFERENCE_NUM_THREADS", "2"}});
  expect_same(model, {{"WEIGHT_SHARING", "NODE"}});
  if (has_bfloat16()) expect_same(model, {{"INFERENCE_PRECISION_HINT", "bf16"}});
}

TEST_F(CpuWeightSharing, MeasuredChoicesComeAlong) {
  ModelMaker maker;
  Model& model = small_model(maker);
  const auto writer = compile(model, sharing({{"DETERMINISTIC", "NO"}}));
  const auto reader = compile(model, sharing({{"DETERMINISTIC", "NO"}}));
  ASSERT_EQ(files().size(), 1u);
  const std::vector<Tensor> inputs = inputs_of(model);
  expect_same_bits(infer(*reader, inputs), infer(*writer, inputs));
  EXPECT_EQ(exported(*reader), exported(*writer));
}

TEST_F(CpuWeightSharing, QuantisedModels) {
  for (const bool per_channel : {false, true}) {
    ModelMaker maker;
    Value* x = maker.input({1, 16, 12, 12});
    const auto levels = [&](Value* value) {
      Value* scale = maker.constant(Tensor::scalar(0.05f));
      Value* zero = maker.constant(Tensor::scalar(uint8_t{128}));
      Value* bytes = maker.op("QuantizeLinear", {value, scale, zero});
      return maker.op("DequantizeLinear", {bytes, scale, zero});
    };
    Value* scale = maker.constant(Tensor::scalar(0.01f));
    Attributes attributes;
    if (per_channel) {
      scale = maker.constant(Tensor::from<float>({32}, std::vector<float>(32, 0.02f)));
      attributes = make_attributes({{"axis", int64_t{0}}});
    }
    Value* weights =
        maker.op("DequantizeLinear",
                 {maker.constant(random_bytes<int8_t>({32, 16, 3, 3}, 5)), scale}, attributes);
    Value* y = maker.op("Conv", {levels(x), weights}, make_attributes({{"pads", Ints(4, 1)}}));
    maker.output(levels(maker.op("Relu", {y})));
    expect_same(maker.model());
    expect_same(maker.model(), {{"EXECUTION_MODE_HINT", "ACCURACY"}});
  }
}

TEST_F(CpuWeightSharing, NaNAndInfinitiesAsWithoutIt) {
  ModelMaker maker;
  Model& model = small_model(maker);
  for (const float value :
       {device_testing::kNan, device_testing::kInfinity, -device_testing::kInfinity}) {
    std::vector<Tensor> inputs = inputs_of(model);
    inputs[0].data<float>()[500] = value;
    expect_same(model, {}, inputs);
    if (has_bfloat16()) expect_same(model, {{"INFERENCE_PRECISION_HINT", "bf16"}}, inputs);
  }
  // In the weights: then the only plan keeps them.
  ModelMaker spoiled;
  Tensor weights = random_tensor({64, 64, 3, 3}, 3);
  weights.data<float>()[1000] = device_testing::kNan;
  Value* x = spoiled.input({1, 64, 28, 28});
  Value* y =
      spoiled.op("Conv", {x, spoiled.constant(weights)}, make_attributes({{"pads", Ints(4, 1)}}));
  spoiled.output(spoiled.op("Relu", {spoiled.conv(spoiled.op("Relu", {y}), 64, 64, 3)}));
  expect_same(spoiled.model());
}

TEST_F(CpuWeightSharing, ASingleWeightMakesAnotherFile) {
  const auto make = [](ModelMaker& maker, float more) -> Model& {
    Tensor weights = random_tensor({64, 64, 3, 3}, 3);
    weights.data<float>()[weights.element_count() - 2] += more;
    Value* x = maker.input({1, 64, 14, 14});
    maker.output(maker.op("Conv", {x, maker.constant(weights)}));
    return maker.model();
  };
  ModelMaker first;
  ModelMaker second;
  ModelMaker small;  // a constant that stands in the graph
  Model& a = make(first, 0);
  Model& b = make(second, 1e-6f);
  make(small, 0);
  compile(a, sharing());
  compile(b, sharing());
  ASSERT_EQ(files().size(), 2u);
  const std::vector<Tensor> inputs = inputs_of(a);
  expect_same_bits(infer(*compile(a, sharing()), inputs), infer(*compile(a, alone()), inputs));
  expect_same_bits(infer(*compile(b, sharing()), inputs), infer(*compile(b, alone()), inputs));
  // A file under the name of another model's counts as none.
  const std::vector<fs::path> both = files();
  write(both[1], read(both[0]));
  write(both[0], read(both[1]));
  expect_same_bits(infer(*compile(a, sharing()), inputs), infer(*compile(a, alone()), inputs));
  expect_same_bits(infer(*compile(b, sharing()), inputs), infer(*compile(b, alone()), inputs));
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("another model's"), std::string::npos) << warnings_[0];
  // The name of a model, which often is its file's, is no part of its content.
  a.set_name("renamed");
  EXPECT_EQ(compile(a, sharing())->name(), "renamed");
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(CpuWeightSharing, WhatSplitsTheKeyAndWhatDoesNot) {
  ModelMaker maker;
  Model& model = small_model(maker);
  const Properties base = {{"INFERENCE_NUM_THREADS", "1"}, {"INFERENCE_PRECISION_HINT", "f32"}};
  const auto with = [&](std::initializer_list<std::pair<const std::string, std::string>> more) {
    Properties properties = base;
    for (const auto& [name, value] : more) properties[name] = value;
    return sharing(properties);
  };
  compile(model, with({}));
  const auto counted = compile(model, with({{"PERF_COUNT", "YES"}}));
  std::vector<ProfileRow> rows;
  infer(*counted, inputs_of(model), &rows);
  EXPECT_FALSE(rows.empty());
  EXPECT_EQ(*counted->get_property("PERF_COUNT"), "YES");
  compile(model, with({{"ENABLE_CPU_PINNING", "NO"}}));
  compile(model, with({{"EXCLUSIVE_ASYNC_REQUESTS", "YES"}}));
  compile(model, with({{"CACHE_MAX_MIB", "500"}}));
  compile(model, with({{"NUM_STREAMS", "2"}, {"INFERENCE_NUM_THREADS", "2"}}));
  EXPECT_EQ(files().size(), 1u) << "the same weights and kernels";
  const auto again = compile(model, with({}));
  EXPECT_EQ(*again->get_property("PERF_COUNT"), "NO");
  EXPECT_EQ(*again->get_property("NUM_STREAMS"), "1");
  size_t count = 1;
  const auto expect_another = [&](const Properties& properties) {
    compile(model, properties);
    EXPECT_EQ(files().size(), ++count) << testing::PrintToString(properties);
  };
  expect_another(with({{"EXECUTION_MODE_HINT", "ACCURACY"}}));
  expect_another(with({{"CPU_DENORMALS_OPTIMIZATION", "NO"}}));
  expect_another(with({{"INFERENCE_NUM_THREADS", "2"}}));
  if (has_bfloat16()) expect_another(with({{"INFERENCE_PRECISION_HINT", "bf16"}}));
  expect_another(with({{"DETERMINISTIC", "NO"}}));
}

TEST_F(CpuWeightSharing, OneFileANode) {
  ModelMaker maker;
  const ExportSource source(small_model(maker));
  const auto path_of = [&](const char* machine, const char* mode) {
    TopologySource place;
    place.synthetic = machine;
    place.max_threads = 2;
    const DeviceParts parts{*read_topology(place), "a machine", nullptr};
    const Properties properties = sharing({{"WEIGHT_SHARING", mode}});
    const StreamSettings settings = *stream_settings(properties, parts.topology);
    return fs::path(ModelStore::create(source, properties, settings, parts)->path())
        .filename()
        .string();
  };
  const std::string of_machine = path_of("numa:1 core:2 pu:1", "MACHINE");
  EXPECT_EQ(of_machine.find("node"), std::string::npos);
  EXPECT_EQ(path_of("numa:2 core:2 pu:1", "NODE").find("node"), std::string::npos)
      << "a process that spans nodes";
  EXPECT_TRUE(path_of("numa:1 core:2 pu:1", "NODE").ends_with("-node0.model"));
  EXPECT_TRUE(is_cache_file(of_machine));
  EXPECT_TRUE(is_cache_file(path_of("numa:1 core:2 pu:1", "NODE")));
}

TEST_F(CpuWeightSharing, NoContentOfTheFileDoesHarm) {
  ModelMaker maker;
  Model& model = small_model(maker);
  const auto own = compile(model, alone());
  const std::vector<Tensor> inputs = inputs_of(model);
  const std::vector<Tensor> wanted = infer(*own, inputs);
  compile(model, sharing());
  ASSERT_EQ(files().size(), 1u);
  const fs::path path = files()[0];
  const std::string good = read(path);
  std::vector<std::string> bad = {"",
                                  "x",
                                  "gst-hetero compiled model 0001",
                                  good.substr(0, 200),
                                  good.substr(0, good.size() / 2),
                                  good.substr(0, good.size() - 1),
                                  std::string(good.size(), '\0')};
  for (size_t at = 3; at < good.size(); at += good.size() / 40) {
    bad.push_back(good);
    bad.back()[at] = static_cast<char>(bad.back()[at] ^ 8);
  }
  size_t refused = 0;
  for (const std::string& content : bad) {
    write(path, content);
    warnings_.clear();
    const auto compiled = compile(model, sharing());
    ASSERT_NE(compiled, nullptr);
    expect_same_bits(infer(*compiled, inputs), wanted);
    refused += warnings_.size();
    if (warnings_.empty()) continue;
    EXPECT_NE(warnings_[0].find("made anew"), std::string::npos) << warnings_[0];
    EXPECT_EQ(read(path), good) << "written anew";
  }
  EXPECT_GE(refused, bad.size() - 3) << "padding between sections has no checksum";
}

TEST_F(CpuWeightSharing, WhatIsNoFileStays) {
  ModelMaker maker;
  Model& model = small_model(maker);
  compile(model, sharing());
  const fs::path path = files()[0];
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(compile(model, sharing()), nullptr);
  EXPECT_EQ(warnings_.size(), 2u) << "can be neither read nor written";
  fs::remove(path);
  fs::create_directory(path);
  warnings_.clear();
  EXPECT_NE(compile(model, sharing()), nullptr);
  EXPECT_EQ(warnings_.size(), 2u);
  EXPECT_TRUE(fs::is_directory(path));
}

TEST_F(CpuWeightSharing, AFolderThatTakesNothing) {
  ModelMaker maker;
  Model& model = small_model(maker);
  const std::vector<Tensor> inputs = inputs_of(model);
  const std::vector<Tensor> wanted = infer(*compile(model, alone()), inputs);
  // No such folder can be.
  write(folder_ / "file", "");
  const auto nowhere = compile(model, sharing({{"CACHE_DIR", folder_ / "file/cache"}}));
  expect_same_bits(infer(*nowhere, inputs), wanted);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("not shared"), std::string::npos) << warnings_[0];
  // A full disk, as a limit of the process.
  warnings_.clear();
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {200000, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto full = compile(model, sharing());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  ::signal(SIGXFSZ, before);
  expect_same_bits(infer(*full, inputs), wanted);
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(files().empty()) << files()[0];
  // More than all files may have.
  warnings_.clear();
  ModelMaker large;
  large.output(large.op("MatMul", {large.input({1, 1024}), large.random({1024, 1024})}));
  const auto too_large = compile(large.model(), sharing({{"CACHE_MAX_MIB", "2"}}));
  EXPECT_NE(too_large, nullptr);
  EXPECT_TRUE(files().empty());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("CACHE_MAX_MIB"), std::string::npos) << warnings_[0];
}

TEST_F(CpuWeightSharing, WhoStartsAtOnceWaitsForWhoPacks) {
  ModelMaker maker;
  Model& model = small_model(maker);
  std::vector<std::shared_ptr<CompiledModel>> compiled(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < compiled.size(); ++i) {
    threads.emplace_back([&, i] { compiled[i] = compile(model, sharing()); });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(files().size(), 1u);
  std::ifstream maps("/proc/self/maps");
  std::string line;
  std::vector<std::string> mapped;
  while (std::getline(maps, line)) {
    if (line.find(files()[0].filename().string()) == std::string::npos) continue;
    EXPECT_EQ(line.find("deleted"), std::string::npos) << "somebody wrote it again";
    mapped.push_back(line);
  }
  EXPECT_EQ(mapped.size(), compiled.size());
  EXPECT_TRUE(warnings_.empty()) << warnings_[0];
}

TEST_F(CpuWeightSharing, BelowOtherDevices) {
  ModelMaker maker;
  Model& model = small_model(maker);
  const std::vector<Tensor> inputs = inputs_of(model);
  const std::vector<Tensor> wanted = infer(*compile(model, alone()), inputs);
  const auto properties = sharing();
  for (const char* device : {"HETERO:CPU", "MULTI:CPU"}) {
    SCOPED_TRACE(device);
    for (int i = 0; i < 2; ++i) {
      const auto compiled = shared_core_->compile_model(
          model, device,
          {{"CPU.WEIGHT_SHARING", "MACHINE"}, {"CACHE_DIR", folder_}, {"DETERMINISTIC", "YES"}});
      ASSERT_TRUE(compiled) << compiled.error().message();
      EXPECT_EQ(files().size(), 1u);
      EXPECT_TRUE(!files().empty() && is_mapped(files()[0]));
      expect_same_bits(infer(**compiled, inputs), wanted);
    }
    for (const fs::path& file : files()) fs::remove(file);
  }
}

TEST_F(CpuWeightSharing, PlansOfEachShapeStayInTheProcess) {
  ModelMaker maker;
  Value* x = maker.input({-1, 64, 20, 20});
  maker.output(maker.op("Relu", {maker.conv(x, 64, 64, 3)}));
  const auto own = shared_core_->compile_model(maker.model(), "CPU", alone());
  for (const char* device : {"CPU", "HETERO:CPU"}) {
    Properties properties = sharing();
    if (std::string(device) != "CPU") {
      properties["CPU.WEIGHT_SHARING"] = "MACHINE";
      properties.erase("WEIGHT_SHARING");
    }
    const auto compiled = shared_core_->compile_model(maker.model(), device, properties);
    ASSERT_TRUE(compiled) << compiled.error().message();
    for (const int64_t batch : {1, 2}) {
      const std::vector<Tensor> inputs = {random_tensor({batch, 64, 20, 20}, 9)};
      expect_same_bits(infer(**compiled, inputs), infer(**own, inputs));
    }
    EXPECT_TRUE(files().empty()) << device;
  }
}

TEST_F(CpuWeightSharing, ProcessesUnderASmallBound) {
  const char* build = ::getenv("HET_BUILD_ROOT");
  ASSERT_NE(build, nullptr) << "HET_BUILD_ROOT names the build folder";
  const std::string program = std::string(build) + "/tests/devices/cpu_child";
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const std::string seed = std::to_string(i);
    children.push_back(::fork());
    if (children.back() != 0) continue;
    ::execl(program.c_str(), program.c_str(), folder_.c_str(), seed.c_str(), nullptr);
    ::_exit(127);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  size_t bytes = 0;
  for (const fs::path& file : files()) bytes += fs::file_size(file);
  EXPECT_GT(bytes, 0u);
  EXPECT_LE(bytes, size_t{4} << 20);
}

}  // namespace
}  // namespace het::cpu
