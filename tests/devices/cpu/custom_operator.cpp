#include <cstdlib>
#include <fstream>

#include "cpu_testing.h"
#include "devices/register_devices.h"
#include "inference/ops/custom_operators.h"
#include "inference/passes/prepare_model.h"

/// The operator of examples/custom_operator, on CPU and on REF.
namespace het {
namespace {

std::string built(const std::string& library) {
  const char* root = std::getenv("HET_BUILD_ROOT");
  EXPECT_NE(root, nullptr) << "HET_BUILD_ROOT names the build folder";
  return std::string(root != nullptr ? root : "") + "/examples/" + library;
}

using cpu_testing::CpuTest;
using cpu_testing::ModelMaker;
using cpu_testing::random_tensor;

class CustomOperator : public CpuTest {
 protected:
  void SetUp() override {
    CpuTest::SetUp();
    const Status status = het::core()->add_extension(library_);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  const std::string library_ = built("custom_operator/channel_scale.so");

  static Value* channel_scale(ModelMaker& maker, Value* x, std::vector<float> scales) {
    Attributes attributes;
    attributes.set("scales", std::move(scales));
    return maker.op("ChannelScale", {x}, attributes, "example");
  }
};

TEST_F(CustomOperator, ComputesWhatItSays) {
  ModelMaker maker;
  Value* x = maker.input({1, 2, 1, 2});
  maker.output(channel_scale(maker, x, {2, -1}));
  const Tensor input = Tensor::from<float>({1, 2, 1, 2}, {1, 2, 3, 4});
  const std::vector<Tensor> got = infer(*compile(maker.model()), {input});
  const auto values = got[0].values<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{2, 4, -3, -4}));
  compare(maker.model());
}

TEST_F(CustomOperator, TakesTheFormatOfItsNeighboursAndKeepsThePaddingZero) {
  // 21 channels between two convolutions: blocked, with padding.
  ModelMaker maker;
  Value* x = maker.input({2, 16, 9, 7});
  Value* y = maker.op("Conv", {x, maker.constant(random_tensor({21, 16, 1, 1}, 1))});
  std::vector<float> scales;
  for (int c = 0; c < 21; ++c) scales.push_back(0.25f * static_cast<float>(c) - 2.0f);
  Value* z = channel_scale(maker, y, scales);
  maker.output(maker.op("Conv", {z, maker.constant(random_tensor({16, 21, 3, 3}, 2))}));
  const std::vector<ProfileRow> rows = compare(maker.model(), 1e-4f);
  EXPECT_EQ(implementation(rows, z->producer()->name()), "custom");
  const auto row = std::ranges::find(rows, z->producer()->name(), &ProfileRow::node_name);
  ASSERT_NE(row, rows.end());
  EXPECT_NE(row->layout, "plain");
}

TEST_F(CustomOperator, OtherOperatorsOfItsDomainStayUnknown) {
  ModelMaker maker;
  Value* x = maker.input({1, 2, 1, 2});
  maker.output(maker.op("NoSuchOperator", {x}, {}, "example"));
  EXPECT_EQ(maker.model().nodes()[0]->op(), nullptr);
  EXPECT_NE(find_custom_operator("example", "ChannelScale"), nullptr);
  EXPECT_EQ(find_custom_operator("", "ChannelScale"), nullptr);
}

TEST_F(CustomOperator, TheLibrarysReasonIsInTheError) {
  ModelMaker maker;
  Value* x = maker.input({1, 3, 1, 2});
  maker.output(channel_scale(maker, x, {2, -1}));
  const auto compiled = het::core()->compile_model(maker.model(), "CPU");
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.error().message().find("as many scales as channels"), std::string::npos)
      << compiled.error().message();
}

TEST_F(CustomOperator, LoadingTwiceIsOnce) {
  EXPECT_TRUE(het::core()->add_extension(library_).ok());
  EXPECT_TRUE(het::core()->set_property("CPU", {{"EXTENSIONS", library_}}).ok());
}

TEST_F(CustomOperator, BadLibrariesAreRefused) {
  const auto refused = [](const std::string& path) {
    const Status status = het::core()->add_extension(path);
    EXPECT_FALSE(status.ok()) << path;
    return status.message();
  };
  EXPECT_NE(refused("/nowhere/none.so").find("does not exist"), std::string::npos);
  const std::string text = testing::TempDir() + "not_a_library.so";
  std::ofstream(text) << "text";
  EXPECT_NE(refused(text).find("cannot load"), std::string::npos);
  // A decoder's library has another symbol.
  EXPECT_NE(refused(built("custom_decoder/top_class.so")).find("het_custom_operators"),
            std::string::npos);
  const auto compiled = het::core()->set_property("CPU", {{"EXTENSIONS", "/nowhere/none.so"}});
  EXPECT_FALSE(compiled.ok());
}

}  // namespace
}  // namespace het
