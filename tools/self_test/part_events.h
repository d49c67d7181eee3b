#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace het::self_test {

/// What a child of the self-test tells its parent while it works: a line of JSON each, so that
/// nothing is lost when a driver takes the process with it. Thread-compatible.
class PartEvents {
 public:
  explicit PartEvents(int file) : file_(file) {}

  /// What is being done from now on: of a child that dies or hangs, the last one counts.
  void begin(const std::string& what);
  /// What came of it, or of a piece of it.
  void result(const nlohmann::json& result);
  /// Nothing more comes; the child may end now.
  void end();

 private:
  void write_line(const nlohmann::json& line);

  int file_;
};

}  // namespace het::self_test
