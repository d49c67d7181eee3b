#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "devices/gpu/fuse.h"
#include "devices/gpu/memory/context.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/programs/program_file.h"
#include "devices/gpu/programs/program_merging.h"
#include "inference/passes/prepare_model.h"
#include "tests/devices/gpu/gpu_child_models.h"
#include "tests/devices/gpu/gpu_testing.h"

/// Programs: several texts in one, and their files in CACHE_DIR.
namespace het::gpu_testing {
namespace {

TEST(GpuProgramMerging, FindsWhatATextDeclares) {
  const gpu::DeclaredNames found = gpu::declared_names(R"(
// int in_comment(int a) {}
/* void other(void) {} */
#define SQUARE(x) \
  ((x) * (x))
#  define WIDE 4
typedef struct { float a; int b[3]; } pair;
typedef HET_JOIN(float, WIDE) floats;
__constant float table[] = {1.0f, 2.0f};
__constant int limit = 3;
float tail(float x);
HET_JOIN(float, WIDE) wide_one(float x) { return (HET_JOIN(float, WIDE))(x); }
float tail(float x) { const char c = '{'; if (x > 0) { return SQUARE(x); } return tail2(x); }
__attribute__((reqd_work_group_size(16, 1, 1))) __kernel void run(__global float* p) { p[0] = 1; }
kernel __attribute__((work_group_size_hint(8, 1, 1)))
void second(__global float* p, int n) {}
)");
  EXPECT_EQ(found.names, (std::set<std::string>{"pair", "floats", "table", "limit", "tail",
                                                "wide_one", "run", "second"}));
  EXPECT_EQ(found.macros, (std::set<std::string>{"SQUARE", "WIDE"}));
}

TEST(GpuProgramMerging, MacrosOfOptionsStay) {
  const std::string text = "#ifndef ROWS\n#define ROWS 4\n#endif\n#define COLUMNS 2\n";
  const std::vector<gpu::MergedPiece> pieces = {{text, "_a"}, {text, "_b"}};
  const std::string merged = gpu::merged_text(pieces, "-DROWS=8");
  EXPECT_EQ(merged.find("#undef ROWS"), std::string::npos);
  EXPECT_NE(merged.find("#undef COLUMNS"), std::string::npos);
  EXPECT_NE(gpu::merged_text(pieces, "-DROWS_OF_A=8 -DROWSB").find("#undef ROWS"),
            std::string::npos);
}

TEST(GpuProgramMerging, OneKernelOfSeveralStays) {
  const std::string text =
      "float twice(float x) { return 2 * x; }\n"
      "__attribute__((reqd_work_group_size(8, 1, 1))) __kernel void first(__global float* p) {\n"
      "#ifdef ALL\n  if (p[0] > 0) { p[0] = 1; }\n#endif\n}\n"
      "__kernel void second(__global float* p) { p[0] = twice(p[1]); }\n"
      "#define LAST 3\n"
      "__kernel __attribute__((work_group_size_hint(8, 1, 1))) void third(__global float* p) {}\n";
  const std::string kept = gpu::with_one_kernel(text, "second");
  EXPECT_EQ(gpu::declared_names(kept).names, (std::set<std::string>{"twice", "second"})) << kept;
  EXPECT_EQ(kept.find("__attribute__"), std::string::npos) << kept;
  EXPECT_NE(kept.find("#define LAST 3"), std::string::npos) << kept;
  EXPECT_NE(gpu::with_one_kernel(text, "third").find("work_group_size_hint"), std::string::npos);
  EXPECT_EQ(gpu::with_one_kernel(text, "made_by_a_macro"), text);
}

class GpuPrograms : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<gpu::Hardware> found = gpu::list_gpus(true);
    if (found.empty()) GTEST_SKIP() << "OpenCL finds no device";
    hardware_ = found.front();
    folder_ = testing::TempDir() + "programs-" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static gpu::ProgramText text(const std::string& factor, const std::string& helper = "scaled") {
    return {"", "-DWIDTH=4",
            "float " + helper + "(float x) { return x * " + factor + "f; }\n__kernel void scale(" +
                "__global float* p) { p[get_global_id(0)] = " + helper + "(1.0f); }\n"};
  }

  /// p[0] after the kernel ran.
  static float run(gpu::Context& context, const gpu::BuiltText& built) {
    cl_int code = CL_SUCCESS;
    const std::string name = "scale" + built.suffix;
    gpu::KernelHandle kernel(clCreateKernel(built.program->handle.get(), name.c_str(), &code));
    EXPECT_EQ(code, CL_SUCCESS) << name;
    if (code != CL_SUCCESS) return -1.0f;
    const gpu::Memory memory = *context.allocate(64);
    const gpu::QueueHandle queue = *context.create_queue(false);
    cl_mem object = memory->get();
    clSetKernelArg(kernel.get(), 0, sizeof object, &object);
    const size_t size = 4;
    EXPECT_EQ(clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &size, &size, 0,
                                     nullptr, nullptr),
              CL_SUCCESS);
    float value = 0.0f;
    EXPECT_EQ(clEnqueueReadBuffer(queue.get(), object, CL_TRUE, 0, sizeof value, &value, 0, nullptr,
                                  nullptr),
              CL_SUCCESS);
    return value;
  }

  std::shared_ptr<gpu::Context> context() const { return *gpu::Context::create(hardware_); }
  std::shared_ptr<gpu::Context> saved_context() const {
    auto made = context();
    const auto built = *made->programs().get_all({text("2.0"), text("3.0")}, folder_);
    EXPECT_EQ(run(*made, built[0]), 2.0f);
    EXPECT_EQ(run(*made, built[1]), 3.0f);
    made->programs().save({{built[0].program, "scale"}, {built[1].program, "scale"}}, folder_);
    return made;
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, failed)) {
      found.push_back(entry.path());
    }
    return found;
  }
  /// Another process' start: how many programs it builds for these texts, whose results are
  /// checked.
  size_t built_anew(const gpu::Hardware& hardware, const std::vector<std::string>& factors) const {
    const auto made = *gpu::Context::create(hardware);
    std::vector<gpu::ProgramText> texts;
    for (const std::string& factor : factors) texts.push_back(text(factor));
    const auto built = made->programs().get_all(texts, folder_);
    EXPECT_TRUE(built) << built.error().message();
    if (!built) return 0;
    for (size_t i = 0; i < factors.size(); ++i) {
      EXPECT_EQ(run(*made, (*built)[i]), std::stof(factors[i]));
    }
    return made->programs().counts().built;
  }

  gpu::Hardware hardware_;
  std::string folder_;
};

TEST_F(GpuPrograms, TextsWithEqualNamesBecomeOneProgram) {
  const auto made = context();
  const auto built =
      *made->programs().get_all({text("2.0"), text("3.0"), text("2.0"), text("4.0", "scale4")}, "");
  EXPECT_EQ(made->programs().counts().built, 1u);
  EXPECT_EQ(built[0].suffix, built[2].suffix);
  EXPECT_EQ(run(*made, built[0]), 2.0f);
  EXPECT_EQ(run(*made, built[1]), 3.0f);
  EXPECT_EQ(run(*made, built[3]), 4.0f);
  // What is known is not built again, alone or with others.
  const auto again = *made->programs().get_all({text("3.0")}, "");
  EXPECT_EQ(again[0].program, built[1].program);
  EXPECT_EQ(made->programs().counts().built, 1u);
  const auto more = *made->programs().get_all({text("3.0"), text("5.0")}, "");
  EXPECT_EQ(made->programs().counts().built, 2u);
  EXPECT_EQ(run(*made, more[0]), 3.0f);
  EXPECT_EQ(run(*made, more[1]), 5.0f);
}

TEST_F(GpuPrograms, TextsThatCannotBeMergedAreBuiltAlone) {
  const auto made = context();
  const auto hidden = [&](const std::string& factor) {
    gpu::ProgramText made_text = text(factor);
    made_text.generated = "#define MAKE(x) float x(float a) { return a * " + factor +
                          "f; }\nMAKE(by_macro)\n" + made_text.generated;
    return made_text;
  };
  const auto built = made->programs().get_all({hidden("2.0"), hidden("3.0")}, "");
  ASSERT_TRUE(built) << built.error().message();
  EXPECT_EQ(made->programs().counts().built, 2u);
  EXPECT_EQ(run(*made, (*built)[0]), 2.0f);
  EXPECT_EQ(run(*made, (*built)[1]), 3.0f);
}

TEST_F(GpuPrograms, AFailureHasTheBuildLog) {
  gpu::ProgramText bad = text("2.0");
  bad.generated += "int broken( {";
  const auto built = context()->programs().get_all({bad, text("3.0")}, "");
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code(), StatusCode::Internal);
  EXPECT_NE(built.error().message().find("error:"), std::string::npos) << built.error().message();
}

TEST_F(GpuPrograms, FilesAreUsedByTheNextProcess) {
  saved_context();
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(built_anew(hardware_, {"3.0", "2.0"}), 0u);  // in another order too
  EXPECT_EQ(built_anew(hardware_, {"3.0", "4.0"}), 1u);
}

TEST_F(GpuPrograms, WithoutAFolderNothingIsKept) {
  folder_.clear();
  saved_context();
  EXPECT_EQ(built_anew(hardware_, {"2.0", "3.0"}), 1u);
}

TEST_F(GpuPrograms, DamagedFilesAreReplaced) {
  const auto made = saved_context();
  const auto built = *made->programs().get_all({text("2.0"), text("3.0")}, folder_);
  const std::string key = built[0].program->key;
  const std::filesystem::path path = files().at(0);
  ASSERT_TRUE(gpu::read_program_file(path, key));
  std::string content(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(content.data(), static_cast<long>(content.size()));
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  };
  // Header (magic, key, checksum, sizes), list of kernels, binary.
  for (const size_t at :
       {size_t{3}, size_t{9}, size_t{17}, size_t{25}, size_t{31}, size_t{33}, size_t{39},
        size_t{41}, size_t{60}, content.size() / 2, content.size() - 1}) {
    std::string changed = content;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    write(changed);
    EXPECT_FALSE(gpu::read_program_file(path, key)) << "byte " << at;
  }
  for (const size_t bytes : {size_t{0}, size_t{7}, size_t{30}, size_t{48}, content.size() - 1}) {
    write(content.substr(0, bytes));
    EXPECT_FALSE(gpu::read_program_file(path, key)) << bytes << " bytes";
  }
  write(content + "more");
  EXPECT_FALSE(gpu::read_program_file(path, key));
  write(content);
  EXPECT_FALSE(gpu::read_program_file(path, key + " "));
  EXPECT_TRUE(gpu::read_program_file(path, key));
  write("a file of somebody else");
  EXPECT_EQ(built_anew(hardware_, {"2.0", "3.0"}), 1u);
  saved_context();
  EXPECT_EQ(built_anew(hardware_, {"2.0", "3.0"}), 0u);
}

TEST_F(GpuPrograms, AnotherDriverBuildsAnew) {
  saved_context();
  gpu::Hardware newer = hardware_;
  newer.driver += ".1";
  EXPECT_EQ(built_anew(newer, {"2.0", "3.0"}), 1u);
  // A file that lies under the name of another program.
  const std::filesystem::path path = files().at(0);
  const auto other = *gpu::Context::create(newer);
  const auto built = *other->programs().get_all({text("2.0"), text("3.0")}, folder_);
  other->programs().save({{built[0].program, "scale"}}, folder_);
  for (const auto& found : files()) {
    if (found != path)
      std::filesystem::copy_file(found, path, std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_EQ(built_anew(hardware_, {"2.0", "3.0"}), 1u);
}

TEST_F(GpuPrograms, ABinaryThatTheDriverRefusesIsBuiltAnew) {
  const auto made = saved_context();
  const auto built = *made->programs().get_all({text("2.0"), text("3.0")}, folder_);
  gpu::StoredProgram stored{{"scale"}, "this is no binary of any driver"};
  ASSERT_TRUE(gpu::write_program_file(files().at(0), built[0].program->key, stored));
  EXPECT_EQ(built_anew(hardware_, {"2.0", "3.0"}), 1u);
}

TEST_F(GpuPrograms, KernelsThatNeverRanAreNamed) {
  const auto made = saved_context();
  const auto built = *made->programs().get_all({text("2.0")}, folder_);
  EXPECT_TRUE(made->programs().not_run({{built[0].program, "scale"}}).empty());
  EXPECT_EQ(made->programs().not_run({{built[0].program, "scale 8x1x1"}}).size(), 1u);
  const auto later = context();
  const auto loaded = *later->programs().get_all({text("2.0"), text("3.0")}, folder_);
  EXPECT_TRUE(later->programs().not_run({{loaded[0].program, "scale"}}).empty());
  EXPECT_EQ(later->programs().not_run({{loaded[0].program, "scale 8x1x1"}}).size(), 1u);
}

TEST_F(GpuPrograms, AFolderThatCannotBeWrittenIsAWarning) {
  folder_ = "/proc/no-such-folder";
  saved_context();
  EXPECT_EQ(built_anew(hardware_, {"2.0", "3.0"}), 1u);
}

TEST_F(GpuPrograms, ProcessesAndThreadsShareAFolder) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([this] { saved_context(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(built_anew(hardware_, {"2.0", "3.0"}), 0u);
}

/// Two convolutions with limits of their own behind them, and the same two element-wise.
TEST_F(GpuPrograms, LayersThatDifferInNumbersShareAKernel) {
  ModelMaker maker;
  Value* x = maker.input({1, 16, 9, 9});
  for (const float limit : {0.5f, 3.0f}) {
    Value* y = maker.op("Conv", {x, maker.random({16, 16, 3, 3}, 0.1f)});
    Value* low = maker.constant(Tensor::from<float>({}, {-limit}));
    Value* high = maker.constant(Tensor::from<float>({}, {limit}));
    maker.output(maker.op("Clip", {y, low, high}));
    maker.output(maker.op("Mul", {maker.op("Clip", {x, low, high}), x}));
  }
  const auto model = maker.model().clone();
  ASSERT_TRUE(prepare_model(*model).ok());
  ASSERT_TRUE(gpu::fuse(*model).ok());
  const auto context = *gpu::Context::create(hardware_);
  const auto plan = gpu::PlanBuilder(*model, context, {}).build();
  ASSERT_TRUE(plan) << plan.error().message();
  std::map<std::string, std::set<std::string>> kernels;
  for (const gpu::Step& step : plan->steps) kernels[step.implementation].insert(step.kernel);
  for (const auto& [name, distinct] : kernels) EXPECT_EQ(distinct.size(), 1u) << name;
  EXPECT_TRUE(kernels.contains("elementwise"));
}

TEST_F(GpuPrograms, AModelOfManyChainsIsOneProgram) {
  Core core;
  const auto device = *gpu::make_device(core, "");
  const auto compiled = device->compile_model(*chains(8), {{"CACHE_DIR", folder_}}, nullptr);
  ASSERT_TRUE(compiled) << compiled.error().message();
  EXPECT_EQ(files().size(), 1u);
  const auto request = *(*compiled)->create_infer_request();
  const Status status = run_and_check(*request);
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace
}  // namespace het::gpu_testing
