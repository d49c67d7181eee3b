/// Loading of device libraries, and their names and properties.
#include <filesystem>
#include <fstream>

#include "custom_testing.h"

namespace het::custom_testing {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class DeviceLibraries : public CustomDeviceTest {
 protected:
  std::string load_error(const std::string& path) {
    const Status status = core_.add_device_library(path);
    return status.ok() ? "no error" : status.message();
  }
};

TEST_F(DeviceLibraries, DevicesAreListedWithTheOthers) {
  const std::vector<std::string> devices = core_.available_devices();
  EXPECT_THAT(devices, Contains("MYDEV"));
  EXPECT_THAT(devices, Contains("FAULTDEV.0"));
  EXPECT_THAT(devices, Contains("FAULTDEV.1"));
  EXPECT_EQ(property("MYDEV", "FULL_DEVICE_NAME"), "An example of a device in C");
  EXPECT_EQ(property("MYDEV", "OPTIMIZATION_CAPABILITIES"), "FP32");
  EXPECT_EQ(property("MYDEV", "DEVICE_TYPE"), "discrete");
  EXPECT_EQ(property("FAULTDEV.1", "EXECUTION_DEVICES"), "FAULTDEV.1");
  EXPECT_THAT(property("MYDEV.1", "FULL_DEVICE_NAME"),
              AllOf(HasSubstr("no MYDEV.1"), HasSubstr("mydev.so' has 1 device")));
  EXPECT_THAT(property("FAULTDEV.x", "FULL_DEVICE_NAME"), HasSubstr("no FAULTDEV.x"));
  EXPECT_THAT(property("YOURDEV", "FULL_DEVICE_NAME"), HasSubstr("MYDEV, FAULTDEV"));
}

TEST_F(DeviceLibraries, OthersDoNotKnowThem) {
  Core other;
  register_devices(other);
  EXPECT_THAT(other.available_devices(), Not(Contains("MYDEV")));
  EXPECT_EQ(other.get_property("MYDEV", "FULL_DEVICE_NAME").error().code(), StatusCode::NotFound);
  // A later core takes the library that is loaded.
  EXPECT_TRUE(other.add_device_library(mydev()).ok());
  EXPECT_THAT(other.available_devices(), Contains("MYDEV"));
}

TEST_F(DeviceLibraries, LoadedTwiceTheyAreThereOnce) {
  const size_t before = core_.available_devices().size();
  EXPECT_EQ(load_error(mydev()), "no error");
  EXPECT_EQ(load_error(built_file("examples/../examples/custom_device/mydev.so")), "no error");
  EXPECT_EQ(core_.available_devices().size(), before);
}

TEST_F(DeviceLibraries, AFolderStandsForItsLibraries) {
  const std::string folder = testing::TempDir() + "het_device_libraries";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  EXPECT_THAT(load_error(folder), AllOf(HasSubstr("no *.so"), HasSubstr(folder)));
  std::filesystem::create_symlink(mydev(), folder + "/a.so");
  std::ofstream(folder + "/readme.txt") << "no library";
  Core other;
  register_devices(other);
  EXPECT_TRUE(other.add_device_library(folder).ok());
  EXPECT_THAT(other.available_devices(), Contains("MYDEV"));
  std::ofstream(folder + "/b.so") << "text";
  EXPECT_THAT(load_error(folder), HasSubstr("b.so"));
  std::filesystem::remove_all(folder);
}

TEST_F(DeviceLibraries, FilesThatAreNone) {
  EXPECT_THAT(load_error("/nowhere/mydev.so"), HasSubstr("'/nowhere/mydev.so' does not exist"));
  EXPECT_THAT(load_error("mydev.so"), HasSubstr("'mydev.so' does not exist")) << "never searched";
  EXPECT_THAT(load_error(built_file("examples/custom_operator/channel_scale.so")),
              AllOf(HasSubstr("channel_scale.so"), HasSubstr("no symbol 'het_custom_device'"),
                    HasSubstr("inference/custom_device.h")));
}

TEST_F(DeviceLibraries, FaultsAreNamed) {
  const std::pair<const char*, const char*> faults[] = {
      {"symbol", "no symbol 'het_custom_device'"},
      {"version", "built for version 99 of the interface, this is version 1"},
      {"size", "table of 8 bytes"},
      {"refusal", "cannot serve version 1"},
      {"exception", "het_custom_device threw an exception: no licence"},
      {"function", "device FAULT_LIBRARY has no start_request"},
      {"pair", "no free_memory beside allocate_memory"},
      {"name", "names its device 'my-device'"},
      {"clash", "has a device CPU, which is a device of this build"},
      {"alias", "has a device MYRIAD, which is a device of this build"},
      {"property", "property 0 of device FAULT_LIBRARY"},
  };
  for (const auto& [fault, text] : faults) {
    const std::string library = "library_" + std::string(fault);
    EXPECT_THAT(load_error(test_library(library)), AllOf(HasSubstr(text), HasSubstr(library)));
  }
  for (const std::string& device : core_.available_devices()) {
    EXPECT_THAT(device, Not(HasSubstr("FAULT_"))) << "nothing of a library with a fault stays";
  }
}

TEST_F(DeviceLibraries, ANameHasOneLibrary) {
  const std::string copy = testing::TempDir() + "het_mydev_copy.so";
  std::filesystem::copy_file(mydev(), copy, std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(load_error(copy), AllOf(HasSubstr("het_mydev_copy.so"), HasSubstr("a device MYDEV"),
                                      HasSubstr("examples/custom_device/mydev.so")));
  std::filesystem::remove(copy);
}

TEST_F(DeviceLibraries, ADeviceThatIsNotThere) {
  ASSERT_EQ(load_error(test_library("library_open")), "no error");
  ASSERT_EQ(load_error(test_library("library_throw")), "no error");
  const auto missing = core_.get_property("FAULT_OPEN", "FULL_DEVICE_NAME");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), StatusCode::NotFound);
  EXPECT_THAT(missing.error().message(), HasSubstr("no card in any slot"));
  const auto threw = core_.get_property("FAULT_THROW", "FULL_DEVICE_NAME");
  ASSERT_FALSE(threw);
  EXPECT_EQ(threw.error().code(), StatusCode::Internal);
  EXPECT_THAT(threw.error().message(), HasSubstr("open_device() threw an exception: out of luck"));
}

TEST_F(DeviceLibraries, ExceptionsOfStartAreErrorsOfTheRequest) {
  ASSERT_EQ(load_error(test_library("library_start")), "no error");
  ModelMaker maker("started");
  maker.output(maker.op("Relu", {maker.input({2, 3})}));
  const auto compiled = compile(maker.model(), "FAULT_START");
  ASSERT_NE(compiled, nullptr);
  auto request = *compiled->create_infer_request();
  const Status status = request->infer();
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_THAT(status.message(), HasSubstr("start_request() threw an exception: out of requests"));
  // HETERO goes on without such a device.
  const auto split = compile(maker.model(), "HETERO:FAULT_START,CPU");
  ASSERT_NE(split, nullptr);
  expect_results_of_ref(maker.model(), *split);
}

TEST_F(DeviceLibraries, OwnPropertiesAreKnown) {
  EXPECT_THAT(
      property("MYDEV", "SUPPORTED_PROPERTIES"),
      AllOf(HasSubstr("MYDEV_OPERATORS"), HasSubstr("PERF_COUNT"), Not(HasSubstr("FAULT"))));
  EXPECT_THAT(property("CPU", "SUPPORTED_PROPERTIES"), Not(HasSubstr("MYDEV")));
  EXPECT_EQ(property("MYDEV", "MYDEV_OPERATORS"), "");
  ASSERT_TRUE(core_.set_property("MYDEV", {{"MYDEV_OPERATORS", "Relu"}}).ok());
  EXPECT_EQ(property("MYDEV", "MYDEV_OPERATORS"), "Relu");
  const auto set_error = [&](const std::string& device, const Properties& properties) {
    const Status status = core_.set_property(device, properties);
    return status.ok() ? "no error" : status.message();
  };
  EXPECT_THAT(set_error("MYDEV", {{"MYDEV_OPERATOR", "Relu"}}),
              HasSubstr("did you mean MYDEV_OPERATORS?"));
  EXPECT_THAT(set_error("MYDEV", {{"MYDEV_EXECUTIONS", "3"}}), HasSubstr("can only be read"));
  EXPECT_THAT(set_error("CPU", {{"MYDEV_OPERATORS", "Relu"}}), HasSubstr("has no property"));
  // What the host's table has keeps its range.
  EXPECT_THAT(set_error("FAULTDEV", {{"NUM_STREAMS", "-7"}}), HasSubstr("NUM_STREAMS"));
  EXPECT_THAT(set_error("FAULTDEV", {{"NUM_STREAMS", "2"}}), "no error");
  EXPECT_THAT(set_error("MYDEV", {{"NUM_STREAMS", "2"}}), HasSubstr("has no property"));
}

}  // namespace
}  // namespace het::custom_testing
