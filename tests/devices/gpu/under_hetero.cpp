/// A cl_context of the application in a model on several devices.
#include <gmock/gmock.h>

#include "devices/gpu/memory/context.h"
#include "devices/gpu/opencl/hardware.h"
#include "tests/devices/core_testing.h"
#include "tests/devices/device_testing.h"

namespace het::gpu_testing {
namespace {

using namespace het::device_testing;
using testing::HasSubstr;

constexpr const char* kDevices = "HETERO:GPU,CPU";
const TensorDesc kDesc{ElementType::Float32, {1, 8, 16, 16}};

class GpuUnderHetero : public CoreTest {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    if (gpu::list_gpus(true).empty()) GTEST_SKIP() << "OpenCL finds no device";
    const cl_device_id device = gpu::list_gpus(true).front().device;
    cl_int code = CL_SUCCESS;
    application_ =
        gpu::ContextHandle(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    queue_ = gpu::QueueHandle(clCreateCommandQueue(application_.get(), device, 0, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const auto context = core_.create_context(
        kDevices, {{"cl_context", application_.get()}, {"cl_queue", queue_.get()}});
    ASSERT_TRUE(context) << context.error().message();
    context_ = *context;
  }

  gpu::BufferHandle buffer() const {
    cl_int code = CL_SUCCESS;
    gpu::BufferHandle made(clCreateBuffer(application_.get(), CL_MEM_READ_WRITE,
                                          *dense_size_bytes(kDesc), nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  void write(cl_mem memory, const Tensor& values) const {
    // Nothing waits: HETERO runs behind what the queue has.
    EXPECT_EQ(clEnqueueWriteBuffer(queue_.get(), memory, CL_FALSE, 0, values.size_bytes(),
                                   values.bytes(), 0, nullptr, nullptr),
              CL_SUCCESS);
  }
  Tensor read(cl_mem memory) const {
    Tensor values = *Tensor::allocate(kDesc);
    EXPECT_EQ(clEnqueueReadBuffer(queue_.get(), memory, CL_TRUE, 0, values.size_bytes(),
                                  values.bytes(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }
  Tensor wrapped(cl_mem memory) const {
    return *context_->wrap(kDesc, OpenClHandle{memory, queue_.get()});
  }
  static void expect_near(const Tensor& got, const Tensor& wanted) {
    ASSERT_EQ(to_string(got.desc()), to_string(wanted.desc()));
    const std::vector<float> values = *to_float_vector(got);
    EXPECT_THAT(values, testing::Pointwise(testing::FloatNear(1e-5f), *to_float_vector(wanted)));
  }
  static cl_uint references(cl_mem memory) {
    cl_uint count = 0;
    clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, nullptr);
    return count;
  }

  /// GPU and CPU read the input, and each makes an output: {Relu, Tanh} -> Add, Tanh -> Neg ->
  /// Tanh.
  static std::unique_ptr<Model> shared_input() {
    ModelMaker maker("shared_input");
    Value* x = maker.input(kDesc.shape);
    Value* on_cpu = maker.op("Tanh", {x});
    maker.output(maker.op("Add", {maker.op("Relu", {x}), on_cpu}));
    maker.output(maker.op("Tanh", {maker.op("Neg", {on_cpu})}));
    return maker.model().clone();
  }
  const Properties properties_{
      {"HETERO_AFFINITY", R"({"rules": [{"type": "Tanh", "device": "CPU"}]})"}};

  gpu::ContextHandle application_;
  gpu::QueueHandle queue_;
  std::shared_ptr<DeviceContext> context_;
};

TEST_F(GpuUnderHetero, BuffersGoInAndOut) {
  const auto model = shared_input();
  const gpu::BufferHandle in = buffer();
  const gpu::BufferHandle out = buffer();
  const gpu::BufferHandle other = buffer();
  {
    const auto compiled = core_.compile_model(*model, kDevices, properties_, context_);
    ASSERT_TRUE(compiled) << compiled.error().message();
    EXPECT_EQ(property(**compiled, "EXECUTION_DEVICES"), "CPU GPU");
    const auto request = *(*compiled)->create_infer_request();
    const auto ref = *compile(*model, "REF")->create_infer_request();
    for (unsigned run = 0; run < 4; ++run) {
      const Tensor x = random_tensor(kDesc.shape, run);
      write(in.get(), x);
      ASSERT_TRUE(request->set_input(0, wrapped(in.get())).ok());
      ASSERT_TRUE(request->set_output(0, wrapped(out.get())).ok());
      ASSERT_TRUE(request->set_output(1, wrapped(other.get())).ok());
      const Status status = request->infer();
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_TRUE(ref->set_input(0, x).ok());
      ASSERT_TRUE(ref->infer().ok());
      expect_near(read(out.get()), ref->output(0));
      expect_near(read(other.get()), ref->output(1));
    }
  }
  for (const auto* memory : {&in, &out, &other}) EXPECT_EQ(references(memory->get()), 1u);
}

TEST_F(GpuUnderHetero, ManyRequestsReadOneBuffer) {
  const auto model = shared_input();
  const auto compiled = core_.compile_model(*model, kDevices, properties_, context_);
  ASSERT_TRUE(compiled) << compiled.error().message();
  const gpu::BufferHandle in = buffer();
  const Tensor x = random_tensor(kDesc.shape, 9);
  write(in.get(), x);
  const Tensor given = wrapped(in.get());
  const auto ref = *compile(*model, "REF")->create_infer_request();
  ASSERT_TRUE(ref->set_input(0, x).ok());
  ASSERT_TRUE(ref->infer().ok());
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 6; ++i) {
    requests.push_back(*(*compiled)->create_infer_request());
    ASSERT_TRUE(requests.back()->set_input(0, given).ok());
  }
  for (int run = 0; run < 5; ++run) {
    for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
    for (const auto& request : requests) {
      const Status status = request->wait();
      ASSERT_TRUE(status.ok()) << status.message();
      expect_near(request->output(0), ref->output(0));
    }
  }
}

TEST_F(GpuUnderHetero, MemoryOfAnotherContextIsAnErrorOfTheRequest) {
  const auto compiled = core_.compile_model(*shared_input(), kDevices, properties_);
  ASSERT_TRUE(compiled) << compiled.error().message();
  const gpu::BufferHandle in = buffer();
  const auto request = *(*compiled)->create_infer_request();
  ASSERT_TRUE(request->set_input(0, wrapped(in.get())).ok());
  const Status status = request->infer();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("another cl_context than the compiled model"));
  uint64_t next = 0;
  EXPECT_TRUE((*compiled)->device_events(next).empty()) << "no device is to blame";
}

}  // namespace
}  // namespace het::gpu_testing
