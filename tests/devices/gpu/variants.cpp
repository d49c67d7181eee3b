// Kernels as a GPU runs them - work-groups that share a row, barriers, vectors of four - on
// whatever device there is: the plan is built for hardware that says it is a GPU.
#include "devices/gpu/fuse.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/plan_execution.h"
#include "devices/gpu/products/rows.h"
#include "inference/passes/prepare_model.h"
#include "tests/devices/gpu/gpu_child_models.h"
#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

class GpuVariants : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    hardware_ = gpu::list_gpus(true).front();
    hardware_.is_cpu = false;
    hardware_.is_gpu = true;
  }

  /// Runs a model on it and compares with REF.
  void compare_as_gpu(const Model& model, float tolerance = 2e-5f, bool int8 = false) {
    const std::vector<Tensor> inputs = random_inputs(model);
    std::vector<Tensor> got;
    const Status status = run(model, int8, inputs, got);
    ASSERT_TRUE(status.ok()) << status.message();
    const std::vector<Tensor> wanted = run_on_ref(model, inputs);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) compare_tensors(got[i], wanted[i], tolerance, i);
  }

  /// Options of kernels over rows as this hardware gets them.
  std::string row_program_options() {
    Model model("empty");
    const auto context = gpu::Context::create(hardware_);
    EXPECT_TRUE(context) << context.error().message();
    return context ? gpu::lane_options(gpu::PlanBuilder(model, *context, {})) : std::string();
  }

  /// Everything that work-items share rows for, of rows shorter than a group and longer ones.
  void compare_rows() {
    for (const int64_t length : {3, 70, 331}) {
      SCOPED_TRACE(length);
      ModelMaker maker;
      Value* x = maker.input({3, 5, length});
      maker.output(maker.op("Softmax", {x}));
      maker.output(maker.op("LogSoftmax", {x}));
      maker.output(maker.op("Hardmax", {x}));
      maker.output(
          maker.op("LayerNormalization", {x, maker.random({length}), maker.random({length})}));
      maker.output(maker.op("InstanceNormalization", {x, maker.random({5}), maker.random({5})}));
      maker.output(maker.op("ReduceLogSumExp", {x, maker.ints({2})}));
      maker.output(maker.op("ReduceMax", {x, maker.ints({1, 2})}));
      maker.output(maker.op("ReduceMin", {x, maker.ints({2})}));
      maker.output(maker.op("ReduceProd", {x, maker.ints({2})}));
      maker.output(maker.op("ReduceL1", {x, maker.ints({2})}));
      maker.output(maker.op("ReduceMean", {x}));
      maker.output(maker.op("Softmax", {x}, make_attributes({{"axis", int64_t{1}}})));
      compare_as_gpu(maker.model());
    }
    keep_nan();
  }

  gpu::Hardware hardware_;

 private:
  std::vector<Tensor> run_on_ref(const Model& model, const std::vector<Tensor>& inputs) {
    auto reference = ref_->compile_model(model, {}, nullptr);
    EXPECT_TRUE(reference) << reference.error().message();
    return reference ? infer(**reference, inputs) : std::vector<Tensor>();
  }

  /// NaN is the largest and the smallest element of its row, wherever it stands, and of no other.
  void keep_nan() {
    ModelMaker maker;
    Value* x = maker.input({4, 150});
    maker.output(maker.op("ReduceMax", {x, maker.ints({1})}));
    maker.output(maker.op("ReduceMin", {x, maker.ints({1})}));
    maker.output(maker.op("ReduceSum", {x, maker.ints({1})}));
    std::vector<Tensor> inputs = random_inputs(maker.model());
    for (const size_t at : {size_t{0}, size_t{150 + 77}, size_t{300 + 149}}) {
      inputs[0].data<float>()[at] = NAN;
    }
    std::vector<Tensor> got;
    const Status status = run(maker.model(), false, inputs, got);
    ASSERT_TRUE(status.ok()) << status.message();
    const std::vector<Tensor> wanted = run_on_ref(maker.model(), inputs);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      for (size_t row = 0; row < 4; ++row) {
        const float value = got[i].data<float>()[row];
        const float right = wanted[i].data<float>()[row];
        EXPECT_EQ(std::isnan(value), row < 3) << "output " << i << ", row " << row;
        EXPECT_EQ(std::isnan(right), row < 3) << "output " << i << ", row " << row;
        if (row == 3) {
          EXPECT_NEAR(value, right, 1e-4) << "output " << i;
        }
      }
    }
  }

  Status run(const Model& model, bool int8, const std::vector<Tensor>& inputs,
             std::vector<Tensor>& got) {
    HET_ASSIGN(const auto context, gpu::Context::create(hardware_));
    const std::unique_ptr<Model> prepared = model.clone();
    HET_TRY(prepare_model(*prepared));
    HET_TRY(gpu::fuse(*prepared, int8));
    HET_ASSIGN(const gpu::Plan plan, gpu::PlanBuilder(*prepared, context, {}).build());
    HET_ASSIGN(const auto execution, gpu::PlanExecution::create(plan, *context));
    HET_ASSIGN(const gpu::QueueHandle queue, context->create_queue(false));
    std::vector<gpu::Memory> memories;
    for (size_t i = 0; i < inputs.size(); ++i) {
      HET_ASSIGN(gpu::Memory memory, context->upload(inputs[i].bytes(), inputs[i].size_bytes()));
      HET_TRY(execution->bind_input(i, memory->get()));
      memories.push_back(std::move(memory));
    }
    const size_t first_output = memories.size();
    for (size_t i = 0; i < prepared->outputs().size(); ++i) {
      HET_ASSIGN(Tensor output, Tensor::allocate(prepared->outputs()[i].value->desc()));
      HET_ASSIGN(gpu::Memory memory, context->allocate(output.size_bytes()));
      HET_TRY(execution->bind_output(i, memory->get()));
      got.push_back(std::move(output));
      memories.push_back(std::move(memory));
    }
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      HET_TRY(execution->enqueue(queue.get(), i, nullptr));
    }
    for (size_t i = 0; i < got.size(); ++i) {
      HET_TRY(gpu::cl_status(
          clEnqueueReadBuffer(queue.get(), memories[first_output + i]->get(), CL_TRUE, 0,
                              got[i].size_bytes(), got[i].bytes(), 0, nullptr, nullptr),
          "read an output"));
    }
    return {};
  }
};

TEST_F(GpuVariants, Products) {
  for (const int64_t rows : {1, 3, 37}) {
    ModelMaker maker;
    Value* x = maker.input({rows, 700});
    Value* y = maker.op("MatMul", {x, maker.random({700, 45}, 0.1f)});
    y = maker.op("Relu", {maker.op("Add", {y, maker.random({45})})});
    maker.output(maker.op("MatMul", {y, maker.input({2, 45, 30})}));
    compare_as_gpu(maker.model());
  }
}

TEST_F(GpuVariants, WorkItemsShareRows) {
  hardware_.extensions.clear();
  EXPECT_EQ(row_program_options().find("SUBGROUPS"), std::string::npos);
  compare_rows();
}

TEST_F(GpuVariants, SubgroupsShareRows) {
  if (!hardware_.has_subgroups()) {
    GTEST_SKIP() << "no sub-groups in " << hardware_.full_name()
                 << ": neither cl_khr_subgroups nor "
                 << "cl_intel_subgroups is among its extensions";
  }
  EXPECT_NE(row_program_options().find("-DSUBGROUPS"), std::string::npos);
  compare_rows();
}

TEST_F(GpuVariants, AProcessorUsesNoSubgroups) {
  hardware_.is_cpu = true;
  hardware_.extensions = "cl_khr_subgroups";
  EXPECT_EQ(row_program_options().find("SUBGROUPS"), std::string::npos);
}

TEST_F(GpuVariants, SubgroupsThatAreOnlyNamedAreNotUsed) {
  if (hardware_.has_subgroups()) GTEST_SKIP() << hardware_.full_name() << " has them";
  for (const char* named : {"cl_khr_subgroups", "cl_intel_subgroups"}) {
    hardware_.extensions = named;
    EXPECT_EQ(row_program_options().find("SUBGROUPS"), std::string::npos) << named;
  }
  compare_rows();
}

TEST_F(GpuVariants, GroupsAsLargeAsTheDeviceTakes) {
  hardware_.largest_group = 12;
  EXPECT_NE(row_program_options().find("-DLANES=8"), std::string::npos);
  compare_rows();
}

TEST_F(GpuVariants, Attention) {
  ModelMaker maker;
  Value* q = maker.input({2, 3, 70, 8});
  Value* k = maker.input({2, 3, 8, 90});
  Value* v = maker.input({2, 3, 90, 10});
  Value* scores = maker.op("Add", {maker.op("MatMul", {q, k}), maker.input({70, 90})});
  maker.output(maker.op("MatMul", {maker.op("Softmax", {scores}), v}));
  compare_as_gpu(maker.model());
}

TEST_F(GpuVariants, ProductsOfBytes) {
  // Equal sums and factors: every byte is that of the operators.
  compare_as_gpu(*products_of_bytes(), 0.0f, true);
}

TEST_F(GpuVariants, WorkItemsShareTheCandidatesOfAClass) {
  constexpr int64_t kPriors = 900;
  for (const bool best_class_only : {false, true}) {
    ModelMaker maker;
    Tensor priors = *Tensor::allocate({ElementType::Float32, {1, 1, kPriors * 4}});
    float* prior = priors.data<float>();
    for (int64_t i = 0; i < kPriors; ++i, prior += 4) {
      prior[0] = static_cast<float>(i % 30) * 0.03f;
      prior[1] = static_cast<float>(i / 30) * 0.03f;
      prior[2] = prior[0] + 0.09f;
      prior[3] = prior[1] + 0.07f;
    }
    Value* logits =
        maker.op("Mul", {maker.input({2, kPriors * 4}), maker.constant(Tensor::scalar(0.01f))});
    maker.output(
        maker.op("DetectionOutput", {logits, maker.input({2, kPriors * 3}), maker.constant(priors)},
                 make_attributes({{"background_label_id", int64_t{0}},
                                  {"num_classes", int64_t{3}},
                                  {"top_k", int64_t{200}},
                                  {"keep_top_k", Ints{80}},
                                  {"code_type", std::string("caffe.PriorBoxParameter.CORNER")},
                                  {"variance_encoded_in_target", int64_t{1}},
                                  {"normalized", int64_t{1}},
                                  {"decrease_label_id", int64_t{best_class_only}},
                                  {"nms_threshold", 0.3f},
                                  {"confidence_threshold", 0.2f}}),
                 "het"));
    compare_as_gpu(maker.model(), 1e-6f);
  }
}

}  // namespace
}  // namespace het::gpu_testing
