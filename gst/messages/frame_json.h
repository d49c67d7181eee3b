#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gst/metadata/metadata.h"
#include "gst/metadata/zone_record.h"
#include "inference/base/status.h"

namespace het::gst {

/// What a JSON message says about a frame besides its objects.
struct FrameDescription {
  int width = 0;
  int height = 0;
  std::optional<uint64_t> timestamp_ns;    ///< stream time
  std::string source;                      ///< empty: left out
  std::string tags_json;                   ///< a JSON value; empty: left out
  std::string system_timestamp;            ///< ISO 8601; empty: left out
  std::optional<uint64_t> sender_time_ns;  ///< of an RTP sender, since 1970; empty: left out
  bool add_tensor_data = false;            ///< tensors with all their values
  ZoneRecord zones;                        ///< what heteroanalytics has counted
};

/// One message with gvametaconvert's keys, sorted; `indent` as in json-indent (-1: one line).
/// Numbers have the shortest form that reads back as the same float, so equal results give equal
/// bytes.
std::string frame_to_json(const FrameDescription& frame, const std::vector<FrameObject>& objects,
                          int indent);

/// Fails with ParseError where `text` is no JSON.
Status check_json(const std::string& text);

}  // namespace het::gst
