#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/tensors/element_type.h"

namespace het::vpu {

inline constexpr uint64_t kMegabyte = uint64_t{1} << 20;

/// What a device says it is.
struct Profile {
  std::string name;
  uint32_t credits = 1;              ///< requests that may be unanswered
  uint32_t units = 1;                ///< requests that run at the same time
  uint64_t memory_bytes = 0;         ///< of one unit
  bool counts_nodes = true;          ///< tells times of single nodes
  uint32_t request_limit_ms = 5000;  ///< an execution that takes longer is ended
  uint32_t link_us = 0;              ///< of its link, each way, and
  uint32_t link_mbytes = 0;  ///< megabytes a second, each way; 0: no limit. Used on wish only
  std::string bitstream;     ///< name of what the operators come from; only where there is one
  std::vector<ElementType> types;
  std::vector<std::string> operators;
  std::map<std::string, uint32_t> graph_tags;  ///< HDDL_GRAPH_TAG: on how many units
};

/// "myriad", "hddl" or "fpga". Fails with NotFound and the names that there are.
Result<Profile> find_profile(std::string_view name);

/// A profile of one's own: the JSON of a configuration file over one of those (README.md). Fails
/// with NotFound, ParseError or InvalidArgument, naming the file and the entry.
Result<Profile> read_profile(const std::string& path);

}  // namespace het::vpu
