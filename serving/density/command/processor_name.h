#pragma once

#include <string>

namespace het::density {

/// "AMD EPYC 9B14, 2 processors": the machine's, as far as this process may use it.
std::string processor_name();

}  // namespace het::density
