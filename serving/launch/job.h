#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/devices/properties.h"
#include "serving/launch/back_off.h"

namespace het::serving {

/// A pipeline of an instance, in gst-launch-1.0's syntax, without placeholders.
struct StreamJob {
  std::string name;
  /// The arguments of a command line, or a single one: the text of a file.
  std::vector<std::string> arguments;
  /// Threads of each of its software decoders that leaves the number open; 0: as it is.
  size_t decoder_threads = 0;
  bool operator==(const StreamJob&) const = default;
};

/// What a process of `hetero-launch --instance` is told to do.
struct Job {
  enum class Kind {
    Run,       ///< until all streams have ended, or a signal
    Describe,  ///< makes the pipelines, tells what is in them, starts nothing
    /// Plays for `trial_s`, a slow pipeline until some frames have passed (30 s more at most),
    /// tells what was done and what it cost; writes no file.
    Trial,
    Record,  ///< tells what is found in the first `record_frames`; writes no file
  };

  Kind kind = Kind::Run;
  std::string instance;  ///< its name in messages
  /// For metrics: its place among the instances of a launch, from 0 on, and how often it was
  /// started before.
  size_t number = 0;
  size_t restarts = 0;
  std::vector<StreamJob> streams;
  /// Set by Core::set_property() before anything is compiled: device -> properties.
  std::map<std::string, Properties> defaults;
  double trial_s = 5;    ///< of a trial, without the time until every stream plays
  bool loops = false;    ///< a trial's stream that ends begins anew, where its source can
  bool unpaced = false;  ///< sinks of a trial and of a record do not wait for the clock
  size_t record_frames = 0;
  /// A stream whose pipeline fails after it has played.
  BackOff back_off;
  /// How long streams may take to end after a signal; then they are cut off.
  double stop_timeout_s = 10;
  bool operator==(const Job&) const = default;

  std::string to_json() const;
  /// Fails with ParseError.
  static Result<Job> parse(std::string_view json);
};

}  // namespace het::serving
