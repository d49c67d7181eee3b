#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>

#include "inference/base/status.h"

namespace het::density {

struct SearchSettings {
  size_t first = 1;    ///< streams of the first trial
  size_t most = 1024;  ///< no more are tried
  size_t confirm = 3;  ///< runs that the result has to pass, each
};

/// Runs with one number of streams.
struct Tally {
  size_t passes = 0;
  size_t fails = 0;
  size_t runs() const { return passes + fails; }
};

struct SearchResult {
  size_t streams = 0;
  /// How sure: all confirmation runs passed, and most of those with one stream more failed.
  bool is_confirmed = false;
  /// One stream more passes most runs, not all: the border lies between.
  bool is_border = false;
  bool reached_most = false;  ///< `most` streams pass: the machine may carry more
  bool was_stopped = false;   ///< time or a signal: the most that has passed so far
  std::map<size_t, Tally> tallies;
};

/// Tries a number of streams: whether they pass; nothing: the search has to end. `left` is about
/// how many trials follow this one.
using TryStreams = std::function<Result<std::optional<bool>>(size_t streams, size_t left)>;

/// The most streams that pass, where fewer streams pass more easily and trials are not all alike.
///  1. doubling from `first` until a trial fails,
///  2. bisection between the most that has passed and the fewest that has failed,
///  3. confirmation: the result has to pass all its runs, else it is one less; where one stream
///     more passes all of its runs as well, the search goes on upwards from there.
/// No number is tried more than `confirm` times, so that the search ends.
Result<SearchResult> search_streams(const SearchSettings& settings, const TryStreams& try_streams);

}  // namespace het::density
