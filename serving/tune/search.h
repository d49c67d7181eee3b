#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/tune/paired_ratio.h"

namespace het::serving {

/// Something that may be changed.
struct TuneSetting {
  std::string element;  ///< "heterodetect#1"; "pipeline"
  std::string name;     ///< "device", "NUM_STREAMS", "instances"
  /// The first is as given; "" is: not given.
  std::vector<std::string> values;
};

/// An index of a value for each setting; all 0 is the pipeline as given.
using TuneChoice = std::vector<size_t>;

/// What plays pipelines; a test has its own.
class TuneMachine {
 public:
  virtual ~TuneMachine() = default;
  /// Frames per second of one run. Cancelled: stopped by the user or at the end of the time.
  virtual Result<double> measure(const TuneChoice& choice) = 0;
  /// How results differ from those of the pipeline as given, where it is more than the bound; empty
  /// where it is not.
  virtual Result<std::string> check(const TuneChoice& choice) = 0;
  virtual double seconds_left() const = 0;
  virtual bool is_stopped() const = 0;
};

enum class TuneDecision { Taken, NoGain, Refused, Failed, NotDecided };

/// One change that was tried, beside the best so far.
struct TuneAttempt {
  size_t round = 0;
  size_t setting = 0;
  size_t value = 0;
  TuneDecision decision = TuneDecision::NotDecided;
  std::optional<RatioInterval> ratio;
  std::string reason;  ///< of Refused and Failed
};

struct TuneResult {
  TuneChoice best;
  std::vector<TuneAttempt> attempts;
  /// The best beside the pipeline as given, by runs of their own after the search; nothing where
  /// nothing was taken or no time was left.
  std::optional<RatioInterval> gain;
  bool is_complete = false;  ///< a whole round brought nothing new
  /// Of a pipeline that had played before, which ended the search.
  std::string failure;
};

/// Told before each attempt and after it.
struct TuneListener {
  std::function<void(const TuneAttempt&)> begins;
  std::function<void(const TuneAttempt&)> ends;
  std::function<void()> confirms;
};

/// Coordinate search: one setting after the other, in their order, each value beside the best so
/// far, in rounds until one brings nothing. The time of the machine is kept, with what the last
/// comparison needs. Fails where the pipeline as given cannot be measured at first.
Result<TuneResult> search_settings(const std::vector<TuneSetting>& settings, TuneMachine& machine,
                                   const TuneListener& listener);

}  // namespace het::serving
