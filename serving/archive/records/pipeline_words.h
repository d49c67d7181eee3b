#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/records/archive_plan.h"

namespace het::archive {

/// What is put into the pipeline for a shard.
struct ShardValues {
  std::string video;  ///< a path; empty for what is no file
  std::string uri;
  std::string name;
  std::string output;  ///< where lines are to be written
};

/// Fails with InvalidArgument for a pipeline that cannot be that of an archive: without words,
/// without {output}, without {video} or {uri}, with a placeholder that is not known.
Status check_pipeline(const std::vector<std::string>& words);

/// The pipeline of a shard as a text for gst_parse_launch, whatever is in the values. Fails with
/// InvalidArgument: {video} of what is no file, a value that GStreamer has no way of writing.
Result<std::string> shard_pipeline(const std::vector<std::string>& words,
                                   const ShardValues& values);

/// Which of a video's names go into what the pipeline writes: placeholders in words that do not
/// tell a source what to read (location=, uri=).
struct WrittenNames {
  bool video = false;
  bool uri = false;
  bool name = false;
};
WrittenNames written_names(const std::vector<std::string>& words);

/// Files that properties of the pipeline name (model=, model-proc=, labels-file= ...), with those
/// that belong to a model: "net.xml" has "net.bin" beside it. Sorted.
std::vector<std::string> named_files(const std::vector<std::string>& words);

/// A URI without the query and fragment, in which signatures are.
std::string unsigned_uri(const std::string& uri);

}  // namespace het::archive
