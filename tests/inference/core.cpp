#include "inference/core.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devices/register_devices.h"

namespace het {
namespace {

TEST(Core, IsSharedAndGoesWithItsLastUser) {
  std::weak_ptr<Core> observer;
  {
    const std::shared_ptr<Core> first = core();
    EXPECT_EQ(first, core());
    observer = first;
  }
  EXPECT_TRUE(observer.expired());
}

TEST(Core, ListsItsDevices) {
  std::vector<std::string> devices = core()->available_devices();
  // "GPU", or "GPU.0", "GPU.1" ..., where OpenCL finds any.
  std::erase_if(devices, [](const std::string& name) { return name.starts_with("GPU"); });
  EXPECT_EQ(devices, (std::vector<std::string>{"CPU", "REF"}));
  EXPECT_EQ(
      core()->devices().kinds(),
      (std::vector<std::string>{"CPU", "GPU", "VPU", "REF", "HETERO", "MULTI", "AUTO", "BATCH"}));
}

TEST(Core, UnknownDeviceIsAnErrorThatListsTheKnown) {
  const auto compiled = core()->compile_model(Model(), "FPU");
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), StatusCode::NotFound);
  EXPECT_NE(compiled.error().message().find("CPU, GPU, VPU, REF"), std::string::npos)
      << compiled.error().message();
  EXPECT_FALSE(core()->compile_model(Model(), ""));
  EXPECT_FALSE(core()->compile_model(Model(), "CPU.7"));
}

TEST(Core, DefaultsOfADeviceReadBack) {
  const std::shared_ptr<Core> shared = core();
  ASSERT_TRUE(shared->set_property("CPU", {{"NUM_STREAMS", "2"}}).ok());
  EXPECT_EQ(*shared->get_property("CPU", "NUM_STREAMS"), "2");
  EXPECT_EQ(*shared->get_property("CPU", "KEY_CPU_THROUGHPUT_STREAMS"), "2") << "an older name";
  EXPECT_FALSE(shared->set_property("CPU", {{"NO_SUCH", "2"}}).ok());
}

TEST(Core, MissingModelNamesTheFile) {
  const auto model = core()->read_model("no/such/model.onnx");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code(), StatusCode::NotFound);
  EXPECT_NE(model.error().message().find("no/such/model.onnx"), std::string::npos);
}

TEST(Core, CallsInAForkedChildFailClearly) {
  const std::shared_ptr<Core> shared = core();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto model = core()->read_model("model.onnx");
    const bool clear = !model && model.error().message().find("fork") != std::string::npos;
    _exit(clear ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace het
