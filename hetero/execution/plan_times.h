#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace het::hetero {

/// How many executions are on their way on each device, of all plans of a model.
class DeviceLoads {
 public:
  using Count = std::shared_ptr<std::atomic<size_t>>;
  /// Of the device with this name. Thread-safe.
  Count count(const std::string& device);

 private:
  std::mutex mutex_;
  std::map<std::string, Count> counts_;
};

/// What the subgraphs of a plan take, from start to end, and what they took when the plan was made:
/// medians of kSamples executions. Times are kept apart for each number of executions that were on
/// their way on the device when one began, so that more requests in flight are no drift.
/// Thread-safe; allocates nothing while requests run.
class PlanTimes {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;
  static constexpr size_t kSamples = 16;
  /// This many others and more count as the same.
  static constexpr size_t kMostOthers = 7;

  struct Run {
    Clock::time_point begun;
    size_t others = 0;
  };
  struct Change {
    Duration planned{0};
    Duration now{0};
    /// Quartiles: half of the executions lie between them.
    Duration low{0};
    Duration high{0};
    double factor() const {
      return static_cast<double>(now.count()) / static_cast<double>(planned.count());
    }
  };

  /// Per subgraph the load of its device.
  explicit PlanTimes(std::vector<DeviceLoads::Count> loads);

  Run begin(size_t subgraph);
  /// Executions that fail are not counted.
  void end(size_t subgraph, const Run& run, bool is_good);
  /// Of a subgraph that has run kSamples times more than what the plan knows, else empty.
  std::optional<Change> change(size_t subgraph) const;
  size_t size() const { return subgraphs_.size(); }
  /// What it should take alone, where nothing was measured.
  void expect(size_t subgraph, Duration alone);
  /// What few executions took is the plan's, too: those that it was chosen by.
  void settle();
  /// What subgraphs take now is the plan's from here on.
  void accept();

 private:
  struct Samples {
    std::array<Duration, kSamples> times{};
    size_t count = 0;  ///< that were added since it was last reset
  };
  struct Beside {
    std::optional<Duration> planned;  ///< the median of the first kSamples
    Samples recent;
  };
  struct Subgraph {
    DeviceLoads::Count load;
    std::array<Beside, kMostOthers + 1> beside;  ///< by others
    size_t last = 0;                             ///< of `beside`, added to last
  };

  mutable std::mutex mutex_;  ///< protects subgraphs_; taken alone
  std::vector<Subgraph> subgraphs_;
};

}  // namespace het::hetero
