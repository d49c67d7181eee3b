#pragma once

#include <memory>
#include <memory_resource>
#include <utility>

namespace het::gst {

/// Memory of what is made for every frame and gone soon after: it is kept for the next one, so that
/// a running element asks the system for none. Of all elements of the process, as frames outlive
/// elements; thread-safe.
std::pmr::memory_resource& frame_memory();

/// make_shared() in it.
template <class T, class... Arguments>
std::shared_ptr<T> make_for_frame(Arguments&&... arguments) {
  return std::allocate_shared<T>(std::pmr::polymorphic_allocator<T>(&frame_memory()),
                                 std::forward<Arguments>(arguments)...);
}

}  // namespace het::gst
