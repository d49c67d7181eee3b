#pragma once

#include <string_view>

namespace het {

/// The text of known_models.json.
std::string_view known_models_text();

}  // namespace het
