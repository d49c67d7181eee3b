#pragma once

#include "inference/base/status.h"
#include "serving/launch/instance/pipeline_elements.h"
#include "serving/launch/job.h"

namespace het::serving {

/// Makes a stream's pipeline in the state NULL: nothing is opened yet. What is no pipeline of its
/// own becomes one. Fails with InvalidArgument: GStreamer's words, elements that are missing, and
/// those whose names are near.
Result<ElementRef> parse_pipeline(const StreamJob& stream);

}  // namespace het::serving
