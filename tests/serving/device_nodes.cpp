#include "serving/launch/plan/device_nodes.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace het::serving {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// A machine's /sys, /proc and /dev in a folder of its own.
class DeviceNodesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "device_nodes_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = fs::canonical(pattern).string();
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void folder(const std::string& path) const { fs::create_directories(root_ + path); }
  void link(const std::string& path, const std::string& target) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    fs::create_symlink(root_ + target, root_ + path);
  }

  /// A PCI device with its class and node.
  void pci(const std::string& address, const std::string& node, const std::string& kind) const {
    write("/sys/devices/pci0000:00/" + address + "/numa_node", node + "\n");
    write("/sys/devices/pci0000:00/" + address + "/class", kind + "\n");
  }
  void graphics(const std::string& name, const std::string& address) const {
    link("/sys/class/drm/" + name + "/device", "/sys/devices/pci0000:00/" + address);
  }
  void card(const std::string& name, const std::string& address) const {
    link("/sys/class/net/" + name + "/device", "/sys/devices/pci0000:00/" + address);
  }
  void routes(const std::string& rows) const {
    write("/proc/net/route",
          "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n" + rows);
  }

  std::string root_;
};

TEST_F(DeviceNodesTest, ACameraHangsWhereItsControllerDoes) {
  pci("0000:00:14.0", "1", "0x0c0330");
  folder("/sys/devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0");
  link("/sys/class/video4linux/video0/device",
       "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0");
  write("/dev/video0", "");
  link("/dev/v4l/by-id/usb-Camera-index0", "/dev/video0");
  EXPECT_THAT(device_file_nodes("/dev/video0", root_), ElementsAre(1));
  EXPECT_THAT(device_file_nodes("/dev/v4l/by-id/usb-Camera-index0", root_), ElementsAre(1));
  EXPECT_THAT(device_file_nodes("/dev/video1", root_), IsEmpty());
  EXPECT_THAT(device_file_nodes("/home/x/video0", root_), IsEmpty());
  EXPECT_THAT(device_file_nodes("/dev/", root_), IsEmpty());
  EXPECT_THAT(device_file_nodes("", root_), IsEmpty());
}

TEST_F(DeviceNodesTest, RenderNodesAndCards) {
  pci("0000:03:00.0", "2", "0x030000");
  graphics("renderD128", "0000:03:00.0");
  graphics("card0", "0000:03:00.0");
  EXPECT_THAT(device_file_nodes("/dev/dri/renderD128", root_), ElementsAre(2));
  EXPECT_THAT(device_file_nodes("/dev/dri/card0", root_), ElementsAre(2));
}

TEST_F(DeviceNodesTest, WhatTheFirmwareDoesNotSayIsUnknown) {
  pci("0000:03:00.0", "-1", "0x030000");
  graphics("renderD128", "0000:03:00.0");
  EXPECT_THAT(device_file_nodes("/dev/dri/renderD128", root_), IsEmpty());
  EXPECT_THAT(gpu_nodes("GPU", root_), IsEmpty());
  write("/sys/devices/pci0000:00/0000:03:00.0/numa_node", "many\n");
  EXPECT_THAT(device_file_nodes("/dev/dri/renderD128", root_), IsEmpty());
}

TEST_F(DeviceNodesTest, OneGpuIsSure) {
  pci("0000:03:00.0", "1", "0x030000");
  graphics("renderD128", "0000:03:00.0");
  // A management controller's display, without a render node, and something that computes only.
  pci("0000:07:00.0", "0", "0x030000");
  graphics("card1", "0000:07:00.0");
  EXPECT_THAT(gpu_nodes("GPU", root_), ElementsAre(1));
  EXPECT_THAT(gpu_nodes("HETERO:GPU.0,CPU", root_), ElementsAre(1));
  EXPECT_THAT(gpu_nodes("BATCH:GPU(8)", root_), ElementsAre(1));
  EXPECT_THAT(gpu_nodes("GPU.1", root_), IsEmpty());
  EXPECT_THAT(gpu_nodes("CPU", root_), IsEmpty());
  EXPECT_THAT(gpu_nodes("MYGPU", root_), IsEmpty());
  EXPECT_THAT(gpu_nodes("", root_), IsEmpty());
}

TEST_F(DeviceNodesTest, OfSeveralGpusTheNodeIsSureWhereItIsTheSame) {
  pci("0000:03:00.0", "1", "0x030000");
  pci("0000:04:00.0", "1", "0x038000");
  graphics("renderD128", "0000:03:00.0");
  graphics("renderD129", "0000:04:00.0");
  EXPECT_THAT(gpu_nodes("GPU.1", root_), ElementsAre(1));
  pci("0000:04:00.0", "0", "0x038000");
  EXPECT_THAT(gpu_nodes("GPU.1", root_), IsEmpty());
  EXPECT_THAT(gpu_nodes("GPU", root_), IsEmpty());
}

TEST_F(DeviceNodesTest, AddressesHangOnTheCardOfTheirRoute) {
  pci("0000:01:00.0", "0", "0x020000");
  pci("0000:81:00.0", "1", "0x020000");
  card("eth0", "0000:01:00.0");
  card("eth1", "0000:81:00.0");
  // As a little-endian machine writes them: default by eth0, 10.1.0.0/16 by eth1.
  if (htonl(1) == 1) GTEST_SKIP() << "the routes below are a little-endian machine's";
  routes(
      "eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
      "eth1\t0000010A\t00000000\t0001\t0\t0\t100\t0000FFFF\t0\t0\t0\n"
      "eth0\t0000010A\t00000000\t0001\t0\t0\t200\t0000FFFF\t0\t0\t0\n"
      "eth0\t0002010A\t00000000\t0000\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
      "broken line\n");
  EXPECT_THAT(address_nodes("rtsp://10.1.0.7:554/door", root_), ElementsAre(1));
  EXPECT_THAT(address_nodes("rtsp://user:p@ss@10.1.0.7/x?y=z", root_), ElementsAre(1));
  EXPECT_THAT(address_nodes("10.1.2.3", root_), ElementsAre(1));  // the narrower route is not up
  EXPECT_THAT(address_nodes("rtsp://10.2.0.7", root_), ElementsAre(0));
  EXPECT_THAT(address_nodes("rtsp://127.0.0.1:8554/test", root_), IsEmpty());
  EXPECT_THAT(address_nodes("rtsp://camera.local/door", root_), IsEmpty());
  EXPECT_THAT(address_nodes("rtsp://[fe80::1]:554/", root_), IsEmpty());
  EXPECT_THAT(address_nodes("", root_), IsEmpty());
}

TEST_F(DeviceNodesTest, BondsHangWhereAllTheirCardsDo) {
  pci("0000:01:00.0", "1", "0x020000");
  pci("0000:01:00.1", "1", "0x020000");
  card("eth0", "0000:01:00.0");
  card("eth1", "0000:01:00.1");
  link("/sys/class/net/bond0/lower_eth0", "/sys/class/net/eth0");
  link("/sys/class/net/bond0/lower_eth1", "/sys/class/net/eth1");
  link("/sys/class/net/bond0.7/lower_bond0", "/sys/class/net/bond0");
  routes("bond0.7\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n");
  EXPECT_THAT(address_nodes("rtsp://10.1.0.7", root_), ElementsAre(1));
  pci("0000:01:00.1", "0", "0x020000");
  EXPECT_THAT(address_nodes("rtsp://10.1.0.7", root_), IsEmpty());
}

TEST_F(DeviceNodesTest, InterfacesThatContainThemselvesEnd) {
  folder("/sys/class/net/a");
  link("/sys/class/net/a/lower_a", "/sys/class/net/a");
  routes("a\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n");
  EXPECT_THAT(address_nodes("10.0.0.1", root_), IsEmpty());
}

TEST_F(DeviceNodesTest, NodesByDistance) {
  write("/sys/devices/system/node/node0/distance", "10 21 16\n");
  write("/sys/devices/system/node/node2/distance", "21 10 31\n");
  write("/sys/devices/system/node/node10/distance", "16 31\n");
  write("/sys/devices/system/node/online", "0,2,10\n");
  EXPECT_THAT(nodes_by_distance(root_),
              ElementsAre(Pair(0, ElementsAre(10, 2)), Pair(2, ElementsAre(0, 10))));
}

TEST_F(DeviceNodesTest, WithoutSysNothingIsKnown) {
  EXPECT_THAT(device_file_nodes("/dev/video0", root_), IsEmpty());
  EXPECT_THAT(gpu_nodes("GPU", root_), IsEmpty());
  EXPECT_THAT(address_nodes("10.0.0.1", root_), IsEmpty());
  EXPECT_THAT(nodes_by_distance(root_), IsEmpty());
}

TEST(DeviceNodes, OfThisMachineNeverFail) {
  (void)device_file_nodes("/dev/video0");
  (void)device_file_nodes("/dev/dri/renderD128");
  (void)gpu_nodes("GPU");
  (void)address_nodes("rtsp://192.0.2.7/x");
  for (const auto& [node, others] : nodes_by_distance()) {
    EXPECT_THAT(others, testing::Not(testing::Contains(node)));
  }
}

}  // namespace
}  // namespace het::serving
