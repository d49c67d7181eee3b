#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace het::serving {

/// NUMA nodes that the hardware behind something hangs on. Everything below looks into /sys and
/// /proc below `root` ("" for this machine's) and gives nothing where they do not say: that may
/// run anywhere.
using DeviceNodes = std::vector<size_t>;

/// Of a device file that a pipeline opens: a camera (/dev/video0, a link to it too),
/// /dev/dri/card0, /dev/dri/renderD128.
DeviceNodes device_file_nodes(const std::string& path, const std::string& root = "");

/// Of the graphics devices in a device string, as "HETERO:GPU.1,CPU". Which one GPU.1 is only
/// OpenCL knows: the answer is sure where the machine has one with a render node, for GPU and
/// GPU.0, and where all hang on the same node.
DeviceNodes gpu_nodes(std::string_view device, const std::string& root = "");

/// Of the card through which an address of the network is reached, as "rtsp://10.0.0.7:554/door":
/// numeric IPv4 hosts only, no name is looked up. Through bonds and bridges when all their cards
/// hang on the same node.
DeviceNodes address_nodes(std::string_view address, const std::string& root = "");

/// For each node all others by the distance that the firmware tells, the nearest first.
std::map<size_t, std::vector<size_t>> nodes_by_distance(const std::string& root = "");

}  // namespace het::serving
