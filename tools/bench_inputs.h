#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/requests/infer_request.h"
#include "tools/bench.h"

namespace het {

/// A picture that every inference converts anew, as those of a pipeline do; perhaps none.
class BenchFrames {
 public:
  BenchFrames() = default;
  BenchFrames(Image image, size_t port) : image_(std::move(image)), port_(port) {}

  /// For the next execution of the request, for all items of its batch.
  Status put(InferRequest& request) const;

 private:
  std::optional<Image> image_;
  size_t port_ = 0;
};

/// What a benchmark gives to a model's inputs.
class BenchInputs {
 public:
  /// Of the options `inputs` and `frames`.
  static Result<BenchInputs> create(const BenchOptions& options, const CompiledModel& model);

  /// The files of the options, and random values of a fixed seed for other inputs.
  Status fill(InferRequest& request) const;
  const BenchFrames& frames() const { return frames_; }

 private:
  /// "FILE" or "NAME:FILE" of -i, bound to its port.
  struct Given {
    size_t port = 0;
    std::string file;
  };

  std::vector<Given> given_;
  BenchFrames frames_;
};

}  // namespace het
