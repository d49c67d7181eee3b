#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"

namespace het::archive {

/// Where a video is.
struct VideoPlace {
  std::string name;  ///< below the folder that all files have in common; unique
  std::string uri;
  std::string path;  ///< absolute; empty for what is no file
};

/// The videos that words of a command line mean, in their order, each once: files, URLs, globs
/// (sorted), and lists (.txt, .lst, or "-": standard input) with a file, a URL or a glob a line.
/// Fails with NotFound for a file or a list of the command line that is not there and for a glob
/// that nothing matches; files of lists may be missing, which is found out later. Fails with
/// InvalidArgument for names that are no UTF-8.
Result<std::vector<VideoPlace>> find_videos(const std::vector<std::string>& words);

}  // namespace het::archive
