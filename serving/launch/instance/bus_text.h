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

/// True for the error of a source that cannot read from what may come back by itself: a camera, an
/// address of the network. A file that is missing is none.
bool is_of_live_resource(GstMessage* message);

}  // namespace het::serving
