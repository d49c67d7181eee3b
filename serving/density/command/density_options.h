#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serving/density/search/stream_search.h"
#include "serving/density/search/verdict.h"

namespace het::density {

struct DensityOptions {
  Goal goal;
  std::vector<std::string> devices;  ///< empty: as the pipeline says
  double window_s = 10;
  double warmup_s = 2;
  SearchSettings search;
  double time_limit_s = 0;  ///< of all searches; 0: none
  /// Processors: a trial that fails while others keep more of them busy is run again; 0: none is.
  double most_other_cpus = 0;
  std::string sink;
  std::string json_file;
  std::string chart_file;
  bool is_program = false;        ///< `line` measures by itself
  std::vector<std::string> line;  ///< behind --
};

struct ParsedDensity {
  DensityOptions options;
  std::optional<int> exit_status;  ///< of --help and of wrong usage
};
ParsedDensity parse_density_options(int argc, char** argv);

}  // namespace het::density
