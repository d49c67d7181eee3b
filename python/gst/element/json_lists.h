#pragma once

#include <string>
#include <vector>

namespace het::python {

/// Several values of the property arg as one JSON array; values that are arrays count as their
/// elements. What is no JSON is taken as it stands: Python tells of it when the element starts.
std::string combined_array(const std::vector<std::string>& values);

/// Several JSON objects as one, in which later members replace earlier ones of the same key.
std::string combined_object(const std::vector<std::string>& objects);

}  // namespace het::python
