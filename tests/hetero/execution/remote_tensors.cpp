// A context of the application, and tensors of models in memory that the host has to map.
#include "hetero/execution/remote_tensors.h"

#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <thread>

#include "hetero/members/member_context.h"
#include "inference/base/log.h"
#include "tests/hetero/hetero_testing.h"
#include "tests/hetero/wrapped_memory.h"

namespace het::hetero {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// FAST has memory of its own and contexts; it takes no Tanh, which is REF's.
class HeteroRemoteTensors : public HeteroDeviceTest {
 protected:
  void SetUp() override {
    HeteroDeviceTest::SetUp();
    refuse_types(*fast_, {"Tanh"});
    fast_->has_own_memory = true;
    fast_->has_contexts = true;
    const auto context = core_.create_context("FAST", {});
    ASSERT_TRUE(context) << context.error().message();
    context_ = *context;
  }

  std::shared_ptr<CompiledModel> compile_in(const Model& model,
                                            const std::string& devices = "HETERO:FAST,REF",
                                            Properties properties = {}) {
    properties.emplace("HETERO_RETRY_INTERVAL", "0");
    auto compiled = core_.compile_model(model, devices, properties, context_);
    EXPECT_TRUE(compiled) << compiled.error().message();
    return compiled ? *compiled : nullptr;
  }

  /// In memory that counts how often it is mapped.
  Tensor remote(const TensorDesc& desc) {
    return *allocate_wrapped_memory(desc, {[this] {
                                             ++maps_;
                                             return mapping_ ? mapping_() : Status();
                                           },
                                           [this] { ++released_; }});
  }
  Tensor remote_copy(const Tensor& tensor) {
    const Tensor made = remote(tensor.desc());
    Tensor seen = seen_by_device(made);
    EXPECT_TRUE(copy_tensor(tensor, seen).ok());
    return made;
  }
  std::vector<Tensor> expected(const Model& model, const std::vector<Tensor>& inputs) {
    auto request = compile(model, "REF")->create_infer_request();
    return infer(**request, inputs);
  }
  static void expect_same(const Tensor& got, const Tensor& wanted) {
    ASSERT_EQ(to_string(got.desc()), to_string(wanted.desc()));
    EXPECT_EQ(
        std::memcmp(seen_by_device(got).bytes(), seen_by_device(wanted).bytes(), got.size_bytes()),
        0);
  }
  /// The memory that FAST's executions read and wrote, since the last call.
  std::vector<const Buffer*> memory_of_fast() {
    const std::lock_guard lock(fast_->mutex);
    std::vector<const Buffer*> all;
    for (const TracedExecution& execution : fast_->executions) {
      all.insert(all.end(), execution.inputs.begin(), execution.inputs.end());
      all.insert(all.end(), execution.outputs.begin(), execution.outputs.end());
    }
    fast_->executions.clear();
    return all;
  }

  /// Both devices read the input: {Relu, Tanh} -> Add, which both make outputs.
  static std::unique_ptr<Model> shared_input() {
    ModelMaker maker("shared_input");
    Value* x = maker.input({1, 8, 4, 4});
    Value* on_other = maker.op("Tanh", {x});
    maker.output(maker.op("Add", {maker.op("Relu", {x}), on_other}));
    maker.output(maker.op("Tanh", {maker.op("Neg", {on_other})}));
    return maker.model().clone();
  }

  std::shared_ptr<DeviceContext> context_;
  std::atomic<size_t> maps_ = 0;
  std::atomic<size_t> released_ = 0;
  std::function<Status()> mapping_;
};

TEST_F(HeteroRemoteTensors, AContextGoesToItsDeviceOnly) {
  const auto model = diamond();
  const auto compiled = compile_in(*model, "HETERO:FAST,OTHER,REF");
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST OTHER");
  EXPECT_THAT(fast_->compiled_in, AllOf(Contains(context_.get()), Each(context_.get())));
  EXPECT_THAT(other_->compiled_in, AllOf(Contains(nullptr), Each(nullptr)));
  expect_results_of_ref(*model, *compiled);
}

TEST_F(HeteroRemoteTensors, ACompiledModelKeepsItsContext) {
  const auto model = diamond();
  const auto compiled = compile_in(*model, "HETERO:FAST,REF");
  const std::weak_ptr<DeviceContext> kept = context_;
  context_ = nullptr;
  EXPECT_FALSE(kept.expired()) << "later plans are compiled in it";
}

TEST_F(HeteroRemoteTensors, HeteroMakesAContextOfTheFirstDeviceThatHasOne) {
  const auto made = core_.create_context("HETERO:REF,OTHER,FAST", {});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ((*made)->device_name(), "FAST");
  EXPECT_THAT(core_.create_context("HETERO:FAST,REF", {{"D3D", this}}).error().message(),
              AllOf(HasSubstr("cannot make a context for FAST of HETERO"), HasSubstr("'D3D'")));
  EXPECT_THAT(core_.create_context("HETERO:REF,OTHER", {}).error().message(),
              HasSubstr("no device of HETERO:REF,OTHER works in objects of the application"));
  EXPECT_THAT(core_.create_context("HETERO", {}).error().message(), HasSubstr("needs devices"));
}

TEST_F(HeteroRemoteTensors, AContextOfAnotherDeviceIsAnError) {
  const auto compiled = core_.compile_model(*diamond(), "HETERO:OTHER,REF", {}, context_);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), StatusCode::InvalidArgument);
  EXPECT_THAT(compiled.error().message(), HasSubstr("of FAST, which is not in HETERO:OTHER,REF"));
  for (const char* devices : {"MULTI:FAST,REF", "AUTO:FAST,REF"}) {
    const auto refused = core_.compile_model(*diamond(), devices, {}, context_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), StatusCode::NotSupported) << devices;
  }
}

class NamedContext final : public DeviceContext {
 public:
  explicit NamedContext(std::string name) : name_(std::move(name)) {}
  std::string_view device_name() const override { return name_; }

 private:
  const std::string name_;
};

TEST_F(HeteroRemoteTensors, ItsDeviceIsFoundByNameOrByKind) {
  const auto owner_of = [](const std::string& context,
                           const std::vector<std::string>& names) -> std::string {
    std::vector<MemberDevice> members;
    for (const std::string& name : names) members.push_back({name, nullptr, {}});
    const auto shared = std::make_shared<NamedContext>(context);
    const auto found = find_member_context("HETERO", members, shared.get());
    return found ? found->member : found.error().message();
  };
  EXPECT_EQ(owner_of("GPU.1", {"GPU.0", "GPU.1", "CPU"}), "GPU.1");
  EXPECT_EQ(owner_of("GPU", {"CPU", "GPU.0"}), "GPU.0");
  EXPECT_EQ(owner_of("GPU.0", {"CPU", "GPU"}), "GPU");
  EXPECT_THAT(owner_of("GPU.1", {"GPU.0", "CPU"}), HasSubstr("not in HETERO:GPU.0,CPU"));
  EXPECT_THAT(owner_of("GPU", {"GPU.1", "GPU.0"}),
              HasSubstr("has several: make it with Core::create_context() for one of them"));
  NamedContext on_the_stack("GPU");
  EXPECT_THAT(
      find_member_context("HETERO", {{"GPU", nullptr, {}}}, &on_the_stack).error().message(),
      HasSubstr("a shared_ptr owns"));
}

TEST_F(HeteroRemoteTensors, AnInputIsReadInPlaceByItsDeviceAndCopiedForOthers) {
  const auto model = shared_input();
  const auto compiled = compile_in(*model);
  auto request = *compiled->create_infer_request();
  for (unsigned run = 1; run <= 3; ++run) {
    const Tensor x = random_tensor({1, 8, 4, 4}, run);
    const Tensor given = remote_copy(x);
    const std::vector<Tensor> wanted = expected(*model, {x});
    const std::vector<Tensor> got = infer(*request, {given});
    for (size_t i = 0; i < wanted.size(); ++i) expect_same(got[i], wanted[i]);
    EXPECT_THAT(memory_of_fast(), Contains(given.buffer().get()));
    EXPECT_EQ(maps_, run) << "once for all readers on the host";
  }
  // Memory of the host again.
  const Tensor x = random_tensor({1, 8, 4, 4}, 7);
  const std::vector<Tensor> wanted = expected(*model, {x});
  const std::vector<Tensor> got = infer(*request, {x});
  for (size_t i = 0; i < wanted.size(); ++i) expect_same(got[i], wanted[i]);
  EXPECT_EQ(maps_, 3u);
  EXPECT_EQ(released_, 3u) << "nobody reads them any more";
}

TEST_F(HeteroRemoteTensors, OutputsAreWrittenInPlaceByTheirDeviceAndCopiedByOthers) {
  const auto model = shared_input();
  const auto compiled = compile_in(*model);
  auto request = *compiled->create_infer_request();
  const Tensor own = remote(compiled->outputs()[0].desc);
  const Tensor others = remote(compiled->outputs()[1].desc);
  for (unsigned run = 1; run <= 3; ++run) {
    const Tensor x = random_tensor({1, 8, 4, 4}, run);
    ASSERT_TRUE(request->set_input(0, x).ok());
    ASSERT_TRUE(request->set_output(0, own).ok());
    ASSERT_TRUE(request->set_output(1, others).ok());
    const Status status = request->infer();
    ASSERT_TRUE(status.ok()) << status.message();
    const std::vector<Tensor> wanted = expected(*model, {x});
    expect_same(own, wanted[0]);
    expect_same(others, wanted[1]);
    EXPECT_EQ(request->output(1).buffer(), others.buffer());
    EXPECT_THAT(memory_of_fast(),
                AllOf(Contains(own.buffer().get()), Not(Contains(others.buffer().get()))));
    EXPECT_EQ(maps_, run) << "what REF makes";
  }
}

/// Several subgraphs of each device; values between them, an input and a constant are outputs, one
/// of them twice.
TEST_F(HeteroRemoteTensors, AnyOutputMayBeRemote) {
  ModelMaker maker("outputs");
  Value* x = maker.input({1, 8, 4, 4});
  Value* first = maker.op("Relu", {x});
  Value* second = maker.op("Tanh", {first});
  Value* third = maker.op("Neg", {second});
  for (Value* value : {first, second, third, maker.op("Tanh", {third})}) maker.output(value);
  maker.output(x);
  maker.output(maker.constant(random_tensor({2, 3}, 5)));
  maker.output(third);
  const auto model = maker.model().clone();
  const auto compiled = compile_in(*model);
  EXPECT_EQ(property(*compiled, "HETERO_NUMBER_OF_SUBMODELS"), "4");
  auto request = *compiled->create_infer_request();
  // Which are remote, as bits.
  for (const unsigned which : {0x7fu, 0x01u, 0x44u, 0x04u, 0x40u, 0x30u, 0x00u, 0x7fu}) {
    const Tensor x_values = random_tensor({1, 8, 4, 4}, which + 1);
    const bool is_remote_input = which % 3 != 0;
    const Tensor given = is_remote_input ? remote_copy(x_values) : x_values;
    ASSERT_TRUE(request->set_input(0, given).ok());
    for (size_t i = 0; i < 7; ++i) {
      const TensorDesc& desc = compiled->outputs()[i].desc;
      ASSERT_TRUE(
          request->set_output(i, (which >> i & 1) != 0 ? remote(desc) : *Tensor::allocate(desc))
              .ok());
    }
    const Status status = request->infer();
    ASSERT_TRUE(status.ok()) << status.message();
    const std::vector<Tensor> wanted = expected(*model, {x_values});
    for (size_t i = 0; i < 7; ++i) {
      EXPECT_EQ(is_remote(request->output(i)), (which >> i & 1) != 0);
      expect_same(request->output(i), wanted[i]);
    }
  }
}

TEST_F(HeteroRemoteTensors, OneTensorMayGoOnFromModelToModelAndBeReadByManyRequests) {
  const auto model = shared_input();
  const auto compiled = compile_in(*model);
  const auto next = compile_in(*diamond());
  const Tensor x = random_tensor({1, 8, 4, 4}, 3);
  const Tensor between = remote(compiled->outputs()[1].desc);
  auto producer = *compiled->create_infer_request();
  ASSERT_TRUE(producer->set_input(0, x).ok());
  ASSERT_TRUE(producer->set_output(1, between).ok());
  ASSERT_TRUE(producer->infer().ok());
  const std::vector<Tensor> wanted = expected(*model, {expected(*model, {x})[1]});
  std::vector<std::unique_ptr<InferRequest>> readers;
  for (int i = 0; i < 8; ++i) {
    readers.push_back(*compiled->create_infer_request());
    ASSERT_TRUE(readers.back()->set_input(0, between).ok());
  }
  for (const auto& reader : readers) ASSERT_TRUE(reader->start_async().ok());
  for (const auto& reader : readers) {
    const Status status = reader->wait();
    ASSERT_TRUE(status.ok()) << status.message();
    for (size_t i = 0; i < wanted.size(); ++i) expect_same(reader->output(i), wanted[i]);
  }
}

/// As a cl_mem: Busy while it is mapped.
class MappedOnce final : public Buffer {
 public:
  explicit MappedOnce(Tensor content)
      : Buffer(MemoryKind::OpenClBuffer, content.size_bytes(), nullptr, {}),
        content_(std::move(content)) {}
  Result<std::byte*> map(MapAccess) override {
    if (is_mapped_.exchange(true)) return error(StatusCode::Busy, "it is mapped already");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return content_.bytes();
  }
  void unmap() override { is_mapped_ = false; }

 private:
  const Tensor content_;
  std::atomic<bool> is_mapped_ = false;
};

TEST_F(HeteroRemoteTensors, ModelsTakeTurnsToMapOneTensor) {
  const Tensor x = random_tensor({1, 8, 4, 4}, 3);
  const Tensor given = *Tensor::view(x.desc(), std::make_shared<MappedOnce>(x));
  const auto model = diamond();
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 3; ++i) {
    const auto compiled = compile(*model, "HETERO:OTHER,REF");
    for (int k = 0; k < 3; ++k) requests.push_back(*compiled->create_infer_request());
  }
  for (const auto& request : requests) ASSERT_TRUE(request->set_input(0, given).ok());
  for (int run = 0; run < 3; ++run) {
    for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
    for (const auto& request : requests) {
      const Status status = request->wait();
      EXPECT_TRUE(status.ok()) << status.message();
    }
  }
}

TEST_F(HeteroRemoteTensors, AnotherDeviceWithContextsGetsACopy) {
  refuse_types(*other_, {});
  other_->has_own_memory = true;
  other_->has_contexts = true;
  const auto model = shared_input();
  const auto compiled = compile_in(*model, "HETERO:FAST,OTHER");
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "OTHER FAST");
  auto request = *compiled->create_infer_request();
  const Tensor x = random_tensor({1, 8, 4, 4}, 3);
  const Tensor given = remote_copy(x);
  const std::vector<Tensor> wanted = expected(*model, {x});
  const std::vector<Tensor> got = infer(*request, {given});
  for (size_t i = 0; i < wanted.size(); ++i) expect_same(got[i], wanted[i]);
  EXPECT_THAT(memory_of_fast(), Contains(given.buffer().get()));
  for (const TracedExecution& execution : other_->executions) {
    EXPECT_THAT(execution.inputs, Not(Contains(given.buffer().get())));
  }
  EXPECT_EQ(maps_, 1u);
}

TEST_F(HeteroRemoteTensors, AStartDoesNotWaitForMemory) {
  std::promise<void> may_map;
  std::shared_future<void> opened = may_map.get_future().share();
  mapping_ = [opened] {
    opened.wait();
    return Status();
  };
  const auto compiled = compile_in(*shared_input());
  auto request = *compiled->create_infer_request();
  auto cancelled = *compiled->create_infer_request();
  const Tensor x = random_tensor({1, 8, 4, 4}, 3);
  const std::vector<Tensor> wanted = expected(*shared_input(), {x});
  ASSERT_TRUE(request->set_input(0, remote_copy(x)).ok());
  ASSERT_TRUE(cancelled->set_input(0, remote_copy(x)).ok());
  ASSERT_TRUE(request->start_async().ok());
  ASSERT_TRUE(cancelled->start_async().ok());
  EXPECT_EQ(request->wait_for(std::chrono::milliseconds(20)).code(), StatusCode::TimedOut);
  cancelled->cancel();
  may_map.set_value();
  const Status status = request->wait();
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(request->output(0), wanted[0]);
  EXPECT_EQ(cancelled->wait().code(), StatusCode::Cancelled);
  EXPECT_TRUE(cancelled->infer().ok());
}

TEST_F(HeteroRemoteTensors, WithoutAContextAnInputIsCopiedForDevicesThatTakeHostMemoryOnly) {
  const auto model = diamond();
  const auto compiled = compile(*model, "HETERO:OTHER,REF");
  auto request = *compiled->create_infer_request();
  const Tensor x = random_tensor({1, 8, 4, 4}, 3);
  expect_same(infer(*request, {remote_copy(x)})[0], expected(*model, {x})[0]);
  EXPECT_EQ(maps_, 1u);
}

TEST_F(HeteroRemoteTensors, ModelsWithUnboundShapesWorkInAContext) {
  ModelMaker maker("unbound");
  Value* x = maker.input({1, kUnknownDim});
  maker.output(maker.op("Add", {maker.op("Relu", {x}), maker.op("Tanh", {x})}));
  const auto model = maker.model().clone();
  const auto compiled = compile_in(*model);
  EXPECT_THAT(fast_->compiled_in, Each(context_.get()));
  auto request = *compiled->create_infer_request();
  for (const int64_t size : {3, 40}) {
    const Tensor values = random_tensor({1, size}, 4);
    const Tensor given = remote_copy(values);
    expect_same(infer(*request, {given})[0], expected(*model, {values})[0]);
    EXPECT_THAT(memory_of_fast(), Contains(given.buffer().get()));
  }
  EXPECT_THAT(fast_->compiled_in, AllOf(Contains(context_.get()), Each(context_.get())));
}

/// The device of the context is lost.
class HeteroLostContext : public HeteroRemoteTensors {
 protected:
  void SetUp() override {
    HeteroRemoteTensors::SetUp();
    fast_->outcome = [this](size_t) {
      return broken_ ? error(StatusCode::DeviceLost, "the link is down") : Status();
    };
    fast_->compiling = [this](const Model&) {
      return broken_ ? error(StatusCode::DeviceLost, "the link is down") : Status();
    };
  }
  std::atomic<bool> broken_ = false;
};

TEST_F(HeteroLostContext, TheOthersGoOnWithWhatCanBeMapped) {
  const auto model = shared_input();
  const auto compiled = compile_in(*model);
  auto request = *compiled->create_infer_request();
  const Tensor x = random_tensor({1, 8, 4, 4}, 3);
  const Tensor given = remote_copy(x);
  const Tensor out = remote(compiled->outputs()[0].desc);
  const std::vector<Tensor> wanted = expected(*model, {x});
  ASSERT_TRUE(request->set_input(0, given).ok());
  ASSERT_TRUE(request->set_output(0, out).ok());
  ASSERT_TRUE(request->infer().ok());
  broken_ = true;
  for (int run = 0; run < 3; ++run) {
    std::memset(seen_by_device(out).bytes(), 0, out.size_bytes());
    const Status status = request->infer();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
    expect_same(out, wanted[0]);
    expect_same(request->output(1), wanted[1]);
  }
  uint64_t next = 0;
  EXPECT_EQ(compiled->device_events(next).size(), 1u);
}

/// FAST fails behind results that the host has: what is left over takes the application's tensors.
TEST_F(HeteroLostContext, ARequestGoesOnBehindItsResultsWithTheApplicationsTensors) {
  ModelMaker maker("late");
  Value* x = maker.input({1, 8, 4, 4});
  Value* early = maker.op("Tanh", {x});
  maker.output(maker.op("Add", {maker.op("Relu", {early}), x}));
  const auto model = maker.model().clone();
  const auto compiled = compile_in(*model);
  auto request = *compiled->create_infer_request();
  const Tensor values = random_tensor({1, 8, 4, 4}, 3);
  const Tensor given = remote_copy(values);
  const Tensor out = remote(compiled->outputs()[0].desc);
  ASSERT_TRUE(request->set_input(0, given).ok());
  ASSERT_TRUE(request->set_output(0, out).ok());
  broken_ = true;
  const Status status = request->infer();
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(out, expected(*model, {values})[0]);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
}

TEST_F(HeteroLostContext, WhatCannotBeMappedEndsTheRequestAndNothingLeaks) {
  {
    const auto compiled = compile_in(*shared_input());
    auto request = *compiled->create_infer_request();
    const Tensor x = random_tensor({1, 8, 4, 4}, 3);
    mapping_ = [this] {
      return broken_ ? error(StatusCode::DeviceLost, "the memory is gone") : Status();
    };
    fast_->before = [this] { broken_ = true; };
    ASSERT_TRUE(request->set_input(0, remote_copy(x)).ok());
    for (int run = 0; run < 2; ++run) {
      const Status status = request->infer();
      EXPECT_EQ(status.code(), StatusCode::DeviceLost);
      EXPECT_THAT(status.message(),
                  AllOf(HasSubstr("input 'x0'"), HasSubstr("float32[1,8,4,4]"),
                        HasSubstr("to the host"), HasSubstr("the memory is gone")));
    }
    // Tensors of the host go on.
    ASSERT_TRUE(request->set_input(0, x).ok());
    ASSERT_TRUE(request->set_output(0, remote(compiled->outputs()[0].desc)).ok());
    Status status = request->infer();
    EXPECT_THAT(status.message(), AllOf(HasSubstr("output "), HasSubstr("the memory is gone")));
    ASSERT_TRUE(request->set_output(0, *Tensor::allocate(compiled->outputs()[0].desc)).ok());
    status = request->infer();
    EXPECT_TRUE(status.ok()) << status.message();
    expect_same(request->output(0), expected(*shared_input(), {x})[0]);
  }
  EXPECT_EQ(released_, 2u);
  EXPECT_EQ(fast_->live_models, 0u);
  EXPECT_EQ(context_.use_count(), 1);
}

}  // namespace
}  // namespace het::hetero
