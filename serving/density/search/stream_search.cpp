#include "serving/density/search/stream_search.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace het::density {
namespace {

class StreamSearch {
 public:
  StreamSearch(const SearchSettings& settings, const TryStreams& try_streams)
      : settings_(settings), try_(try_streams) {}

  Result<SearchResult> run() {
    HET_TRY(double_up(std::clamp(settings_.first, size_t{1}, settings_.most), 0));
    while (!stopped_) {
      HET_TRY(bisect());
      HET_TRY(confirm());
      if (stopped_ || low_ == 0) break;
      HET_ASSIGN(const bool goes_on, look_above());
      if (!goes_on) break;
    }
    return result();
  }

 private:
  Tally& tally(size_t streams) { return result_.tallies[streams]; }

  /// One more run; sets stopped_ where there is none.
  Result<bool> measure(size_t streams) {
    HET_ASSIGN(const std::optional<bool> passes, try_(streams, trials_left(streams)));
    if (!passes) {
      stopped_ = true;
      return false;
    }
    ++(*passes ? tally(streams).passes : tally(streams).fails);
    return *passes;
  }

  /// By the runs there are, or by one.
  Result<bool> passes(size_t streams) {
    const Tally known = tally(streams);
    if (known.runs() > 0) return known.passes > known.fails;
    return measure(streams);
  }

  /// Pass 1. From `next` on, with steps that double; up to the fewest that is known to fail.
  Status double_up(size_t next, size_t step) {
    while (!stopped_ && next < high_) {
      HET_ASSIGN(const bool well, passes(next));
      if (stopped_) break;
      if (!well) {
        high_ = next;
        break;
      }
      low_ = next;
      if (low_ >= settings_.most) break;
      step = step == 0 ? next : step * 2;
      next = std::min(next + step, settings_.most);
    }
    return {};
  }

  /// Pass 2.
  Status bisect() {
    while (!stopped_ && high_ != kUnknown && high_ - low_ > 1) {
      const size_t middle = low_ + (high_ - low_) / 2;
      HET_ASSIGN(const bool well, passes(middle));
      if (stopped_) break;
      (well ? low_ : high_) = middle;
    }
    return {};
  }

  /// Pass 3. Down until all runs pass.
  Status confirm() {
    while (!stopped_ && low_ > 0 && tally(low_).passes < settings_.confirm) {
      HET_ASSIGN(const bool well, measure(low_));
      if (!well && !stopped_) {
        high_ = low_;
        // A number below may have failed once, when the search passed it by.
        do {
          --low_;
        } while (low_ > 0 && tally(low_).fails > 0);
      }
    }
    is_confirmed_ = !stopped_;
    return {};
  }

  /// Runs until most have failed or all are done: whether all have passed.
  Result<bool> passes_all(size_t streams) {
    const size_t majority = settings_.confirm / 2 + 1;
    while (!stopped_ && tally(streams).fails < majority &&
           tally(streams).runs() < settings_.confirm) {
      HET_TRY(measure(streams));
    }
    return !stopped_ && tally(streams).fails == 0;
  }

  /// Pass 4. True where the search goes on upwards. A number that passes most runs only may be the
  /// border, or have failed by accident: then the next one passes.
  Result<bool> look_above() {
    if (low_ >= settings_.most) {
      result_.reached_most = true;
      return false;
    }
    for (size_t above = low_ + 1; above <= std::min(low_ + 2, settings_.most); ++above) {
      HET_ASSIGN(const bool well, passes_all(above));
      if (stopped_) {
        is_confirmed_ = false;
        return false;
      }
      if (well) {
        low_ = above;
        HET_TRY(go_on_upwards());
        return true;
      }
      if (tally(above).fails > tally(above).passes) return false;
      result_.is_border = above == low_ + 1;
    }
    return false;
  }

  Status go_on_upwards() {
    result_.is_border = false;
    high_ = kUnknown;
    for (const auto& [streams, runs] : result_.tallies) {
      if (streams > low_ && runs.fails > runs.passes) high_ = std::min(high_, streams);
    }
    return low_ < settings_.most ? double_up(low_ + 1, 1) : Status();
  }

  /// After the trial that begins.
  size_t trials_left(size_t streams) {
    const size_t confirmations = settings_.confirm - 1 + settings_.confirm / 2 + 1;
    if (high_ == kUnknown) {
      // As if it went on for one doubling.
      return static_cast<size_t>(std::bit_width(streams)) + confirmations;
    }
    const size_t bisections = high_ - low_ > 1 ? std::bit_width(high_ - low_ - 1) - 1U : 0U;
    const size_t run = tally(low_).passes + (low_ + 1 < kUnknown ? tally(low_ + 1).runs() : 0);
    const size_t all = settings_.confirm + settings_.confirm / 2 + 1;
    return bisections + (all > run + 1 ? all - run - 1 : 0);
  }

  SearchResult result() {
    // Stopped: what has passed more often than not.
    if (stopped_) {
      low_ = 0;
      for (const auto& [streams, runs] : result_.tallies) {
        if (runs.passes > runs.fails) low_ = std::max(low_, streams);
      }
    }
    std::erase_if(result_.tallies, [](const auto& entry) { return entry.second.runs() == 0; });
    result_.streams = low_;
    result_.was_stopped = stopped_;
    result_.is_confirmed = is_confirmed_ && !stopped_ && !result_.is_border;
    return std::move(result_);
  }

  static constexpr size_t kUnknown = static_cast<size_t>(-1);

  const SearchSettings settings_;
  const TryStreams& try_;
  SearchResult result_;
  size_t low_ = 0;          ///< the most that has passed
  size_t high_ = kUnknown;  ///< the fewest that has failed
  bool stopped_ = false;
  bool is_confirmed_ = false;
};

}  // namespace

Result<SearchResult> search_streams(const SearchSettings& settings, const TryStreams& try_streams) {
  return StreamSearch(settings, try_streams).run();
}

}  // namespace het::density
