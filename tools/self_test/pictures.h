#pragma once

#include <string>
#include <vector>

#include "tools/self_test/part_events.h"

namespace het::self_test {

/// Opens the video driver of a render node ("": of each that there is) and tries its surfaces:
/// {"display": {...}}. Then lets each device take a picture from host memory, a VA surface and a
/// DMA-BUF, and compares what the model got: {"import": {"device", "memory", "outcome", "detail"}};
/// outcome is "zero-copy", "copied", "wrong", "failed" or "not tried".
void try_pictures(const std::string& node, const std::vector<std::string>& devices,
                  PartEvents& events);

}  // namespace het::self_test
