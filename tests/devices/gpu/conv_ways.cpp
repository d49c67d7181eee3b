#include "devices/gpu/fuse.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/plan_execution.h"
#include "inference/passes/prepare_model.h"
#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

/// Ways of computing that the rule or measurements would not take here.
class GpuConvWays : public GpuTest {
 protected:
  /// The kernels for GPUs on whatever device there is.
  std::string check_tiled(const Model& model, float tolerance,
                          ElementType stored = ElementType::Float32) {
    gpu::PlanOptions options;
    options.stored_type = stored;
    options.local_tiles = true;
    return check(model, tolerance, options);
  }

  /// Runs a model of float32 by a plan with these options and compares with REF. The kernels that
  /// ran.
  std::string check(const Model& model, float tolerance, const gpu::PlanOptions& options) {
    const std::vector<Tensor> inputs = random_inputs(model);
    Result<Tensor> got = error(StatusCode::Internal, "not run");
    std::string kernels;
    const Status status = run(model, options, inputs, got, kernels);
    EXPECT_TRUE(status.ok()) << status.message();
    auto reference = ref_->compile_model(model, {}, nullptr);
    EXPECT_TRUE(reference);
    if (!got || !reference) return {};
    compare_tensors(*got, infer(**reference, inputs).front(), tolerance, 0);
    return kernels;
  }

 private:
  static Status run(const Model& model, const gpu::PlanOptions& options,
                    const std::vector<Tensor>& inputs, Result<Tensor>& got, std::string& kernels) {
    HET_ASSIGN(const auto context, gpu::Context::create(gpu::list_gpus(true).front()));
    const std::unique_ptr<Model> prepared = model.clone();
    HET_TRY(prepare_model(*prepared));
    HET_TRY(gpu::fuse(*prepared));
    HET_ASSIGN(const gpu::Plan plan, gpu::PlanBuilder(*prepared, context, options).build());
    HET_ASSIGN(const auto execution, gpu::PlanExecution::create(plan, *context));
    HET_ASSIGN(const gpu::QueueHandle queue, context->create_queue(false));
    std::vector<gpu::Memory> memories;
    for (size_t i = 0; i < inputs.size(); ++i) {
      HET_ASSIGN(gpu::Memory memory, context->upload(inputs[i].bytes(), inputs[i].size_bytes()));
      HET_TRY(execution->bind_input(i, memory->get()));
      memories.push_back(std::move(memory));
    }
    HET_ASSIGN(Tensor output, Tensor::allocate(prepared->outputs()[0].value->desc()));
    HET_ASSIGN(const gpu::Memory memory, context->allocate(output.size_bytes()));
    HET_TRY(execution->bind_output(0, memory->get()));
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      HET_TRY(execution->enqueue(queue.get(), i, nullptr));
      kernels += plan.steps[i].implementation + " ";
    }
    HET_TRY(gpu::cl_status(
        clEnqueueReadBuffer(queue.get(), memory->get(), CL_TRUE, 0, output.size_bytes(),
                            output.bytes(), 0, nullptr, nullptr),
        "read the output"));
    got = std::move(output);
    return {};
  }
};

TEST_F(GpuConvWays, TiledWindowsTailsAndRests) {
  for (const auto& [ic, oc, kernel] : {std::tuple{5, 3, 1}, {37, 70, 3}, {18, 64, 5}, {3, 66, 3}}) {
    ModelMaker maker;
    Value* x = maker.input({2, ic, 9, 11});
    Value* other = maker.input({2, oc, 9, 11});
    maker.output(maker.op("Relu", {maker.op("Add", {maker.conv(x, ic, oc, kernel), other})}));
    EXPECT_NE(check_tiled(maker.model(), 1e-5f).find("conv_tiled"), std::string::npos);
    check_tiled(maker.model(), 4e-3f, ElementType::Float16);
  }
}

TEST_F(GpuConvWays, TiledStridesDilationsAndGroups) {
  ModelMaker maker;
  Value* x = maker.input({2, 24, 10, 13});
  Value* w = maker.random({30, 8, 3, 2}, 0.2f);
  maker.output(maker.op("Conv", {x, w, maker.random({30})},
                        make_attributes({{"group", int64_t{3}},
                                         {"strides", Ints{2, 1}},
                                         {"dilations", Ints{1, 3}},
                                         {"pads", Ints{0, 2, 3, 1}}})));
  EXPECT_NE(check_tiled(maker.model(), 1e-5f).find("conv_tiled"), std::string::npos);
}

TEST_F(GpuConvWays, TiledWinograd) {
  ModelMaker maker;
  maker.output(maker.conv(maker.input({1, 64, 28, 30}), 64, 80, 3));
  EXPECT_NE(check_tiled(maker.model(), 2e-5f).find("winograd"), std::string::npos);
}

TEST_F(GpuConvWays, TiledTransposed) {
  ModelMaker maker;
  Value* x = maker.input({2, 20, 6, 7});
  Value* w = maker.random({20, 10, 3, 3}, 0.2f);
  maker.output(maker.op("ConvTranspose", {x, w},
                        make_attributes({{"strides", Ints{2, 2}}, {"group", int64_t{2}}})));
  EXPECT_NE(check_tiled(maker.model(), 1e-5f).find("conv_tiled"), std::string::npos);
}

TEST_F(GpuConvWays, EveryWayGivesTheSame) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 16, 15, 17}), 16, 32);
  Value* y = maker.conv(maker.op("Relu", {x}), 32, 48, 3);
  maker.output(maker.op("Sigmoid", {y}));
  for (const auto& [way, kernel] : {std::pair{"direct_6x2", "conv_6x2"},
                                    {"direct_4x3", "conv_4x3"},
                                    {"direct_12x1", "conv_12x1"},
                                    {"winograd2", "winograd2_source"},
                                    {"winograd4", "winograd4_source"}}) {
    gpu::PlanOptions options;
    options.convolution = way;
    EXPECT_NE(check(maker.model(), 1e-5f, options).find(kernel), std::string::npos) << way;
  }
}

TEST_F(GpuConvWays, WinogradStaysWithinItsBounds) {
  // Many channels: where rounding errors add up most.
  ModelMaker maker;
  maker.output(maker.conv(maker.input({1, 512, 9, 9}), 512, 16, 3));
  for (const auto& [way, tolerance] :
       {std::pair{"direct_6x2", 2e-6f}, {"winograd2", 3e-6f}, {"winograd4", 1.5e-5f}}) {
    gpu::PlanOptions options;
    options.convolution = way;
    check(maker.model(), tolerance, options);
  }
}

}  // namespace
}  // namespace het::gpu_testing
