#pragma once

#include <string>

namespace het::serving {

/// A word for a shell: as it is, or in single quotes.
std::string shell_quoted(const std::string& word);

}  // namespace het::serving
