#pragma once

#include <functional>
#include <string>

#include "inference/base/status.h"
#include "serving/archive/records/sha256.h"

namespace het::archive {

/// Reads all that a URL has, through GStreamer's source for it. Fails with NotFound, TimedOut,
/// Cancelled.
Result<FileDigest> digest_uri(const std::string& uri, const std::function<bool()>& is_stopped);

}  // namespace het::archive
