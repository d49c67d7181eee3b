#pragma once

#include <string>

namespace het::archive {

/// A length of time for people: "12.3 s", "4 min 05 s", "2 h 03 min", "3 d 4 h".
std::string duration_text(double seconds);

}  // namespace het::archive
