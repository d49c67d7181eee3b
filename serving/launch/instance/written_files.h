#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

namespace het::serving {

/// Files that an element of a pipeline writes, as its properties name them: `location` of sinks
/// (filesink, multifilesink, splitmuxsink ...; no other URI than file://) and `file-path` of
/// heterometapublish. No devices, FIFOs and streams of the process.
std::vector<std::string> written_files(GstElement* element);

/// Where output of a trial goes: nothing that the pipeline names is touched.
class NoOutput {
 public:
  /// Makes a folder for what cannot go to /dev/null; with the object it goes.
  NoOutput();
  ~NoOutput();
  NoOutput(const NoOutput&) = delete;
  NoOutput& operator=(const NoOutput&) = delete;

  /// filesink and fdsink write to /dev/null, heterometapublish too, also instead of to a broker or
  /// to standard output; other sinks that write files (some replace or remove them) to the folder.
  /// Sinks that send to a network go on doing so. Thread-safe.
  void redirect(GstElement* element) const;

 private:
  std::string folder_;
  int null_fd_ = -1;
};

}  // namespace het::serving
