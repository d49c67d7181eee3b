/// `hetero-archive`, which `hetero archive` runs: recorded video in shards, on any number of
/// machines.

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "inference/base/version.h"
#include "serving/archive/command/commands.h"

namespace {

struct Command {
  const char* name;
  const char* text;
  int (*run)(int argc, char** argv);
};

constexpr std::array kCommands = {
    Command{"plan", "Scans videos and writes the plan: shards, and what is in them",
            het::archive::plan_command},
    Command{"run", "Plans, or takes the plan that is there, and does what is missing",
            het::archive::run_command},
    Command{"status", "How far an archive is, and what was given up", het::archive::status_command},
    Command{"worker", "Does the shards that it is told on its standard input",
            het::archive::worker_command},
    Command{"merge", "Makes one file of the results of all shards", het::archive::merge_command},
    Command{"verify", "Checks that every frame of every video was processed once",
            het::archive::verify_command},
    Command{"predict", "How long it takes on how many nodes, and what limits it",
            het::archive::predict_command},
    Command{"slurm", "Prints a job script for Slurm", het::archive::slurm_command},
};

int print_help(std::FILE* stream) {
  std::fputs(
      "Processes recorded video in shards that any scheduler can run in any order, as often as it\n"
      "likes; machines share a folder and nothing else (docs/archive.md).\n"
      "Usage: hetero archive COMMAND ...\n\nCommands, each with --help:\n",
      stream);
  for (const Command& command : kCommands) {
    std::fprintf(stream, "  %-12s %s\n", command.name, command.text);
  }
  std::fputs(
      "\nOptions:\n"
      "  -h,--help    Print this help message and exit\n"
      "  --version    Display program version information and exit\n\n"
      "Exit status: 0 done, 1 something failed or was given up, 2 wrong usage, 3 stopped while\n"
      "something is left.\n",
      stream);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-h") return print_help(stdout);
  if (name == "--version") {
    std::printf("hetero %s\n", std::string(het::version()).c_str());
    return 0;
  }
  for (const Command& command : kCommands) {
    if (name == command.name) return command.run(argc - 1, argv + 1);
  }
  if (name.empty()) {
    std::fputs("hetero archive: what is to be done? ", stderr);
  } else {
    std::fprintf(stderr, "hetero archive: there is no command '%s'. ", argv[1]);
  }
  print_help(stderr);
  return 2;
}
