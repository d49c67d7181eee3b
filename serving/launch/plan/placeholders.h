#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "serving/launch/launch_settings.h"

namespace het::serving {

/// What stands for {name of the value} in a pipeline. A placeholder begins with a lower case letter
/// and has lower case letters, digits, '-' and '_'; other braces are GStreamer's lists,
/// and "\{name}" in a text of a file is none.
using PlaceholderValues = std::map<std::string, std::string, std::less<>>;

/// {name} and the variables of a stream, {instance} and {node} of the place where it runs. To leave
/// those as they are, give "{instance}" and "{node}".
PlaceholderValues placeholder_values(const StreamSettings& stream, const std::string& instance,
                                     const std::string& node);

/// Whether a variable may have this name.
bool is_placeholder_name(std::string_view name);
/// Names of all placeholders in a text.
std::set<std::string, std::less<>> placeholder_names(std::string_view text);

/// The text of a pipeline with its placeholders replaced. Every value becomes part of a single
/// value of gst_parse_launch's, whatever is in it: blanks, quotation marks, '!'. Fails with
/// InvalidArgument for a placeholder without a value, listing those that have one; for a value that
/// GStreamer has no way of writing at this place; and for texts above 1 MiB.
Result<std::string> fill_template(std::string_view text, const PlaceholderValues& values);

/// An argument of a command line with its placeholders replaced, as they are. Those without a value
/// stay.
std::string fill_argument(std::string_view argument, const PlaceholderValues& values);

/// The pipeline of a stream: fill_argument() for every argument of a command line, else
/// fill_template() of the text of a file.
Result<std::vector<std::string>> fill_pipeline(const StreamSettings& stream, bool is_command_line,
                                               const PlaceholderValues& values);

}  // namespace het::serving
