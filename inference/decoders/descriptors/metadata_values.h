#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Values of model metadata, which are texts in several notations.
namespace het {

/// True, true, yes, YES and 1; everything else is false.
bool metadata_flag(std::string_view text);

/// The numbers in a text such as "255", "[0.5, 1e-3]" or "123.675 116.28 103.53"; at most 64. Empty
/// when the text holds anything else.
std::vector<float> metadata_numbers(std::string_view text);

/// One number for all three channels or one for each.
std::optional<std::array<float, 3>> metadata_channels(std::string_view text);

/// Labels separated by blanks, commas or semicolons, as OpenVINO Model API writes them.
std::vector<std::string> metadata_labels(std::string_view text);

/// "{0: 'person', 1: 'traffic light'}" or "['person', 'car']", as Ultralytics' exporters write
/// them. Numbers that are missing get empty labels; empty where the text is neither.
std::vector<std::string> metadata_names(std::string_view text);

}  // namespace het
