#pragma once

#include <gst/gst.h>

#include <functional>
#include <string>
#include <vector>

namespace het::gst_test {

/// An error, warning or information from the bus.
struct PostedError {
  std::string element;  ///< name of the element that posted it
  std::string text;
};

/// How a pipeline ended.
struct Outcome {
  bool eos = false;
  std::vector<PostedError> errors;
  std::vector<PostedError> warnings;
  std::vector<PostedError> remarks;  ///< messages of type INFO
  /// "" after EOS without errors, else what happened.
  std::string problem() const;
  std::vector<PostedError> errors_of(const std::string& element) const;
};

/// A pipeline made from a gst-launch description.
class PipelineRun {
 public:
  /// A description that GStreamer cannot parse throws std::invalid_argument.
  explicit PipelineRun(const std::string& description);
  ~PipelineRun();
  PipelineRun(const PipelineRun&) = delete;
  PipelineRun& operator=(const PipelineRun&) = delete;

  /// Borrowed; lives as long as the pipeline.
  GstElement* element(const std::string& name) const;
  GstElement* pipeline() const { return pipeline_; }
  /// Calls back for every buffer that enters the sink pad of `name`.
  void on_buffer(const std::string& name, std::function<void(GstBuffer*)> callback);
  /// Drops those for which `keep` says no.
  void keep_buffers(const std::string& name, std::function<bool(GstBuffer*)> keep);
  /// Current caps of the sink pad of `name`; the caller unrefs them.
  GstCaps* caps(const std::string& name) const;
  /// Plays until EOS, an error or the time limit, then goes to NULL and gathers further errors.
  Outcome play(unsigned limit_s = 120);

 private:
  GstElement* pipeline_;
  std::vector<std::function<bool(GstBuffer*)>*> callbacks_;
};

}  // namespace het::gst_test
