#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "inference/base/status.h"

namespace het::serving {

/// What the pipelines of a stream are made of, as far as a launcher wants to know.
struct StreamDescription {
  std::string stream;
  struct Inference {
    std::string element;  ///< its name in the pipeline
    std::string device;   ///< its property device: "HETERO:GPU,CPU"
    std::string model;
    /// What the element itself says (ie-config, cpu-throughput-streams ...), which wins over
    /// defaults of the process: "CPU.INFERENCE_NUM_THREADS" -> "2".
    std::vector<std::pair<std::string, std::string>> properties;
  };
  std::vector<Inference> inferences;
  /// Device files that the pipeline opens: cameras ("/dev/video0"), render nodes.
  std::vector<std::string> device_files;
  /// Files that it writes, as its properties name them.
  std::vector<std::string> written_files;
  /// Elements with threads of their own for decoding, and their number where the pipeline says it.
  /// Decoders that decodebin finds are not known before it plays.
  struct Decoder {
    std::string element;
    size_t threads = 0;  ///< 0: left open
  };
  std::vector<Decoder> decoders;
};

/// A stream has begun to play (its first frame reached a sink); `run` counts from 1.
struct StreamPlays {
  std::string stream;
  size_t run = 0;
};

/// A stream's pipeline has failed.
struct StreamFailed {
  std::string stream;
  std::string reason;
  double retry_in_s = -1;  ///< < 0: it stays as it is
};

struct StreamEnded {
  std::string stream;
};

/// Once a second: counts since the instance began.
struct Progress {
  struct Stream {
    std::string stream;
    std::string state;    ///< "starting", "playing", "waiting", "ended", "failed"
    uint64_t frames = 0;  ///< of all its runs
    size_t runs = 0;
  };
  double wall_s = 0;
  double cpu_s = 0;  ///< processor time of the process
  std::vector<Stream> streams;
};

/// The end of a trial: what was done while every stream played.
struct TrialResult {
  double wall_s = 0;
  double cpu_s = 0;          ///< processor time of the process
  double decoding_s = 0;     ///< of it, threads that decode
  double inference_s = 0;    ///< of it, threads of the library's devices
  uint64_t frames = 0;       ///< that reached sinks, of all streams
  bool ended_early = false;  ///< a stream ended before the time was over; wall_s is shorter
};

/// What an inference element has found in one frame.
struct RecordedFrame {
  std::string element;
  size_t index = 0;  ///< of the frames that left the element, from 0
  struct Object {
    std::string label;
    double left = 0;  ///< pixels
    double top = 0;
    double width = 0;
    double height = 0;
    double confidence = 0;
    /// What else is said of it, in its order: "color=red".
    std::vector<std::string> attributes;
    bool operator==(const Object&) const = default;
  };
  std::vector<Object> objects;
};

/// A line that an instance writes to its launcher.
struct Report {
  std::variant<StreamDescription, StreamPlays, StreamFailed, StreamEnded, Progress, TrialResult,
               RecordedFrame>
      content;

  /// One line of JSON, with its end.
  std::string to_line() const;
  /// Fails with ParseError.
  static Result<Report> parse(std::string_view line);
};

/// Exit codes of an instance.
inline constexpr int kInstanceDone = 0;
inline constexpr int kInstanceFailed = 1;    ///< a stream failed for good, after it had played
inline constexpr int kInstanceUnusable = 2;  ///< a pipeline cannot be made or never played
inline constexpr int kInstanceKilled = 3;    ///< it was told to end and did not in time

}  // namespace het::serving
