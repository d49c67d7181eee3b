#pragma once

#include <functional>
#include <string>
#include <vector>

#include "serving/launch/instance/instance.h"
#include "serving/launch/job.h"
#include "serving/launch/report.h"

namespace het::serving_test {

/// What an instance did.
struct InstanceOutcome {
  int code = -1;
  std::vector<serving::Report> reports;
  std::string messages;  ///< its standard error

  template <class Content>
  std::vector<Content> all() const {
    std::vector<Content> found;
    for (const serving::Report& report : reports) {
      if (const auto* content = std::get_if<Content>(&report.content)) found.push_back(*content);
    }
    return found;
  }
  /// "plays 1", "failed 0.05", "failed for good", "ended" of one stream, in their order.
  std::vector<std::string> history(const std::string& stream) const;
};

/// Runs a job in this process. `on_report` is called on another thread as reports come.
InstanceOutcome run_job(const serving::Job& job,
                        const std::function<void(const serving::Report&)>& on_report = nullptr,
                        const serving::RecordStreams& record = nullptr);

/// A job of streams "s1", "s2" ..., a text each, that starts again quickly.
serving::Job job_of(std::vector<std::string> pipelines,
                    serving::Job::Kind kind = serving::Job::Kind::Run);

/// Sends this process a signal as soon as the first stream plays.
std::function<void(const serving::Report&)> signal_at_play(int number);

}  // namespace het::serving_test
