#include "frame_memory.h"

namespace het::gst {

std::pmr::memory_resource& frame_memory() {
  // Never freed: the last frame may go after everything static.
  static auto* const memory = new std::pmr::synchronized_pool_resource();
  return *memory;
}

}  // namespace het::gst
