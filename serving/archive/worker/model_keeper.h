#pragma once

#include <gst/gst.h>

#include <vector>

#include "serving/launch/instance/pipeline_elements.h"

namespace het::archive {

/// Keeps models that pipelines share by model-instance-id in memory from one pipeline to the next:
/// takes the elements that hold them out of a pipeline that has ended. Thread-bound.
class ModelKeeper {
 public:
  ModelKeeper() = default;
  ~ModelKeeper() { release(); }
  ModelKeeper(const ModelKeeper&) = delete;
  ModelKeeper& operator=(const ModelKeeper&) = delete;

  /// Takes them from a pipeline of which nothing moves any more, and lets go of those before.
  void take_from(GstElement* pipeline);
  void release();

 private:
  std::vector<serving::ElementRef> kept_;
};

}  // namespace het::archive
