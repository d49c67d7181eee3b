#pragma once

#include <string>
#include <string_view>

#include "inference/base/status.h"

namespace CLI {
class App;
}

namespace het {

/// Exit statuses of `hetero`.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  ///< the work failed, or a verification did
inline constexpr int kExitUsage = 2;   ///< wrong options

/// Prints "hetero: message" to stderr and gives the exit status that fits the failure.
int report(const Status& status);

/// Each adds its subcommand to `app`; when chosen, it stores its exit status in `exit_status`.
void add_devices_command(CLI::App& app, int& exit_status);
void add_query_command(CLI::App& app, int& exit_status);
void add_run_command(CLI::App& app, int& exit_status);
void add_bench_command(CLI::App& app, int& exit_status);
void add_convert_command(CLI::App& app, int& exit_status);
void add_inspect_command(CLI::App& app, int& exit_status);
void add_accuracy_command(CLI::App& app, int& exit_status);
void add_verify_command(CLI::App& app, int& exit_status);

}  // namespace het
