/// A device of a library alone: queries, models, requests, memory, export.
#include <array>
#include <future>
#include <sstream>
#include <thread>

#include "custom_testing.h"
#include "inference/model/exported_file.h"

namespace het::custom_testing {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LibraryDevice : public CustomDeviceTest {
 protected:
  std::string query_reason(const Model& model, const std::string& node, const std::string& device,
                           const Properties& properties = {}) {
    const auto rows = core_.query_model(model, device, properties);
    if (!rows) return rows.error().message();
    for (const NodeSupport& row : *rows) {
      if (row.node_name.starts_with(node)) return row.device + ": " + row.reason;
    }
    return "no such node";
  }
  static std::string message_of(const Status& status) {
    return status.ok() ? "no error" : status.message();
  }
};

TEST_F(LibraryDevice, ComputesWhatRefDoes) {
  const auto model = everything();
  const auto compiled = compile(*model, "MYDEV");
  ASSERT_NE(compiled, nullptr);
  expect_results_of_ref(*model, *compiled);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "MYDEV");
  EXPECT_EQ(property(*compiled, "NETWORK_NAME"), "everything");
  EXPECT_EQ(property(*compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "2");
  EXPECT_EQ(property("MYDEV", "MYDEV_EXECUTIONS"), "3");
}

TEST_F(LibraryDevice, AnInputMayBeAnOutput) {
  ModelMaker maker("through");
  Value* x = maker.input({2, 3});
  maker.output(x);
  maker.output(maker.op("Relu", {x}));
  const auto compiled = compile(maker.model(), "MYDEV");
  ASSERT_NE(compiled, nullptr);
  expect_results_of_ref(maker.model(), *compiled);
}

TEST_F(LibraryDevice, RefusedNodesAreNamedWithTheReason) {
  ModelMaker maker("refused");
  Value* x = maker.conv(maker.input({1, 4, 6, 6}), 4, 4, 3, 2);
  maker.output(maker.op("Tanh", {maker.op("Relu", {x})}));
  const Model& model = maker.model();
  EXPECT_EQ(query_reason(model, "Conv", "MYDEV"), ": Conv takes one group only");
  EXPECT_EQ(query_reason(model, "Tanh", "MYDEV"), ": the device has no such operator");
  EXPECT_EQ(query_reason(model, "Relu", "MYDEV"), "MYDEV: ");
  EXPECT_EQ(query_reason(model, "Relu", "MYDEV", {{"MYDEV_OPERATORS", "Add Mul"}}),
            ": MYDEV_OPERATORS does not list it");
  EXPECT_THAT(compile_error(model, "MYDEV"),
              AllOf(HasSubstr("node 'Conv0': Conv takes one group only"),
                    HasSubstr("node 'Tanh2': the device has no such operator")));
  EXPECT_THAT(query_reason(model, "Relu", "FAULTDEV", {{"FAULT", "no_answer"}}),
              HasSubstr("the library of FAULTDEV says nothing about this Relu"));
  EXPECT_THAT(query_reason(model, "Relu", "FAULTDEV", {{"FAULT", "no_query"}}),
              HasSubstr("query_model() failed with code 9: the cable is out"));
}

TEST_F(LibraryDevice, TypesAndSizesThatTheInterfaceLacksAreRefused) {
  ModelMaker maker("typed");
  Value* x = maker.input({2, 3}, ElementType::UInt16);
  maker.output(maker.op("Relu", {maker.op("Cast", {x}, make_attributes({{"to", int64_t{1}}}))}));
  maker.output(maker.op("NonZero", {maker.input({4})}));
  EXPECT_THAT(query_reason(maker.model(), "Cast", "MYDEV"), HasSubstr("no uint16 values"));
  EXPECT_THAT(query_reason(maker.model(), "NonZero", "MYDEV"), HasSubstr("at run time only"));
}

TEST_F(LibraryDevice, UnboundModelsAreQueriedAndCompiledOnceTheyAreBound) {
  ModelMaker maker("open");
  Value* x = maker.op("Relu", {maker.input({kUnknownDim, 3})});
  maker.output(maker.op("Tanh", {x}));
  EXPECT_THAT(query_reason(maker.model(), "Relu", "MYDEV"), HasSubstr("MYDEV: depends on unknown"));
  EXPECT_EQ(query_reason(maker.model(), "Tanh", "MYDEV"), ": the device has no such operator");
  ModelMaker bound("bound");
  bound.output(bound.op("Relu", {bound.input({kUnknownDim, 3})}));
  const auto compiled = compile(bound.model(), "MYDEV");
  ASSERT_NE(compiled, nullptr);
  auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->set_input(0, Tensor::from<float>({2, 3}, {-1, 2, -3, 4, 5, -6})).ok());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(*to_float_vector(request->output(0)), (std::vector<float>{0, 2, 0, 4, 5, 0}));
}

TEST_F(LibraryDevice, CallbacksComeFromItsOwnThread) {
  const auto model = everything();
  auto request = *compile(*model, "MYDEV")->create_infer_request();
  fill(*request, inputs_of(*model));
  std::promise<std::thread::id> thread;
  request->set_callback([&](const Status&) { thread.set_value(std::this_thread::get_id()); });
  ASSERT_TRUE(request->start_async().ok());
  EXPECT_TRUE(request->wait().ok());
  EXPECT_NE(thread.get_future().get(), std::this_thread::get_id());
}

TEST_F(LibraryDevice, ManyRequestsRunAtTheSameTime) {
  const auto model = everything();
  const std::vector<Tensor> expected = expected_of(*model);
  const auto compiled = compile(*model, "MYDEV");
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 8; ++i) {
    requests.push_back(*compiled->create_infer_request());
    fill(*requests.back(), inputs_of(*model));
  }
  for (int round = 0; round < 5; ++round) {
    for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
    for (const auto& request : requests) {
      ASSERT_TRUE(request->wait().ok());
      expect_near(request->output(0), expected[0]);
    }
  }
}

TEST_F(LibraryDevice, TensorsLieInItsMemory) {
  const auto model = everything();
  const auto compiled = compile(*model, "FAULTDEV");
  expect_results_of_ref(*model, *compiled, 1);
  EXPECT_EQ(property("FAULTDEV", "FAULT_OWN_TENSORS"), "3") << "one input, two outputs";
  // Tensors of the application are used as they are.
  auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->set_input(0, inputs_of(*model)[0]).ok());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(property("FAULTDEV", "FAULT_OWN_TENSORS"), "2");
}

TEST_F(LibraryDevice, TensorsOfAnyLayoutGoThroughCopies) {
  const auto model = everything();
  const std::vector<Tensor> expected = expected_of(*model);
  auto request = *compile(*model, "FAULTDEV")->create_infer_request();
  const Tensor input = inputs_of(*model)[0];
  // Rows with a gap behind them, at an address that is not aligned.
  const int64_t row = 6 * sizeof(float) + 4;
  auto memory = *allocate_host_buffer(4 + 24 * row);
  Tensor strided = *Tensor::view(input.desc(), memory, 4, {24 * row, 8 * row, row, sizeof(float)});
  ASSERT_TRUE(copy_tensor(input, strided).ok());
  ASSERT_TRUE(request->set_input(0, strided).ok());
  auto target = *allocate_host_buffer(expected[0].size_bytes() + 4);
  ASSERT_TRUE(request->set_output(0, *Tensor::view(expected[0].desc(), target, 4)).ok());
  for (int run = 0; run < 2; ++run) {
    const Status status = request->infer();
    ASSERT_TRUE(status.ok()) << status.message();
    expect_near(request->output(0), expected[0]);
    EXPECT_EQ(property("FAULTDEV", "FAULT_OWN_TENSORS"), "3") << "the copies are its own, too";
  }
}

TEST_F(LibraryDevice, CancelledExecutionsEndEarly) {
  const auto model = everything();
  auto request = *compile(*model, "FAULTDEV", {{"FAULT", "slow"}, {"FAULT_AFTER", "60000"}})
                      ->create_infer_request();
  ASSERT_TRUE(request->start_async().ok());
  EXPECT_EQ(request->wait_for(std::chrono::milliseconds(20)).code(), StatusCode::TimedOut);
  request->cancel();
  EXPECT_EQ(request->wait().code(), StatusCode::Cancelled);
  // Destroying one that runs cancels it, too.
  ASSERT_TRUE(request->start_async().ok());
}

TEST_F(LibraryDevice, CompleteMayComeOutOfStartAndOutOfCancel) {
  const auto model = everything();
  auto at_once = *compile(*model, "FAULTDEV", {{"FAULT", "at_once"}})->create_infer_request();
  EXPECT_TRUE(at_once->infer().ok());
  const auto compiled = compile(*model, "HETERO:FAULTDEV", {{"FAULT", "in_cancel"}});
  auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->start_async().ok());
  request->cancel();
  const Status status = request->wait();
  EXPECT_EQ(status.code(), StatusCode::Cancelled) << status.message();
}

TEST_F(LibraryDevice, ASecondCompleteOfAnExecutionIsIgnored) {
  const auto model = everything();
  const auto compiled = compile(*model, "FAULTDEV", {{"FAULT", "twice"}});
  auto request = *compiled->create_infer_request();
  int calls = 0;
  request->set_callback([&](const Status&) { ++calls; });
  for (int run = 0; run < 5; ++run) EXPECT_TRUE(request->infer().ok());
  // The last second call.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(calls, 5);
}

TEST_F(LibraryDevice, FailuresHaveTheCodeAndTheReason) {
  const auto model = everything();
  const auto run_error = [&](const Properties& properties) {
    auto request = compile(*model, "FAULTDEV", properties)->create_infer_request();
    return request ? (*request)->infer() : request.error();
  };
  Status status = run_error({{"FAULT", "lost"}});
  EXPECT_EQ(status.code(), StatusCode::DeviceLost);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("FAULTDEV, model 'everything'"),
                                      HasSubstr("code 9: the cable is out")));
  status = run_error({{"FAULT", "code"}, {"FAULT_AFTER", "77"}});
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_THAT(status.message(), HasSubstr("code 77: the library gives no reason"));
  status = run_error({{"FAULT", "no_memory"}});
  EXPECT_EQ(status.code(), StatusCode::OutOfMemory);
  EXPECT_THAT(status.message(), HasSubstr("allocate_memory() failed with code 10: the device is"));
  status = run_error({{"FAULT", "address"}});
  EXPECT_THAT(status.message(), HasSubstr("has to be a multiple of 64"));
  EXPECT_THAT(compile_error(*model, "FAULTDEV", {{"FAULT", "no_compile"}}),
              HasSubstr("compile_model() failed with code 10: the weights do not fit"));
}

TEST_F(LibraryDevice, AnotherViewOfThePortsIsAnError) {
  const auto model = everything();
  EXPECT_THAT(
      compile_error(*model, "FAULTDEV", {{"FAULT", "port_shape"}}),
      AllOf(HasSubstr("took model 'everything' for another"), HasSubstr("its output 0 is")));
  EXPECT_THAT(compile_error(*model, "FAULTDEV", {{"FAULT", "port_count"}}),
              HasSubstr("it has 3 outputs, the model has 2"));
}

TEST_F(LibraryDevice, PropertiesOfAModelAreReadAndChanged) {
  const auto model = everything();
  const auto compiled = compile(*model, "FAULTDEV", {{"FAULT_AFTER", "5"}, {"NUM_STREAMS", "3"}});
  EXPECT_EQ(property(*compiled, "FAULT_AFTER"), "5");
  EXPECT_EQ(property(*compiled, "NUM_STREAMS"), "3");
  EXPECT_EQ(property(*compiled, "FAULT"), "");
  EXPECT_TRUE(compiled->set_property({{"FAULT_AFTER", "6"}}).ok());
  EXPECT_EQ(property(*compiled, "FAULT_AFTER"), "6");
  EXPECT_THAT(message_of(compiled->set_property({{"FAULT", "lost"}})),
              HasSubstr("only FAULT_AFTER changes"));
  EXPECT_THAT(message_of(compile(*model, "MYDEV")->set_property({{"PERF_COUNT", "YES"}})),
              HasSubstr("cannot be changed any more"));
}

TEST_F(LibraryDevice, NodesAreTimed) {
  const auto model = everything();
  auto request = *compile(*model, "MYDEV", {{"PERF_COUNT", "YES"}})->create_infer_request();
  ASSERT_TRUE(request->infer().ok());
  const std::vector<ProfileRow> rows = request->profiling();
  ASSERT_EQ(rows.size(), 9u) << "seven nodes, and Identities that give outputs their names";
  EXPECT_EQ(rows[0].node_name, "Conv0");
  EXPECT_EQ(rows[0].layer_type, "Conv");
  EXPECT_EQ(rows[0].exec_type, "mydev");
  auto plain = *compile(*model, "MYDEV")->create_infer_request();
  ASSERT_TRUE(plain->infer().ok());
  EXPECT_TRUE(plain->profiling().empty());
}

TEST_F(LibraryDevice, ExportedModelsAreImported) {
  const auto model = everything();
  std::stringstream file;
  const auto compiled = compile(*model, "MYDEV", {{"PERF_COUNT", "YES"}});
  ASSERT_TRUE(compiled->export_model(file).ok());
  const auto imported = core_.import_model(file, "MYDEV");
  ASSERT_TRUE(imported) << imported.error().message();
  expect_results_of_ref(*model, **imported);
  EXPECT_EQ((*imported)->name(), "everything");
  EXPECT_EQ((*imported)->inputs()[0].name, compiled->inputs()[0].name);
  EXPECT_EQ(property(**imported, "PERF_COUNT"), "YES");
  // The bytes of one device are nothing to another.
  file.clear();
  file.seekg(0);
  const auto other = core_.import_model(file, "FAULTDEV");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), StatusCode::NotSupported);
  EXPECT_THAT(other.error().message(), HasSubstr("MYDEV"));
}

TEST_F(LibraryDevice, DamagedExportsAreErrors) {
  ModelMaker maker("small");
  maker.output(maker.op("Relu", {maker.input({2, 3})}));
  std::stringstream file;
  ASSERT_TRUE(compile(maker.model(), "MYDEV")->export_model(file).ok());
  const std::string whole = file.str();
  for (size_t i = 0; i < whole.size(); i += 7) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    std::istringstream stream(damaged);
    const auto imported = core_.import_model(stream, "MYDEV");
    // Between the sections are bytes that mean nothing.
    if (imported) continue;
    EXPECT_FALSE(imported.error().message().empty());
  }
  for (size_t size = 0; size + 1 < whole.size(); size += 11) {
    std::istringstream stream(whole.substr(0, size));
    EXPECT_FALSE(core_.import_model(stream, "MYDEV")) << size << " bytes";
  }
}

TEST_F(LibraryDevice, ItsOwnBytesInAFileMayBeAnything) {
  const auto model = everything();
  std::stringstream file;
  ASSERT_TRUE(compile(*model, "MYDEV")->export_model(file).ok());
  const auto exported = ExportedFile::read(file, "MYDEV");
  ASSERT_TRUE(exported) << exported.error().message();
  std::vector<ExportedSection> sections = exported->sections();
  const auto content = std::ranges::find(sections, "content", &ExportedSection::name);
  ASSERT_NE(content, sections.end());
  const std::vector<std::byte> whole(content->content.begin(), content->content.end());
  size_t refused = 0;
  // The head, the values and the steps, with the checksums of what is written.
  for (size_t at = 0; at < std::min<size_t>(whole.size(), 4096); at += 4) {
    for (const auto& word : {std::array{0xff, 0xff, 0xff, 0xff}, std::array{0xff, 0xff, 0xff, 0x7f},
                             std::array{0, 0, 0, 0}, std::array{9, 0, 0, 0}}) {
      std::vector<std::byte> damaged = whole;
      for (size_t i = 0; i < 4; ++i) damaged[at + i] = static_cast<std::byte>(word[i]);
      content->content = damaged;
      std::stringstream changed;
      ASSERT_TRUE(ExportedFile::write(changed, "MYDEV", sections).ok());
      refused += core_.import_model(changed, "MYDEV") ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 500u);
  content->content = std::span(whole).first(whole.size() - 1);
  std::stringstream cut;
  ASSERT_TRUE(ExportedFile::write(cut, "MYDEV", sections).ok());
  EXPECT_THAT(core_.import_model(cut, "MYDEV").error().message(), HasSubstr("another size"));
}

TEST_F(LibraryDevice, PicturesAreConvertedByTheHost) {
  ModelMaker maker("picture");
  Value* x = maker.input({1, 3, 4, 4});
  maker.output(maker.op("Relu", {x}));
  PreprocessDesc preprocess;
  maker.model().set_preprocess(0, preprocess);
  auto request = *compile(maker.model(), "MYDEV")->create_infer_request();
  const Image image = *make_host_image(PixelFormat::RGB, 4, 4);
  std::fill_n(image.planes[0].buffer->host(), 4 * 4 * 3, std::byte{7});
  ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ((*to_float_vector(request->output(0)))[0], 7.0f);
}

}  // namespace
}  // namespace het::custom_testing
