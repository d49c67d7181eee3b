#pragma once

#include <string>
#include <vector>

#include "inference/devices/device_trials.h"

namespace het::va {

/// Render nodes of the system: "/dev/dri/renderD128" ...
std::vector<std::string> render_nodes();

/// Opens the node's VADisplay and tries what pictures need: surfaces that are made, written, mapped
/// and read, the video processor, the export as DMA-BUF.
DisplayTrial try_display(const std::string& node);

}  // namespace het::va
