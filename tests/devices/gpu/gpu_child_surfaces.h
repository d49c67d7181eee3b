#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"

namespace het {

/// surfaces KIND FORMAT [HOW]: pictures of a kind of memory (va, dmabuf) and format (NV12 ...) into
/// a model that gives its input back, compared with preprocess_reference(); KIND and HOW also say
/// what is unusual: see the tests. Prints "maps N", how often pictures were mapped, and messages
/// of the log as "log ...".
int surfaces(const std::vector<std::string>& arguments);

/// Prints the status as the tests read it; 1.
int fail(const Status& status);

}  // namespace het
