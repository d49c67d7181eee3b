#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "devices/gpu/gpu_compiled_model.h"
#include "devices/gpu/memory/application_context.h"
#include "tests/devices/gpu/gpu_child_models.h"
#include "tests/devices/gpu/gpu_testing.h"

/// Memory that host and device share, and the application's own cl_mem.
namespace het::gpu_testing {
namespace {

constexpr size_t kBytes = 4 * kChainElements;

class GpuMemory : public GpuTest {
 protected:
  static size_t copies(const CompiledModel& model) {
    return dynamic_cast<const gpu::GpuCompiledModel&>(model).context()->copies();
  }
  /// Copies of one execution of a model with one output.
  static size_t copies_of(InferRequest& request, float phase = 0.0f) {
    const size_t before = copies(request.compiled_model());
    const Status status = run_and_check(request, phase);
    EXPECT_TRUE(status.ok()) << status.message();
    return copies(request.compiled_model()) - before;
  }
  static bool is_unified() { return gpu::list_gpus(true).front().unified_memory; }
};

TEST_F(GpuMemory, TensorsOfRequestsAreShared) {
  if (!is_unified()) GTEST_SKIP() << "host and device have memory of their own";
  const auto request = *compile(*chains(1))->create_infer_request();
  EXPECT_EQ(copies_of(*request), 0u);
  EXPECT_EQ(copies_of(*request, 1.0f), 0u);
}

/// Numbers of memory objects in the order in which the driver lets them go, perhaps in a thread of
/// its own and later.
class Departures {
 public:
  void watch(const gpu::Memory& memory, size_t number) {
    notes_.push_back({number, this});
    const auto note = [](cl_mem, void* data) {
      const auto* const known = static_cast<const Note*>(data);
      const std::lock_guard lock(known->to->mutex_);
      known->to->gone_.push_back(known->number);
      known->to->change_.notify_all();
    };
    EXPECT_EQ(clSetMemObjectDestructorCallback(memory->get(), note, &notes_.back()), CL_SUCCESS);
  }
  std::vector<size_t> first(size_t count) {
    std::unique_lock lock(mutex_);
    change_.wait_for(lock, std::chrono::seconds(10), [&] { return gone_.size() >= count; });
    return gone_;
  }

 private:
  struct Note {
    size_t number;
    Departures* to;
  };
  std::deque<Note> notes_;
  std::mutex mutex_;
  std::condition_variable change_;
  std::vector<size_t> gone_;
};

TEST_F(GpuMemory, PartsOfABufferGoLastFirst) {
  const std::shared_ptr<gpu::Context> context = *gpu::Context::create(*gpu::find_gpu(0, true));
  const size_t step = context->hardware().address_alignment;
  gpu::Memory whole = *context->allocate(4 * step);
  Departures departures;
  std::vector<gpu::Memory> parts;
  for (size_t i = 0; i < 4; ++i) {
    parts.push_back(*context->part(whole, i * step, step));
    departures.watch(parts[i], i);
  }
  whole.reset();
  for (const size_t i : {3, 0, 1}) parts[i].reset();
  EXPECT_EQ(departures.first(1), (std::vector<size_t>{3})) << "older parts went before a newer one";
  parts[2].reset();
  EXPECT_EQ(departures.first(4), (std::vector<size_t>{3, 2, 1, 0}));
}

TEST_F(GpuMemory, AnInputWithoutElementsIsNotSent) {
  ModelMaker maker;
  Value* x = maker.input({2, 3});
  maker.input({0});
  maker.output(maker.op("Neg", {x}));
  compare(maker.model());
}

TEST_F(GpuMemory, PagesOfTheApplicationAreShared) {
  if (!is_unified()) GTEST_SKIP() << "host and device have memory of their own";
  // 4,096 elements, since whole cache lines must be the tensor's.
  ModelMaker maker;
  maker.output(maker.op("Neg", {maker.input({1, 4096})}));
  const auto request = *compile(maker.model())->create_infer_request();
  const TensorDesc desc{ElementType::Float32, {1, 4096}};
  const auto pages = [&](size_t offset) {
    auto* const address = static_cast<std::byte*>(std::aligned_alloc(4096, 16384 + 4096));
    return *Tensor::wrap(desc, address + offset, 16384, [address] { std::free(address); });
  };
  for (const bool is_new : {true, true, false}) {
    if (is_new) {
      ASSERT_TRUE(request->set_input(0, pages(0)).ok());
      ASSERT_TRUE(request->set_output(0, pages(0)).ok());
    }
    float* const x = request->input(0).data<float>();
    for (int k = 0; k < 4096; ++k) x[k] = static_cast<float>(is_new ? k : k + 7);
    const size_t before = copies(request->compiled_model());
    const Status status = request->infer();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(copies(request->compiled_model()) - before, 0u);
    for (int k = 0; k < 4096; ++k) ASSERT_EQ(request->output(0).data<float>()[k], -x[k]) << k;
  }
  ASSERT_TRUE(request->set_input(0, pages(64)).ok());
  ASSERT_TRUE(request->set_output(0, pages(4)).ok());
  std::fill_n(request->input(0).data<float>(), 4096, 3.0f);
  const size_t before = copies(request->compiled_model());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(copies(request->compiled_model()) - before, 2u);
  EXPECT_EQ(request->output(0).data<float>()[4095], -3.0f);
}

TEST_F(GpuMemory, OtherHostMemoryIsCopied) {
  const auto request = *compile(*chains(1))->create_infer_request();
  const TensorDesc desc{ElementType::Float32, {1, kChainElements}};
  ASSERT_TRUE(request->set_input(0, *Tensor::allocate(desc)).ok());
  ASSERT_TRUE(request->set_output(0, *Tensor::allocate(desc)).ok());
  EXPECT_EQ(copies_of(*request), 2u);
}

/// A model in a cl_context of the application.
class GpuApplication : public GpuMemory {
 protected:
  void SetUp() override {
    GpuMemory::SetUp();
    if (device_ == nullptr) return;
    hardware_ = gpu::list_gpus(true).front();
    cl_int code = CL_SUCCESS;
    application_ =
        gpu::ContextHandle(clCreateContext(nullptr, 1, &hardware_.device, nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    queue_ = gpu::QueueHandle(clCreateCommandQueue(application_.get(), hardware_.device, 0, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const auto context =
        device_->create_context({{"cl_context", application_.get()}, {"cl_queue", queue_.get()}});
    ASSERT_TRUE(context) << context.error().message();
    context_ = *context;
    const auto model = device_->compile_model(*chains(1), {}, context_.get());
    ASSERT_TRUE(model) << model.error().message();
    model_ = *model;
  }

  gpu::BufferHandle buffer(size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE) const {
    cl_int code = CL_SUCCESS;
    gpu::BufferHandle made(clCreateBuffer(application_.get(), flags, bytes, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  Result<Tensor> wrapped(cl_mem memory, void* queue, std::function<void()> release = {}) const {
    return context_->wrap({ElementType::Float32, {1, kChainElements}}, OpenClHandle{memory, queue},
                          std::move(release));
  }
  static cl_uint references(cl_mem memory) {
    cl_uint count = 0;
    clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, nullptr);
    return count;
  }

  gpu::Hardware hardware_;
  gpu::ContextHandle application_;
  gpu::QueueHandle queue_;
  std::shared_ptr<DeviceContext> context_;
  std::shared_ptr<CompiledModel> model_;
};

TEST_F(GpuApplication, BuffersGoInAndOutWithoutACopyInTheOrderOfTheQueue) {
  const gpu::BufferHandle in = buffer(kBytes);
  const gpu::BufferHandle out = buffer(kBytes);
  {
    const auto request = *model_->create_infer_request();
    ASSERT_TRUE(request->set_input(0, *wrapped(in.get(), queue_.get())).ok());
    ASSERT_TRUE(request->set_output(0, *wrapped(out.get(), queue_.get())).ok());
    std::vector<float> values(kChainElements);
    for (int run = 1; run <= 20; ++run) {
      // Nothing waits on the host between the commands.
      const float value = static_cast<float>(run % 2 == 0 ? run : -run);
      clEnqueueFillBuffer(queue_.get(), in.get(), &value, sizeof value, 0, kBytes, 0, nullptr,
                          nullptr);
      ASSERT_TRUE(request->start_async().ok());
      ASSERT_EQ(clEnqueueReadBuffer(queue_.get(), out.get(), CL_TRUE, 0, kBytes, values.data(), 0,
                                    nullptr, nullptr),
                CL_SUCCESS);
      EXPECT_EQ(values[0], value < 0 ? value * 0.5f : value);
      EXPECT_EQ(values[kChainElements - 1], values[0]);
      ASSERT_TRUE(request->wait().ok());
    }
    EXPECT_EQ(copies(*model_), 0u);
  }
  model_ = nullptr;
  EXPECT_EQ(references(in.get()), 1u);
  EXPECT_EQ(references(out.get()), 1u);
}

TEST_F(GpuApplication, WithoutAQueueTheApplicationOrders) {
  const gpu::BufferHandle in = buffer(kBytes);
  const auto request = *model_->create_infer_request();
  int released = 0;
  ASSERT_TRUE(request->set_input(0, *wrapped(in.get(), nullptr, [&] { ++released; })).ok());
  const float value = -8.0f;
  clEnqueueFillBuffer(queue_.get(), in.get(), &value, sizeof value, 0, kBytes, 0, nullptr, nullptr);
  clFinish(queue_.get());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(request->output(0).data<float>()[17], -4.0f);
  EXPECT_EQ(released, 0);
  ASSERT_TRUE(
      request->set_input(0, *Tensor::allocate({ElementType::Float32, {1, kChainElements}})).ok());
  EXPECT_EQ(released, 1);
}

TEST_F(GpuApplication, PartsOfBuffersAreUsedOrCopied) {
  const size_t aligned = hardware_.address_alignment;
  const gpu::BufferHandle memory = buffer(2 * kBytes + aligned + 4096);
  const auto request = *model_->create_infer_request();
  const auto whole = *context_->wrap({ElementType::Float32, {1}}, OpenClHandle{memory.get()});
  const TensorDesc desc{ElementType::Float32, {1, kChainElements}};
  for (const size_t offset : {aligned, aligned + 4}) {
    ASSERT_TRUE(request->set_input(0, *Tensor::view(desc, whole.buffer(), offset)).ok());
    const size_t out_at = (offset + kBytes + aligned - 1) / aligned * aligned + offset % aligned;
    ASSERT_TRUE(request->set_output(0, *Tensor::view(desc, whole.buffer(), out_at)).ok());
    const float value = -2.0f;
    clEnqueueFillBuffer(queue_.get(), memory.get(), &value, sizeof value, offset, kBytes, 0,
                        nullptr, nullptr);
    clFinish(queue_.get());
    const Status status = request->infer();
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<float> values(kChainElements);
    clEnqueueReadBuffer(queue_.get(), memory.get(), CL_TRUE, out_at, kBytes, values.data(), 0,
                        nullptr, nullptr);
    EXPECT_EQ(values[0], -1.0f);
    EXPECT_EQ(values[kChainElements - 1], -1.0f);
  }
  EXPECT_EQ(copies(*model_), 0u);
}

TEST_F(GpuApplication, PicturesAreConvertedIntoAClMem) {
  ModelMaker maker;
  const TensorDesc desc{ElementType::Float32, {1, 3, 16, 16}};
  maker.output(maker.op("Identity", {maker.input(desc.shape)}));
  const PreprocessDesc preprocessing;
  maker.model().set_preprocess(0, preprocessing);
  const auto compiled = device_->compile_model(maker.model(), {}, context_.get());
  ASSERT_TRUE(compiled) << compiled.error().message();
  const auto request = *(*compiled)->create_infer_request();
  const Tensor input = *context_->allocate(desc);
  ASSERT_TRUE(request->set_input(0, input).ok());
  const Image image = *make_host_image(PixelFormat::NV12, 40, 30);
  std::fill_n(image.planes[0].buffer->host(), image.planes[0].buffer->size_bytes(), std::byte{90});
  ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
  const Status status = request->infer();
  ASSERT_TRUE(status.ok()) << status.message();
  Tensor wanted = *Tensor::allocate(desc);
  ASSERT_TRUE(preprocess_reference(image, image.full(), preprocessing, wanted).ok());
  compare_tensors(request->output(0), wanted, 1e-6f, 0);
}

TEST_F(GpuApplication, MapBringsTheContentToTheHost) {
  const Tensor tensor = *context_->allocate({ElementType::Float32, {1, kChainElements}});
  EXPECT_EQ(tensor.memory_kind(), MemoryKind::OpenClBuffer);
  EXPECT_EQ(tensor.bytes(), nullptr);
  const auto request = *model_->create_infer_request();
  fill_input(*request);
  ASSERT_TRUE(request->set_output(0, tensor).ok());
  ASSERT_TRUE(request->infer().ok());
  const auto mapped = tensor.buffer()->map(MapAccess::Read);
  ASSERT_TRUE(mapped) << mapped.error().message();
  EXPECT_EQ(reinterpret_cast<const float*>(*mapped)[0], 0.0f);
  EXPECT_EQ(reinterpret_cast<const float*>(*mapped)[1], chain_input(1));
  EXPECT_EQ(tensor.buffer()->map(MapAccess::Read).error().code(), StatusCode::Busy);
  tensor.buffer()->unmap();
}

TEST_F(GpuApplication, WrongParametersAndMemoryAreRefused) {
  const auto code_of = [](const auto& result) {
    return result ? StatusCode::Ok : result.error().code();
  };
  void* const context = application_.get();
  EXPECT_EQ(code_of(device_->create_context({{"D3D_DEVICE", context}})),
            StatusCode::InvalidArgument);
  EXPECT_EQ(code_of(device_->create_context({{"cl_context", context}, {"VADisplay", context}})),
            StatusCode::InvalidArgument);
  EXPECT_EQ(code_of(device_->create_context({{"cl_queue", queue_.get()}})),
            StatusCode::InvalidArgument);
  EXPECT_EQ(code_of(device_->create_context({{"cl_context", nullptr}})),
            StatusCode::InvalidArgument);
  EXPECT_EQ(code_of(device_->create_context({{"cl_context", context}})), StatusCode::Ok);
  EXPECT_EQ(code_of(device_->create_context({})), StatusCode::Ok);

  const auto own = *device_->create_context({});
  const gpu::BufferHandle small = buffer(64);
  const gpu::BufferHandle constant = buffer(kBytes, CL_MEM_READ_ONLY);
  const TensorDesc desc{ElementType::Float32, {1, kChainElements}};
  EXPECT_EQ(code_of(wrapped(small.get(), nullptr)), StatusCode::InvalidArgument);
  EXPECT_EQ(code_of(wrapped(nullptr, nullptr)), StatusCode::InvalidArgument);
  EXPECT_EQ(code_of(own->wrap(desc, OpenClHandle{constant.get()})), StatusCode::InvalidArgument);
  EXPECT_EQ(code_of(context_->wrap(desc, VaSurfaceHandle{})), StatusCode::InvalidArgument);

  const auto request = *model_->create_infer_request();
  ASSERT_TRUE(request->set_output(0, *wrapped(constant.get(), nullptr)).ok());
  Status status = request->infer();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << status.message();
  const auto foreign = *compile(*chains(1))->create_infer_request();
  ASSERT_TRUE(foreign->set_input(0, *wrapped(constant.get(), queue_.get())).ok());
  status = foreign->infer();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << status.message();
  EXPECT_NE(status.message().find("another cl_context"), std::string::npos) << status.message();
  // The queue goes on.
  EXPECT_EQ(clFinish(queue_.get()), CL_SUCCESS);
}

}  // namespace
}  // namespace het::gpu_testing
