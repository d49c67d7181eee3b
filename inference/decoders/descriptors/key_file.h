#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het {

/// A section of a file in the syntax of GLib's GKeyFile.
struct KeyFileSection {
  std::string name;
  std::map<std::string, std::string> values;  ///< by key

  /// Empty where there is no such key.
  std::string value_of(const std::string& key) const;
};

/// "[section]", "key=value", "# a remark"; in values \s, \n, \t, \r and \\ are what they are in C,
/// \s a blank. Sections come in their order, one of several with a name; of several keys the last
/// one counts. Fails with InvalidArgument on a line that is none of them, by its number, as GLib
/// does.
Result<std::vector<KeyFileSection>> parse_key_file(std::string_view text);

}  // namespace het
