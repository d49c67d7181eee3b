#pragma once

#include <gst/gst.h>

#include <string>
#include <string_view>

namespace het::serving {

/// An error, warning or information of a bus in one line: "element: message (debug text)".
std::string message_text(GstMessage* message);

/// One line on standard error: "error: stream: text"; without a stream where `label` is empty.
/// Breaks of lines in the text become blanks.
void print_line(std::string_view kind, std::string_view label, std::string_view text);

}  // namespace het::serving
