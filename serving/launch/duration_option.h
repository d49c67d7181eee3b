#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace het::serving {

/// An option that takes a time, as parse_duration() says; a number alone and `target` are of
/// `unit_s` seconds. `target` has to live as long as `app`.
CLI::Option* add_duration(CLI::App& app, const std::string& name, double& target, double unit_s,
                          const std::string& text);

}  // namespace het::serving
