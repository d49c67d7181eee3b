#include "serving/tune/search.h"

#include <algorithm>
#include <set>
#include <utility>

namespace het::serving {
namespace {

/// A value that was so much slower is not tried again in a later round.
constexpr double kHopeless = 0.85;
/// The last comparison may take that share of what is left when something was taken first.
constexpr double kMostReserve = 0.4;

class Search {
 public:
  Search(const std::vector<TuneSetting>& settings, TuneMachine& machine,
         const TuneListener& listener)
      : settings_(settings),
        machine_(machine),
        listener_(listener),
        all_seconds_(machine.seconds_left()) {
    result_.best.assign(settings.size(), 0);
  }

  Result<TuneResult> run() {
    // What cannot be measured at all ends here, and the first run of all warms caches.
    const double begin = machine_.seconds_left();
    const Result<double> first = machine_.measure(result_.best);
    if (!first && first.error().code() != StatusCode::Cancelled) return Failure(first.error());
    pair_s_ = 2 * (begin - machine_.seconds_left());
    while (may_go_on()) {
      const bool has_changed = play_round();
      if (!may_go_on()) break;
      if (!has_changed) {
        result_.is_complete = true;
        break;
      }
    }
    confirm();
    return std::move(result_);
  }

 private:
  bool has_gained() const {
    return std::ranges::any_of(result_.best, [](size_t value) { return value != 0; });
  }

  double reserve_s() const {
    if (!has_gained()) return 0;
    return std::min(pair_s_ * static_cast<double>(kLeastPairs), kMostReserve * all_seconds_);
  }

  bool may_go_on() const {
    return result_.failure.empty() && !machine_.is_stopped() &&
           machine_.seconds_left() - reserve_s() > pair_s_;
  }

  bool play_round() {
    ++round_;
    bool has_changed = false;
    for (size_t setting = 0; setting < settings_.size(); ++setting) {
      for (size_t value = 0; value < settings_[setting].values.size(); ++value) {
        if (!may_go_on()) return has_changed;
        has_changed = try_value(setting, value) || has_changed;
      }
    }
    return has_changed;
  }

  bool try_value(size_t setting, size_t value) {
    if (result_.best[setting] == value || hopeless_.contains({setting, value})) return false;
    TuneChoice choice = result_.best;
    choice[setting] = value;
    // Beside the same best it would come out the same.
    if (!tried_.insert({result_.best, choice}).second) return false;
    TuneAttempt attempt{round_, setting, value, TuneDecision::NotDecided, {}, {}};
    if (listener_.begins) listener_.begins(attempt);
    decide(attempt, choice);
    if (attempt.decision == TuneDecision::Taken) {
      result_.best = choice;
      // What another device made of the values says nothing about this one.
      if (settings_[setting].name == "device") hopeless_.clear();
    }
    const bool is_hopeless = attempt.decision == TuneDecision::Failed ||
                             attempt.decision == TuneDecision::Refused ||
                             (attempt.ratio && attempt.ratio->median < kHopeless);
    if (is_hopeless) hopeless_.insert({setting, value});
    result_.attempts.push_back(attempt);
    if (listener_.ends) listener_.ends(attempt);
    return attempt.decision == TuneDecision::Taken;
  }

  void decide(TuneAttempt& attempt, const TuneChoice& choice) {
    const Result<std::string> difference = machine_.check(choice);
    if (!difference) return fail(attempt, difference.error());
    if (!difference->empty()) {
      attempt.decision = TuneDecision::Refused;
      attempt.reason = *difference;
      return;
    }
    std::vector<double> ratios;
    PairVerdict verdict = PairVerdict::Undecided;
    while (verdict == PairVerdict::Undecided && may_go_on()) {
      if (!add_pair(attempt, result_.best, choice, ratios)) return;
      verdict = judge_pairs(ratios);
    }
    if (verdict == PairVerdict::Gain) attempt.decision = TuneDecision::Taken;
    if (verdict == PairVerdict::NoGain) attempt.decision = TuneDecision::NoGain;
  }

  bool add_pair(TuneAttempt& attempt, const TuneChoice& before, const TuneChoice& after,
                std::vector<double>& ratios) {
    const double begin = machine_.seconds_left();
    const Result<double> old_rate = machine_.measure(before);
    if (!old_rate) {
      // It has played before.
      if (old_rate.error().code() != StatusCode::Cancelled) {
        result_.failure = old_rate.error().message();
      }
      return false;
    }
    const Result<double> new_rate = machine_.measure(after);
    if (!new_rate) {
      fail(attempt, new_rate.error());
      return false;
    }
    pair_s_ = begin - machine_.seconds_left();
    ratios.push_back(*new_rate / *old_rate);
    attempt.ratio = ratio_interval(ratios);
    return true;
  }

  static void fail(TuneAttempt& attempt, const Status& status) {
    if (status.code() == StatusCode::Cancelled) return;  // not decided
    attempt.decision = TuneDecision::Failed;
    attempt.reason = status.message();
  }

  void confirm() {
    if (!has_gained() || machine_.is_stopped() || !result_.failure.empty()) return;
    if (listener_.confirms) listener_.confirms();
    TuneAttempt comparison;
    std::vector<double> ratios;
    const TuneChoice given(settings_.size(), 0);
    while (ratios.size() < kLeastPairs && !machine_.is_stopped() &&
           machine_.seconds_left() > pair_s_) {
      if (!add_pair(comparison, given, result_.best, ratios)) break;
    }
    result_.gain = comparison.ratio;
  }

  const std::vector<TuneSetting>& settings_;
  TuneMachine& machine_;
  const TuneListener& listener_;
  const double all_seconds_;
  double pair_s_ = 0;  ///< that the last pair took
  size_t round_ = 0;
  TuneResult result_;
  std::set<std::pair<size_t, size_t>> hopeless_;
  std::set<std::pair<TuneChoice, TuneChoice>> tried_;
};

}  // namespace

Result<TuneResult> search_settings(const std::vector<TuneSetting>& settings, TuneMachine& machine,
                                   const TuneListener& listener) {
  return Search(settings, machine, listener).run();
}

}  // namespace het::serving
