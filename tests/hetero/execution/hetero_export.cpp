// Exported models of HETERO: what comes back computes the same, and no content of a file does harm.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "devices/cpu/cpu_device.h"
#include "hetero/execution/exported_plan.h"
#include "hetero/hetero_device.h"
#include "inference/preprocess/preprocess_text.h"
#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;

constexpr const char* kBoth = "HETERO:CPU,GPU";

class HeteroExport : public HeteroDeviceTest {
 protected:
  static std::string exported(const CompiledModel& compiled) {
    std::ostringstream stream;
    const Status status = compiled.export_model(stream);
    EXPECT_TRUE(status.ok()) << status.message();
    return stream.str();
  }
  static std::string export_error(const CompiledModel& compiled) {
    std::ostringstream stream;
    const Status status = compiled.export_model(stream);
    return status.ok() ? "no error" : status.message();
  }
  static Result<std::shared_ptr<CompiledModel>> import_in(Core& core, const std::string& file,
                                                          const std::string& device = "HETERO",
                                                          const Properties& properties = {}) {
    std::istringstream stream(file);
    return core.import_model(stream, device, properties);
  }
  /// In a Core that has seen nothing of the model.
  static std::shared_ptr<CompiledModel> import(const std::string& file,
                                               const std::string& device = "HETERO",
                                               const Properties& properties = {}) {
    Core core;
    register_devices(core);
    auto model = import_in(core, file, device, properties);
    EXPECT_TRUE(model) << model.error().message();
    return model ? *model : nullptr;
  }
  static std::string import_error(const std::string& file, const std::string& device = "HETERO",
                                  const Properties& properties = {}) {
    Core core;
    register_devices(core);
    const auto model = import_in(core, file, device, properties);
    return model ? "no error" : model.error().message();
  }

  static void expect_same_results(CompiledModel& model, CompiledModel& other) {
    auto request = *model.create_infer_request();
    auto again = *other.create_infer_request();
    const std::vector<Tensor> inputs = inputs_of(model);
    for (int run = 0; run < 2; ++run) {
      const std::vector<Tensor> wanted = infer(*request, inputs);
      const std::vector<Tensor> got = infer(*again, inputs);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(to_string(got[i].desc()), to_string(wanted[i].desc()));
        EXPECT_EQ(std::memcmp(got[i].bytes(), wanted[i].bytes(), wanted[i].size_bytes()), 0)
            << "output " << i;
      }
    }
  }

  /// CPU -> GPU -> CPU with a branch around, an input that is an output, one that nothing reads, a
  /// constant and a value that are outputs, the latter twice.
  static std::unique_ptr<Model> mixed() {
    ModelMaker maker("mixed");
    Value* x = maker.input({1, 3, 12, 12});
    maker.input({4});
    Value* y = maker.op("Relu", {maker.conv(x, 3, 16, 3)});
    Value* z = maker.op("Sigmoid", {maker.op("Mul", {y, maker.random({1, 16, 1, 1})})});
    Value* sum = maker.op("Add", {maker.op("Tanh", {y}), z});
    for (Value* value : {maker.conv(sum, 16, 8), z, x, maker.random({5}), z}) maker.output(value);
    for (const auto& node : maker.model().nodes()) {
      const bool on_gpu = node->op_type() == "Sigmoid" || node->op_type() == "Mul";
      node->set_affinity(on_gpu ? "GPU" : "CPU");
    }
    return maker.model().clone();
  }
};

TEST_F(HeteroExport, AnImportedModelComputesTheSame) {
  const auto model = mixed();
  const auto compiled = compile(*model, kBoth);
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(property(*compiled, "HETERO_NUMBER_OF_SUBMODELS"), "3");
  const std::string file = exported(*compiled);
  for (const char* device : {"HETERO", kBoth, "HETERO:REF,GPU,CPU"}) {
    SCOPED_TRACE(device);
    const auto back = import(file, device);
    ASSERT_NE(back, nullptr);
    EXPECT_EQ(back->name(), "mixed");
    EXPECT_TRUE(std::ranges::equal(back->inputs(), compiled->inputs(), same_port));
    EXPECT_TRUE(std::ranges::equal(back->outputs(), compiled->outputs(), same_port));
    for (const char* name : {"HETERO_NUMBER_OF_SUBMODELS", "EXECUTION_DEVICES", "HETERO_PLAN",
                             "OPTIMAL_NUMBER_OF_INFER_REQUESTS"}) {
      EXPECT_EQ(property(*back, name), property(*compiled, name)) << name;
    }
    EXPECT_EQ(property(*back, "MULTI_DEVICE_PRIORITIES"),
              device == std::string("HETERO:REF,GPU,CPU") ? "REF,GPU,CPU" : "CPU,GPU");
    // There is nothing to make another plan from.
    EXPECT_EQ(property(*compiled, "HETERO_FAIL_OVER"), "YES");
    EXPECT_EQ(property(*back, "HETERO_FAIL_OVER"), "NO");
    uint64_t next = 0;
    EXPECT_TRUE(back->device_events(next).empty());
    expect_same_results(*compiled, *back);
  }
}

TEST_F(HeteroExport, SeveralPlansAndTheirOrderComeBack) {
  const auto model = diamond();
  const auto plan_of = [&](const Properties& properties, const std::string& device) {
    std::istringstream stream(exported(*compile(*model, device, properties)));
    return std::move(*read_exported_plan(stream));
  };
  model->find_node("Tanh2")->set_affinity("GPU");
  const ExportedPlan linear = plan_of({{"HETERO_EXECUTOR", "LINEAR"}}, kBoth);
  EXPECT_THAT(linear.ways[0].turns, testing::ElementsAre(0, 1, 2));
  EXPECT_TRUE(plan_of({{"HETERO_EXECUTOR", "PARALLEL"}}, kBoth).ways[0].turns.empty());

  // Every third execution on CPU alone.
  model->find_node("Tanh2")->set_affinity("");
  ExportedPlan mix = plan_of({}, "HETERO:GPU,CPU");
  ExportedPlan other = plan_of({}, "HETERO:CPU");
  mix.ways[0].share = 2;
  mix.requests = 7;
  mix.ways.push_back(std::move(other.ways[0]));
  std::ostringstream file;
  ASSERT_TRUE(write_exported_plan(file, mix).ok());
  const auto back = import(file.str(), "HETERO", {{"PERF_COUNT", "YES"}});
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(property(*back, "EXECUTION_DEVICES"), "GPU CPU");
  EXPECT_EQ(property(*back, "HETERO_NUMBER_OF_SUBMODELS"), "2");
  EXPECT_EQ(property(*back, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "7");
  auto request = *back->create_infer_request();
  std::vector<std::string> kernels;
  for (int run = 0; run < 6; ++run) {
    ASSERT_TRUE(request->infer().ok());
    kernels.emplace_back();
    for (const ProfileRow& row : request->profiling()) kernels.back() += row.exec_type + " ";
  }
  EXPECT_EQ(std::ranges::count(kernels, kernels[0]), 4) << kernels[0] << kernels[1];
}

TEST_F(HeteroExport, PicturesAreConvertedAsBefore) {
  auto model = mixed();
  PreprocessDesc desc;
  desc.color_order = ColorOrder::RGB;
  desc.resize = ResizeMode::LetterboxCentre;
  desc.mean = {12.5f, 0.1f, 99.0f};
  desc.std = {58.3f, 1.0f / 3.0f, 57.0f};
  desc.pad_value = {114.0f, 113.0f, 112.0f};
  desc.border_x = 2;
  desc.border_y = 1;
  model->set_preprocess(0, desc);
  const auto compiled = compile(*model, kBoth);
  const auto back = import(exported(*compiled));
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->inputs()[0].preprocess, desc);
  const Image image = *make_host_image(PixelFormat::RGB, 16, 10);
  for (size_t i = 0; i < 16 * 10 * 3; ++i) {
    image.planes[0].buffer->host()[i] = static_cast<std::byte>(i * 7);
  }
  std::vector<Tensor> results;
  for (CompiledModel* each : {compiled.get(), back.get()}) {
    auto request = *each->create_infer_request();
    ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
    ASSERT_TRUE(request->infer().ok());
    results.push_back(*request->output(0).clone());
  }
  EXPECT_EQ(std::memcmp(results[0].bytes(), results[1].bytes(), results[0].size_bytes()), 0);
}

TEST_F(HeteroExport, PropertiesOfTheFileCountUnlessOthersAreGiven) {
  const auto compiled = compile(*mixed(), kBoth,
                                {{"CPU.INFERENCE_NUM_THREADS", "1"},
                                 {"GPU.NUM_STREAMS", "2"},
                                 {"PERFORMANCE_HINT", "THROUGHPUT"},
                                 {"CPU.CACHE_DIR", "/nowhere/of/the/exporter"}});
  ASSERT_NE(compiled, nullptr);
  const std::string file = exported(*compiled);
  EXPECT_EQ(file.find("/nowhere/of/the/exporter"), std::string::npos);
  const auto back = import(file);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(property(*back, "CPU.INFERENCE_NUM_THREADS"), "1");
  EXPECT_EQ(property(*back, "GPU.NUM_STREAMS"), "2");
  EXPECT_EQ(property(*back, "PERFORMANCE_HINT"), "THROUGHPUT");
  EXPECT_EQ(property(*back, "PERF_COUNT"), "NO");
  const auto counted = import(
      file, kBoth, {{"PERF_COUNT", "YES"}, {"GPU.NUM_STREAMS", "1"}, {"HETERO_FAIL_OVER", "YES"}});
  ASSERT_NE(counted, nullptr);
  EXPECT_EQ(property(*counted, "PERF_COUNT"), "YES");
  EXPECT_EQ(property(*counted, "GPU.NUM_STREAMS"), "1");
  EXPECT_EQ(property(*counted, "HETERO_FAIL_OVER"), "NO");
  EXPECT_THAT(import_error(file, kBoth, {{"INPUT_SHAPES", "[1,3,8,8]"}}),
              HasSubstr("INPUT_SHAPES"));
}

TEST_F(HeteroExport, DevicesAreThoseOfTheFileOrOfTheApplication) {
  const std::string file = exported(*compile(*mixed(), kBoth));
  EXPECT_THAT(import_error(file, "HETERO:CPU"),
              HasSubstr("mixed_1 of the exported model runs on GPU, which is not in HETERO:CPU"));
  EXPECT_THAT(import_error(file, "CPU"), HasSubstr("compiled for device HETERO"));

  // A machine without a GPU.
  Core small;
  small.devices().add("CPU", cpu::make_device, [] { return std::vector<std::string>{""}; });
  small.devices().add("HETERO", make_hetero_device, {}, true);
  const auto missing = import_in(small, file);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), StatusCode::NotFound);
  EXPECT_THAT(missing.error().message(), testing::AllOf(HasSubstr("exported for HETERO:CPU,GPU"),
                                                        HasSubstr("there is no device 'GPU'")));
  // One that no subgraph runs on is not missed.
  const auto model = diamond();
  for (const auto& node : model->nodes()) node->set_affinity("CPU");
  const auto alone = import_in(small, exported(*compile(*model, kBoth)));
  ASSERT_TRUE(alone) << alone.error().message();
  EXPECT_EQ(property(**alone, "EXECUTION_DEVICES"), "CPU");
}

TEST_F(HeteroExport, WhatCannotBeExportedIsNamed) {
  const auto model = diamond();
  model->find_node("Tanh2")->set_affinity("REF");
  EXPECT_THAT(export_error(*compile(*model, "HETERO:CPU,REF")),
              testing::AllOf(HasSubstr("cannot export diamond_1 on REF"),
                             HasSubstr("does not support export")));
  // An imported model of CPU keeps no graph.
  const auto back = import(exported(*compile(*diamond(), "HETERO:CPU")));
  EXPECT_THAT(export_error(*back),
              testing::AllOf(HasSubstr("cannot export diamond_0 on CPU"), HasSubstr("copy the")));

  ModelMaker maker("unsized");
  Value* places = maker.op("NonZero", {maker.op("Relu", {maker.input({4, 4})})});
  maker.output(maker.op("Cast", {places}, make_attributes({{"to", int64_t{1}}})));
  maker.model().nodes().back()->set_affinity("REF");
  const auto unsized = compile(maker.model(), "HETERO:CPU,REF");
  ASSERT_NE(unsized, nullptr);
  EXPECT_THAT(export_error(*unsized),
              HasSubstr("cannot export unsized_1 on REF: it reads 'NonZero1_y', which is sized"));
}

TEST_F(HeteroExport, OutputsThatAreSizedAtRunTimeComeBack) {
  ModelMaker maker("sized_late");
  Value* y = maker.op("Relu", {maker.input({4, 4})});
  maker.output(maker.op("Sigmoid", {y}));
  maker.output(maker.op("NonZero", {y}));
  maker.model().find_node("Sigmoid1")->set_affinity("GPU");
  const auto compiled = compile(maker.model(), kBoth);
  const auto back = import(exported(*compiled));
  ASSERT_NE(back, nullptr);
  EXPECT_FALSE(back->outputs()[1].desc.is_static());
  expect_same_results(*compiled, *back);
}

TEST_F(HeteroExport, EveryTruncationAndFlippedBitIsAnError) {
  const auto compiled = compile(*mixed(), kBoth);
  const std::string file = exported(*compiled);
  ASSERT_EQ(import_error(file), "no error");
  Core core;
  register_devices(core);
  for (size_t length = 0; length < file.size(); length += length < 4000 ? 37 : 611) {
    EXPECT_FALSE(import_in(core, file.substr(0, length))) << length << " of " << file.size();
  }
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string changed = file;
    const size_t at =
        round < 150 ? random() % std::min<size_t>(file.size(), 5000) : random() % file.size();
    if (file[at] == 0) continue;  // padding has no checksum and no meaning
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    EXPECT_FALSE(import_in(core, changed)) << "byte " << at;
  }
}

/// The sections of a file.
std::vector<std::pair<std::string, std::string>> sections_of(const std::string& file) {
  std::istringstream stream(file);
  const ExportedFile whole = *ExportedFile::read(stream, "HETERO");
  std::vector<std::pair<std::string, std::string>> sections;
  for (const ExportedSection& section : whole.sections()) {
    const auto* begin = reinterpret_cast<const char*>(section.content.data());
    sections.emplace_back(section.name, std::string(begin, begin + section.content.size()));
  }
  return sections;
}
/// A file of them, with right checksums.
std::string file_of(const std::vector<std::pair<std::string, std::string>>& sections) {
  std::vector<ExportedSection> parts;
  for (const auto& [name, content] : sections) {
    parts.push_back({name, std::as_bytes(std::span(content))});
  }
  std::ostringstream out;
  EXPECT_TRUE(ExportedFile::write(out, "HETERO", parts).ok());
  return out.str();
}

TEST_F(HeteroExport, ASplitThatDoesNotFitIsAnError) {
  const auto sections = sections_of(exported(*compile(*mixed(), kBoth)));
  ASSERT_EQ(sections.size(), 5u);  // the split, three subgraphs, a constant
  const Json split = Json::parse(sections[0].second);
  Core core;
  register_devices(core);
  const auto error_of = [&](const std::string& json) {
    auto changed = sections;
    changed[0].second = json;
    const auto model = import_in(core, file_of(changed));
    return model ? std::string("no error") : model.error().message();
  };
  ASSERT_EQ(error_of(split.dump()), "no error");
  const auto fails = [&](const std::string& what, const std::function<void(Json&)>& change,
                         const std::string& part = "") {
    Json changed = split;
    change(changed);
    EXPECT_THAT(error_of(changed.dump()), testing::AllOf(testing::Ne("no error"), HasSubstr(part)))
        << what;
  };
  EXPECT_NE(error_of("{"), "no error");
  EXPECT_NE(error_of(std::string(5000, '[')), "no error");
  fails("list", [](Json& s) { s = Json::array(); });
  for (const auto& [name, value] : split.items()) {
    // Without a source there is no fail-over.
    if (name != "source") {
      fails(
          name, [&name = name](Json& s) { s.erase(name); }, name);
    }
    fails(name, [&name = name](Json& s) { s[name] = -7; });
  }
  for (const char* name : {"path", "fingerprint"}) {
    fails(
        name, [name](Json& s) { s["source"].erase(name); }, name);
    fails(
        name, [name](Json& s) { s["source"][name] = -1; }, name);
  }
  for (const auto& [name, value] : split["ways"][0]["subgraphs"][1].items()) {
    fails(
        name, [&name = name](Json& s) { s["ways"][0]["subgraphs"][1].erase(name); }, name);
    fails(name, [&name = name](Json& s) { s["ways"][0]["subgraphs"][1][name] = true; });
  }
  for (const auto& [name, value] : split["inputs"][0].items()) {
    fails(name, [&name = name](Json& s) { s["inputs"][0].erase(name); });
    fails(name, [&name = name](Json& s) { s["inputs"][0][name] = Json::object(); });
  }
  for (const auto& [name, value] : split["ways"][0].items()) {
    fails(
        name, [&name = name](Json& s) { s["ways"][0].erase(name); }, name);
    fails(name, [&name = name](Json& s) { s["ways"][0][name] = "7"; });
  }
  fails(
      "no way", [](Json& s) { s["ways"] = Json::array(); }, "no plan");
  fails(
      "two ways", [](Json& s) { s["ways"].push_back(s["ways"][0]); }, "no file");
  for (const double share : {0.0, -1.0, 1e300}) {
    fails(
        "share", [&](Json& s) { s["ways"][0]["share"] = share; }, "share");
  }
  for (const Json& turns :
       {Json{0, 1}, Json{0, 1, 1}, Json{0, 1, 3}, Json{0, 1, -2}, Json{0, 1, "2"}}) {
    fails(
        turns.dump(), [&](Json& s) { s["ways"][0]["turns"] = turns; }, "turns");
  }
  fails(
      "requests", [](Json& s) { s["requests"] = 1000000; }, "requests");
  // Cycles, among them one to itself, and what is not there.
  const Json later{{"subgraph", 2}, {"output", 0}};
  const Json own{{"subgraph", 1}, {"output", 0}};
  for (const Json& source :
       {later, own, Json{{"subgraph", 0}, {"output", 5}}, Json{{"subgraph", -1}, {"output", 0}},
        Json{{"subgraph", 1e300}, {"output", 0}}, Json::object({{"input", 9}}),
        Json::object({{"input", uint64_t{1} << 63}}), Json::object({{"input", "0"}}),
        Json::object({{"constant", 0}}), Json::object(), Json(), Json(3)}) {
    fails(source.dump(), [&](Json& s) { s["ways"][0]["subgraphs"][1]["sources"][0] = source; });
  }
  fails(
      "no source", [](Json& s) { s["ways"][0]["subgraphs"][1]["sources"] = Json::array(); },
      "sources");
  fails("too few subgraphs", [](Json& s) { s["ways"][0]["subgraphs"].erase(2); });
  fails("too many",
        [](Json& s) { s["ways"][0]["subgraphs"].push_back(s["ways"][0]["subgraphs"][0]); });
  fails(
      "another type", [](Json& s) { s["ways"][0]["subgraphs"][1]["inputs"][0]["type"] = "int8"; },
      "read as");
  for (const Json& shape :
       {Json{1, 3, 12}, Json{1, 3, 12, 13}, Json{1, 3, -2, 12}, Json{1, 3, 1e9, 12},
        Json{1, 3, "12", 12}, Json(7), Json(std::vector<int>(1000, 1))}) {
    fails(shape.dump(), [&](Json& s) { s["inputs"][0]["shape"] = shape; });
  }
  // Ports that agree with each other, but not with what the device has.
  fails(
      "an output more",
      [](Json& s) {
        s["ways"][0]["subgraphs"][1]["outputs"].push_back(
            s["ways"][0]["subgraphs"][1]["outputs"][0]);
      },
      "has other ports than the split says");
  fails(
      "another name", [](Json& s) { s["ways"][0]["subgraphs"][0]["outputs"][0]["name"] = "other"; },
      "has other ports");
  fails(
      "a picture",
      [](Json& s) {
        s["ways"][0]["subgraphs"][0]["inputs"][0]["picture"] = to_text(PreprocessDesc());
      },
      "has other ports");
  fails(
      "a constant of other bytes", [](Json& s) { s["outputs"][3]["shape"] = {6}; }, "bytes");
  fails("a huge constant", [](Json& s) { s["outputs"][3]["shape"] = {1ll << 62, 4}; });
  fails("unused constant", [](Json& s) {
    s["ways"][0]["sources"][3] = Json::object({{"input", 0}});
  });
  fails("no such constant", [](Json& s) {
    s["ways"][0]["sources"][3] = Json::object({{"constant", 1}});
  });
  // Devices.
  fails(
      "composite",
      [](Json& s) {
        s["devices"] = "MULTI:CPU";
        for (Json& each : s["ways"][0]["subgraphs"]) each["device"] = "MULTI:CPU";
      },
      "distributes work itself");
  fails(
      "unknown",
      [](Json& s) {
        s["devices"] = "XPU";
        for (Json& each : s["ways"][0]["subgraphs"]) each["device"] = "XPU";
      },
      "XPU");
  fails(
      "not listed", [](Json& s) { s["devices"] = "CPU"; }, "runs on GPU, which is not in");
  fails(
      "swapped", [](Json& s) { s["ways"][0]["subgraphs"][1]["device"] = "CPU"; }, "device GPU");
  fails("nothing", [](Json& s) { s["devices"] = ""; });
  // Properties.
  fails(
      "unknown", [](Json& s) { s["properties"]["COLOUR"] = "red"; }, "COLOUR");
  fails("bad", [](Json& s) { s["properties"]["CPU.NUM_STREAMS"] = "many"; });
  fails("read-only", [](Json& s) { s["properties"]["HETERO_PLAN"] = "x"; });
  Json loading = split;
  loading["properties"]["CPU.EXTENSIONS"] = "/nowhere/none.so";
  loading["properties"]["HETERO_AFFINITY"] = "/nowhere/none.json";
  EXPECT_EQ(error_of(loading.dump()), "no error") << "not even looked at";
  // Files of subgraphs in other places.
  auto swapped = sections;
  std::swap(swapped[1].second, swapped[3].second);
  EXPECT_THAT(import_error(file_of(swapped)), HasSubstr("has other ports"));
  swapped = sections;
  swapped.erase(swapped.begin() + 4);
  EXPECT_NE(import_error(file_of(swapped)), "no error");
}

TEST_F(HeteroExport, NoContentDoesHarm) {
  const auto model = diamond();
  model->find_node("Tanh2")->set_affinity("GPU");
  const auto sections = sections_of(exported(*compile(*model, kBoth)));
  Core core;
  register_devices(core);
  std::mt19937 random(11);
  int survived = 0;
  for (int round = 0; round < 600; ++round) {
    auto changed = sections;
    // Mostly the split itself: files of subgraphs are their devices' business.
    std::string& text = changed[round % 5 == 0 ? random() % changed.size() : 0].second;
    const size_t changes = 1 + random() % 3;
    for (size_t k = 0; k < changes; ++k) {
      // Digits for digits get further than what is no JSON.
      const size_t at = random() % text.size();
      text[at] = text[at] >= '0' && text[at] <= '9' ? static_cast<char>('0' + random() % 10)
                                                    : static_cast<char>(random());
    }
    const auto result = import_in(core, file_of(changed));
    if (!result) continue;
    ++survived;
    const auto request = (*result)->create_infer_request();
    if (request) (void)(*request)->infer();
  }
  EXPECT_GT(survived, 0) << "nothing got as far as a model";
}

TEST_F(HeteroExport, ModelsOfTheSharedData) {
  const char* data = std::getenv("HET_SHARED_DATA");
  if (data == nullptr || !fs::is_directory(fs::path(data) / "models")) {
    GTEST_SKIP() << "needs the shared data";
  }
  for (const char* name : {"onnx/mnist-8.onnx", "onnx/yunet_n_320.onnx"}) {
    const auto model = core_.read_model(fs::path(data) / "models" / name);
    ASSERT_TRUE(model) << model.error().message();
    SCOPED_TRACE(name);
    const auto compiled = compile(
        **model, kBoth,
        {{"HETERO_AFFINITY",
          R"({"rules":[{"type":"MaxPool","device":"GPU"},{"type":"Add","device":"GPU"}]})"}});
    ASSERT_NE(compiled, nullptr);
    EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "CPU GPU");
    const auto back = import(exported(*compiled));
    ASSERT_NE(back, nullptr);
    expect_same_results(*compiled, *back);
  }
}

}  // namespace
}  // namespace het::hetero
