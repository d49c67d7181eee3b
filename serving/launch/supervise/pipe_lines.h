#pragma once

#include "serving/launch/supervise/child_process.h"
#include "serving/launch/supervise/line_buffer.h"

namespace het::serving {

/// Reads everything that is there now from a descriptor that does not block; closes it at its end.
void take_lines(OwnedFd& fd, LineBuffer& lines, const LineBuffer::Take& take);

}  // namespace het::serving
