#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "inference/base/frame_span.h"
#include "inference/base/parallel_loop.h"
#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/devices/device.h"
#include "inference/tensors/tensor.h"

namespace het {

/// When one execution got to where, while somebody listens to frame spans; else not set.
struct ExecutionTimes {
  SpanTime started;
  SpanTime begun;      ///< on the device's thread
  SpanTime converted;  ///< its pictures are tensors
  bool had_pictures = false;
};

/// The tensors of one execution as the device sees them. Owned by the InferRequest; during an
/// execution only the device touches it.
class HET_API RequestIo {
 public:
  RequestIo(std::vector<Tensor> inputs, std::vector<Tensor> outputs);

  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  const Tensor& input(size_t index) const { return inputs_[index]; }
  /// Empty before the first execution of an output that is sized at run time.
  Tensor& output(size_t index) { return outputs_[index]; }
  const Tensor& output(size_t index) const { return outputs_[index]; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  void set_input(size_t index, Tensor tensor);
  void set_output(size_t index, Tensor tensor) { outputs_[index] = std::move(tensor); }

  /// Pictures that wait to be converted into input `index`, one per batch item; empty when the
  /// input was set as a tensor. A device that converts them itself calls clear_images().
  const std::vector<ImageRegion>& images(size_t index) const { return images_[index]; }
  void set_image(size_t index, size_t batch_index, ImageRegion region);
  void clear_images(size_t index) { images_[index].clear(); }
  /// Hands the pictures of an input over.
  std::vector<ImageRegion> take_images(size_t index) { return std::exchange(images_[index], {}); }

  /// Whose state (ReadValue, Assign) the execution reads and writes; see InferRequest.
  const std::string& stream() const { return stream_; }
  void set_stream(std::string stream) { stream_ = std::move(stream); }

  /// The frame that spans of the execution belong to; 0: none.
  uint64_t frame() const { return frame_; }
  void set_frame(uint64_t frame) { frame_ = frame; }
  using Time = std::chrono::steady_clock::time_point;
  /// See InferRequest.
  Time deadline() const { return deadline_; }
  void set_deadline(Time deadline) { deadline_ = deadline; }
  const ExecutionTimes& times() const { return times_; }
  /// Before an execution.
  void note_start();
  /// For devices that never call preprocess_pending(): the execution runs from now on, or from
  /// `time` on, which is the same for all requests of a batch.
  void note_begin();
  void note_begin(Time time);

  /// Converts all waiting host pictures with the ports' PreprocessDesc and lets go of them. The
  /// device calls it on its own thread; `loop`: others that help.
  Status preprocess_pending(const std::vector<Port>& ports, const ParallelLoop* loop = nullptr);

 private:
  Status preprocess_input(const Port& port, size_t index, const ParallelLoop* loop);

  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  std::vector<std::vector<ImageRegion>> images_;
  std::string stream_;
  uint64_t frame_ = 0;
  Time deadline_ = Time::max();
  ExecutionTimes times_;
};

}  // namespace het
