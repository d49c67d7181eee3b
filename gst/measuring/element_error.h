#pragma once

#include <gst/gst.h>

#include "inference/base/status.h"

namespace het::gst {

/// Posts a failed Status as one error message of the element. The text is the Status' own: what
/// was attempted, on which object, what to do.
void post_error(GstElement* element, const Status& status);

}  // namespace het::gst
