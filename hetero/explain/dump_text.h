#pragma once

#include <string>
#include <string_view>

namespace het::hetero {

/// Texts of models are untrusted: names may hold quotes, control characters, broken UTF-8, or be
/// very long. These make them fit for a file.

/// Valid UTF-8 without control characters, of at most `max_chars` characters: the middle of longer
/// texts becomes an ellipsis. What cannot be shown becomes a question mark.
std::string printable(std::string_view text, size_t max_chars);

/// A printable() text within the double quotes of the DOT language.
std::string dot_escaped(std::string_view text);

/// A printable() text in XML's content or attributes.
std::string xml_escaped(std::string_view text);

/// A part of a file name: letters, digits, '-', '_' and '.' stay (no dot in front), all else
/// becomes
/// '_'; long texts are cut and "model" stands for an empty one.
std::string file_name_part(std::string_view text);

}  // namespace het::hetero
