#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"

namespace het::archive {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;  ///< also: something was given up
inline constexpr int kExitUsage = 2;
inline constexpr int kExitLeft = 3;         ///< stopped while something is left
inline constexpr int kExitNothingDone = 4;  ///< so, and no shard ended meanwhile

/// Parses what stands before "--"; `line` gets the words behind it, without gst-launch-1.0 in
/// front. Returns the exit status of a program that has nothing more to do (--help, wrong usage),
/// which has been told about.
std::optional<int> parse_command(CLI::App& app, int argc, char** argv,
                                 std::vector<std::string>* line = nullptr);

/// Tells on standard error what went wrong; returns the exit status for it.
int report_failure(const CLI::App& app, const Status& failure);

}  // namespace het::archive
