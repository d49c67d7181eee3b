#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "devices/gpu/plan/custom_layers.h"
#include "devices/gpu/plan/work_size.h"
#include "devices/register_devices.h"
#include "tests/devices/child_process.h"
#include "tests/devices/gpu/gpu_testing.h"

/// Kernels of users: CONFIG_FILE.
namespace het::gpu_testing {
namespace {

TEST(GpuWorkSize, Formulas) {
  const gpu::FormulaSizes sizes = {2, 3, 5, 7};
  const auto value = [&](const char* text) { return gpu::evaluate_formula(text, sizes); };
  EXPECT_EQ(*value("B*F*Y*X"), 210);
  EXPECT_EQ(*value(" (X + 7) / 8 * 8 "), 8);
  EXPECT_EQ(*value("x%4-f"), 0);
  EXPECT_EQ(*value("-Y+2*-3"), -11);
  EXPECT_EQ(*value("10-3-2"), 5);
  for (const char* bad :
       {"", "X+", "Z", "(X", "X)", "1 2", "X**2", "99999999999999999999", "1.5"}) {
    EXPECT_FALSE(value(bad)) << bad;
  }
  EXPECT_EQ(value("X/(B-2)").error().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(value("1000000*1000000*1000000").error().code(), StatusCode::InvalidArgument);
  EXPECT_FALSE(value(std::string(500, '(').c_str()));
  EXPECT_EQ(*gpu::evaluate_work_sizes("X,Y,B*F", sizes), (std::vector<size_t>{7, 5, 6}));
  EXPECT_TRUE(gpu::evaluate_work_sizes(" ", sizes)->empty());
  for (const char* bad : {"X,", "X,Y,B,F", "0", "X-8", "B*1073741824"}) {
    EXPECT_FALSE(gpu::evaluate_work_sizes(bad, sizes)) << bad;
  }
}

class GpuCustomLayers : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    folder_ = testing::TempDir() + "layers-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_ + "/below");
    write("scale.cl", "__kernel void scale(__global float* x, __global float* y) {}\n");
    const Status status =
        het::core()->add_extension(built_file("examples/custom_operator/channel_scale.so"));
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  static std::string example() {
    return std::string(std::getenv("HET_SOURCE_ROOT")) + "/examples/custom_kernel/";
  }
  static Value* channel_scale(ModelMaker& maker, Value* x, const std::vector<float>& scales) {
    return maker.op("ChannelScale", {x}, make_attributes({{"scales", scales}}), "example");
  }
  /// A description with parts replaced.
  static std::string layer(std::initializer_list<std::pair<std::string, std::string>> changes) {
    std::string text = R"(<CustomLayer name="example.ChannelScale" type="SimpleGPU" version="1">
      <Kernel entry="scale"><Source filename="scale.cl"/></Kernel>
      <Buffers>
        <Tensor arg-index="0" type="input" port-index="0" format="BFYX"/>
        <Tensor arg-index="1" type="output" port-index="0"/>
      </Buffers>
      <WorkSizes global="X,Y,B*F"/></CustomLayer>)";
    for (const auto& [from, to] : changes) {
      const size_t at = text.find(from);
      EXPECT_NE(at, std::string::npos) << from;
      text.replace(at, from.size(), to);
    }
    return text;
  }
  Status read(const std::string& xml) const {
    write("layers.xml", xml);
    const auto layers = gpu::read_custom_layers(folder_ + "/layers.xml");
    return layers ? Status() : layers.error();
  }

  std::string folder_;
};

TEST_F(GpuCustomLayers, TheExampleComputesWhatTheLibraryDoes) {
  ModelMaker maker;
  Value* x = maker.input({2, 3, 5, 7});
  Value* y = channel_scale(maker, maker.op("Relu", {x}), {2.0f, -0.5f, 4.0f});
  maker.output(maker.op("Sigmoid", {channel_scale(maker, y, {0.25f, 1.0f, 3.0f})}));
  const std::string file = example() + "channel_scale.xml";
  const auto rows = compare(maker.model(), 2e-5f, {{"CONFIG_FILE", file}});
  EXPECT_EQ(count_type(rows, "ChannelScale"), 2u);
  EXPECT_EQ(implementation(rows, y->producer()->name()), "channel_scale");
  compare(maker.model(), 2e-3f, {{"CONFIG_FILE", file}, {"INFERENCE_PRECISION_HINT", "f16"}});

  const auto without = device_->query_model(maker.model(), {});
  const auto with = device_->query_model(maker.model(), {{"CONFIG_FILE", file}});
  ASSERT_TRUE(without && with);
  EXPECT_EQ((*without)[1].reason, "no GPU kernel for example.ChannelScale");
  EXPECT_TRUE((*with)[1].supported()) << (*with)[1].reason;
}

TEST_F(GpuCustomLayers, OtherOrdersTypesAndSizes) {
  // Channels last in, plain out; sizes of the input; a local size; all macros.
  write("scale.cl", R"(
#ifndef INPUT0_FORMAT_BYXF
#error not channels last
#endif
#define LOAD "a name of ours"
__kernel void scale(__global const INPUT0_TYPE* from, __global OUTPUT0_TYPE* to) {
  const int x = get_global_id(0), y = get_global_id(1), bf = get_global_id(2);
  const int b = bf / INPUT0_DIMS[1], f = bf % INPUT0_DIMS[1];
  const int at[4] = {b, f, y, x};
  int in = INPUT0_OFFSET + INPUT0_LOWER_PADDING[3], out = OUTPUT0_OFFSET;
  for (int i = 0; i < INPUT0_DIMS_SIZE; ++i) {
    in += at[i] * INPUT0_PITCHES[i];
    out += at[i] * OUTPUT0_PITCHES[i];
  }
  to[out] = from[in] * factors[f] * FACTOR + (NUM_INPUTS - 1) + GLOBAL_WORKSIZE[0] - WIDE;
})");
  const std::string text =
      layer({{"format=\"BFYX\"", "format=\"byxf\""},
             {"<Source filename=\"scale.cl\"/>",
              "<Source filename=\"below/../scale.cl\"/><Define name=\"factors\" type=\"float[]\" "
              "param=\"scales\"/><Define name=\"FACTOR\" type=\"float\" param=\"none\" "
              "default=\"2.0f\"/><Define name=\"WIDE 8\"/>"},
             {"<WorkSizes global=\"X,Y,B*F\"/>",
              "<WorkSizes global=\"X,Y,B*F\" local=\"4,1,1\" dim=\"input 0\"/>"}});
  ASSERT_TRUE(read("<CustomLayers>" + text + "</CustomLayers>").ok());
  ModelMaker maker;
  Value* x = maker.input({2, 3, 5, 8});
  maker.output(channel_scale(maker, x, {2.0f, -0.5f, 4.0f}));
  const auto model = compile(maker.model(), {{"CONFIG_FILE", folder_ + "/layers.xml"}});
  ASSERT_NE(model, nullptr);
  const Tensor input = random_tensor({2, 3, 5, 8}, 3);
  const Tensor got = infer(*model, {input})[0];
  const float factors[] = {4.0f, -1.0f, 8.0f};
  for (int k = 0; k < 240; ++k) {
    ASSERT_NEAR(got.data<float>()[k], input.data<float>()[k] * factors[k / 40 % 3], 1e-5f) << k;
  }
}

TEST_F(GpuCustomLayers, ReasonsOfTheDescription) {
  EXPECT_TRUE(read(layer({})).ok()) << read(layer({})).message();
  EXPECT_EQ(gpu::read_custom_layers(folder_ + "/none.xml").error().code(), StatusCode::NotFound);
  const auto expect_refused = [&](const std::string& xml, const std::string& part) {
    const Status status = read(xml);
    EXPECT_FALSE(status.ok()) << part;
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("layers.xml"), std::string::npos) << status.message();
  };
  expect_refused("", "at byte");
  expect_refused("<CustomLayer", "at byte");
  expect_refused("<Other/>", "no element CustomLayer");
  expect_refused(layer({{"SimpleGPU", "Fancy"}}), "type 'Fancy'");
  expect_refused(layer({{"version=\"1\"", "version=\"2\""}}), "only SimpleGPU, 1");
  expect_refused(layer({{"example.ChannelScale", "Relu"}}), "the operator has a kernel here");
  expect_refused(layer({{"entry=\"scale\"", "entry=\"a b\""}}), "no name of a kernel");
  expect_refused(layer({{"scale.cl", "gone.cl"}}) + " ", "gone.cl");
  for (const char* outside : {"/etc/passwd", "../scale.cl", "below/../../x.cl"}) {
    expect_refused(layer({{"scale.cl", outside}}), "not in the folder of the file");
  }
  expect_refused(layer({{"arg-index=\"1\"", "arg-index=\"2\""}}), "nothing is argument 1");
  expect_refused(layer({{"arg-index=\"1\"", "arg-index=\"0\""}}), "two arguments 0");
  expect_refused(layer({{"arg-index=\"1\"", "arg-index=\"-1\""}}), "no index");
  expect_refused(layer({{"arg-index=\"1\"", "arg-index=\"4000000000\""}}), "no index");
  expect_refused(layer({{"type=\"output\"", "type=\"both\""}}), "neither input nor output");
  expect_refused(layer({{"type=\"output\"", "type=\"input\""}}), "no output");
  expect_refused(layer({{"BFYX", "YXFB"}}), "BFYX or BYXF");
  expect_refused(layer({{"<Tensor", "<Data"}}), "Tensor elements only");
  expect_refused(layer({{"<WorkSizes global", "<WorkSizes dim=\"input x\" global"}}), "dim=");
  expect_refused(layer({{"<Buffers>", "<Buffer/><Buffers>"}}), "the element Buffer is not known");
  std::filesystem::create_symlink("/etc/hostname", folder_ + "/link.cl");
  expect_refused(layer({{"scale.cl", "link.cl"}}), "not in the folder of the file");
}

TEST_F(GpuCustomLayers, ReasonsOfTheNode) {
  ModelMaker maker;
  maker.output(channel_scale(maker, maker.input({1, 2, 3, 4}), {2.0f, 3.0f}));
  const auto expect_refused = [&](const std::string& xml, const std::string& part) {
    ASSERT_TRUE(read(xml).ok()) << read(xml).message();
    const auto model =
        device_->compile_model(maker.model(), {{"CONFIG_FILE", folder_ + "/layers.xml"}}, nullptr);
    ASSERT_FALSE(model) << part;
    EXPECT_NE(model.error().message().find(part), std::string::npos) << model.error().message();
  };
  expect_refused(layer({{"port-index=\"0\" format", "port-index=\"1\" format"}}),
                 "the node has no input 1");
  expect_refused(layer({{"B*F\"", "B*F\" local=\"3,1,1\""}}), "no multiple of the local 3");
  expect_refused(layer({{"B*F\"", "B*F\" local=\"2\""}}), "other dimensions");
  expect_refused(layer({{"X,Y,B*F", "X/(B-1)"}}), "divides by zero");
  expect_refused(
      layer({{"</Kernel>", "<Define name=\"S\" param=\"scales\" type=\"int\"/></Kernel>"}}),
      "the attribute 'scales' is not of type 'int'");
  write("scale.cl", "__kernel void scale(__global float* x, __global float* y) { y[0] = z; }\n");
  expect_refused(layer({}), "undeclared identifier 'z'");
  write("scale.cl", "__kernel void other(__global float* x) { x[0] = 1; }\n");
  expect_refused(layer({}), "make kernel 'scale'");
}

}  // namespace
}  // namespace het::gpu_testing
