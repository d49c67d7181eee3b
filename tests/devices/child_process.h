#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace het::device_testing {

/// A path below the build folder.
inline std::string built_file(const std::string& path) {
  const char* root = std::getenv("HET_BUILD_ROOT");
  EXPECT_NE(root, nullptr) << "HET_BUILD_ROOT names the build folder";
  return std::string(root != nullptr ? root : "") + "/" + path;
}

struct ChildResult {
  int status = -1;  ///< exit status; 124 after two minutes, 128 + N for signal N
  std::string output;
};

/// Runs a command of the shell with this environment on top of ours.
inline ChildResult run_child(const std::string& command,
                             const std::map<std::string, std::string>& environment = {}) {
  std::string line = "env";
  for (const auto& [name, value] : environment) line += " " + name + "='" + value + "'";
  line += " timeout -k 5 120 " + command + " 2>&1";
  ChildResult result;
  FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> block;
  size_t count = 0;
  while ((count = fread(block.data(), 1, block.size(), pipe)) > 0) {
    result.output.append(block.data(), count);
  }
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace het::device_testing
