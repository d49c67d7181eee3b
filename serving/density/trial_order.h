#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het::density {

/// What a program that measures is told on its standard input: one object of JSON (../README.md).
struct TrialOrder {
  size_t streams = 1;
  double fps = 15;       ///< frames become due at this rate in every stream
  double warmup_s = 2;   ///< between the first due frame and the window
  double window_s = 10;  ///< frames that become due in it are measured
  /// A frame that arrives so long after its due time, or never, counts as dropped.
  double lost_after_s = 1;
  /// A stream whose next frame could not start for so long ends the trial early.
  double hopeless_s = 2;
  std::string device;  ///< for all inference elements; empty: as the pipeline says
  std::string sink;    ///< where frames arrive; empty: at the only sink
  /// The words of a command line, or a single one: a text. Empty for a program of the user's.
  std::vector<std::string> pipeline;
  bool operator==(const TrialOrder&) const = default;

  std::string to_json() const;
  /// Fails with ParseError.
  static Result<TrialOrder> parse(std::string_view json);
};

}  // namespace het::density
