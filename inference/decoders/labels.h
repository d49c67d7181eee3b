#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het {

inline constexpr size_t kMaxLabels = 100000;
inline constexpr size_t kMaxLabelsFileBytes = size_t{1} << 20;
inline constexpr size_t kMaxModelProcBytes = size_t{4} << 20;

/// The content of a regular file of at most `limit_bytes`; `what` names it in errors.
Result<std::string> read_text_file(const std::string& path, size_t limit_bytes,
                                   std::string_view what);

/// True when the bytes are UTF-8 (RFC 3629: shortest forms, no surrogates).
bool is_utf8(std::string_view text);

/// Splits into lines, without carriage returns, a byte order mark and empty lines at the end.
Result<std::vector<std::string>> parse_labels(std::string_view text, std::string_view origin);

/// Finite numbers between blanks, commas and ends of lines.
Result<std::vector<float>> parse_numbers(std::string_view text, std::string_view origin);

/// Path of a file that a descriptor names: relative to the descriptor's folder and not outside it.
Result<std::string> path_beside(std::string_view named, std::string_view descriptor_path);

}  // namespace het
