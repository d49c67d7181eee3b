#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <optional>

namespace het::serving {

/// True for what decodes pictures or video, in software or not.
bool is_video_decoder(GstElement* element);

/// Threads of a video decoder that has a property for them; 0 where it is left open; nothing for
/// all other elements. A line that says the default itself cannot be told from one that does not.
std::optional<size_t> decoder_threads(GstElement* element);

/// Gives a video decoder that leaves it open so many threads; other elements stay as they are.
void set_decoder_threads(GstElement* element, size_t threads);

}  // namespace het::serving
