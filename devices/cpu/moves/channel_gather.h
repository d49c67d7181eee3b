#pragma once

#include <memory>
#include <vector>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/formats/tensor_spec.h"

namespace het::cpu {

/// Channels of several values with the same other dimensions, as if they stood behind one another.
struct ChannelSources {
  std::vector<int64_t> channels;  ///< of each value
  TensorSpec spec;                ///< of the first one: all have its type and format

  int64_t count() const;
};

/// Builds a tensor of the sources' type and format whose channel c is channel `picked[c]` of the
/// kernel's inputs. Blocked formats take floats only, the others all types of 1, 2 and 4 bytes.
std::unique_ptr<Kernel> make_channel_gather(const ChannelSources& sources,
                                            const std::vector<int64_t>& picked);

}  // namespace het::cpu
