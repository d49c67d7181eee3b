#pragma once

#include <string>
#include <utility>

#include "serving/launch/report.h"

namespace het::serving {

/// Writes reports to a pipe whose other end may be slow or gone: it never waits and never fails. A
/// reader that is behind misses lines of Progress; one that is gone misses all. Thread-bound.
class ReportWriter {
 public:
  /// Owns the descriptor and makes it non-blocking. The caller ignores SIGPIPE.
  explicit ReportWriter(int fd);
  /// Without close(): what could not be written yet is lost.
  ~ReportWriter();
  ReportWriter(const ReportWriter&) = delete;
  ReportWriter& operator=(const ReportWriter&) = delete;

  void write(const Report& report);
  /// Waits that long for the reader to take what is left, then closes.
  void close(double timeout_s);

 private:
  void write_pending();

  int fd_;
  std::string pending_;  ///< whole lines, but the first may have begun
};

}  // namespace het::serving
