#include "serving/launch/instance/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "devices/register_devices.h"
#include "serving/launch/instance/bus_text.h"
#include "serving/launch/instance/decoder_clock.h"
#include "serving/launch/instance/process_time.h"
#include "serving/launch/instance/stream_group.h"
#include "serving/launch/instance/thread_times.h"
#include "serving/launch/instance/written_files.h"

namespace het::serving {
namespace {

constexpr guint kMostStartS = 120;
constexpr double kMostStopS = 30;
/// A trial of a slower pipeline goes on until it has so many.
constexpr uint64_t kLeastFrames = 4;
constexpr double kMostOverS = 30;
constexpr guint kOverPollMs = 10;

/// Names of the library's threads: "CPU.0" and its team, "GPU.1.wait.0"; of BATCH and models of
/// open shapes; of the link to a VPU.
std::vector<std::string> library_thread_names() {
  std::vector<std::string> names = {"batch", "plan.", "vpu-link"};
  for (const std::string& device : core()->available_devices()) {
    names.push_back(device.substr(0, device.find('.')) + ".");
  }
  return names;
}

/// What was done and what it cost, from the moment at which it is made.
class Measurement {
 public:
  explicit Measurement(const StreamGroup& group)
      : group_(group),
        wall_s_(wall_time_s()),
        cpu_s_(process_time_s()),
        streaming_s_(decoder_clock::streaming_s()),
        frames_(frames()) {}

  void sample() { threads_.sample(); }

  /// Whether the trial may end, `trial_s` of it being the wanted time.
  bool has_enough(double trial_s) const {
    return frames() - frames_ >= kLeastFrames || wall_time_s() - wall_s_ >= trial_s + kMostOverS;
  }

  TrialResult result() {
    TrialResult result;
    threads_.sample();
    result.wall_s = wall_time_s() - wall_s_;
    result.cpu_s = process_time_s() - cpu_s_;
    result.frames = frames() - frames_;
    result.decoding_s =
        decoder_clock::streaming_s() - streaming_s_ + threads_.sum_s(decoder_clock::is_worker);
    const std::vector<std::string> names = library_thread_names();
    result.inference_s = threads_.sum_s([&](pid_t, const std::string& name) {
      return std::any_of(names.begin(), names.end(),
                         [&](const std::string& begin) { return name.starts_with(begin); });
    });
    return result;
  }

 private:
  uint64_t frames() const {
    uint64_t sum = 0;
    for (const auto& stream : group_.streams()) sum += stream->frames();
    return sum;
  }

  const StreamGroup& group_;
  double wall_s_;
  double cpu_s_;
  double streaming_s_;
  uint64_t frames_;
  ThreadTimes threads_;
};

/// From the start of the streams to their cut.
class Trial {
 public:
  Trial(Job job, std::vector<ElementRef> pipelines, ReportWriter& reports)
      : job_(without_retry(std::move(job))),
        reports_(reports),
        group_(
            job_, std::move(pipelines), reports,
            [this](GstElement* element) {
              no_output_.redirect(element);
              if (job_.unpaced) unpace(element);
              decoder_clock::watch(element);
            },
            [this] { on_changed(); },
            job_.loops ? std::function<void()>([this] { on_looped(); }) : nullptr) {}

  int run() {
    const auto too_late = [](gpointer user) -> gboolean {
      auto& self = *static_cast<Trial*>(user);
      self.limit_timer_ = 0;
      self.give_up(fmt::format("a stream does not play {} s after its start", kMostStartS));
      return G_SOURCE_REMOVE;
    };
    limit_timer_ = g_timeout_add_seconds(kMostStartS, too_late, this);
    group_.run();
    for (const guint timer : {limit_timer_, end_timer_, sample_timer_}) {
      if (timer != 0) g_source_remove(timer);
    }
    if (group_.was_stopped()) return kInstanceKilled;
    return is_measured_ ? kInstanceDone : kInstanceUnusable;
  }

 private:
  static Job without_retry(Job job) {
    job.back_off.most = 0;
    return job;
  }

  bool any(Stream::State state) const {
    return std::any_of(group_.streams().begin(), group_.streams().end(),
                       [&](const auto& stream) { return stream->state() == state; });
  }

  void on_changed() {
    if (is_over_) return;
    if (any(Stream::State::Failed)) {
      // What cannot begin anew after all (a muxer that has ended its file) has played once.
      if (last_end_) return finish(true);
      return give_up("");
    }
    if (measurement_) {
      if (any(Stream::State::Ended)) finish(true);
      return;
    }
    if (any(Stream::State::Ended)) {
      return give_up("a stream ended before all of them played; nothing can be measured");
    }
    if (!any(Stream::State::Starting)) begin();
  }

  /// What a next round does not add to ends there.
  void on_looped() {
    if (measurement_) last_end_ = measurement_->result();
  }

  void begin() {
    measurement_ = std::make_unique<Measurement>(group_);
    const auto sample = [](gpointer user) -> gboolean {
      static_cast<Trial*>(user)->measurement_->sample();
      return G_SOURCE_CONTINUE;
    };
    sample_timer_ = g_timeout_add(500, sample, this);
    end_after(static_cast<guint>(std::lround(std::clamp(job_.trial_s, 0.0, 1e6) * 1000)));
  }

  /// Or a little later, as long as there are too few frames.
  void end_after(guint ms) {
    const auto end = [](gpointer user) -> gboolean {
      auto& self = *static_cast<Trial*>(user);
      self.end_timer_ = 0;
      if (self.is_over_ || self.measurement_->has_enough(self.job_.trial_s)) {
        self.finish(false);
      } else {
        self.end_after(kOverPollMs);
      }
      return G_SOURCE_REMOVE;
    };
    end_timer_ = g_timeout_add(ms, end, this);
  }

  void finish(bool ended_early) {
    if (is_over_) return;
    is_over_ = true;
    TrialResult result = measurement_->result();
    if (ended_early && last_end_) result = *last_end_;
    result.ended_early = ended_early;
    reports_.write(Report{result});
    is_measured_ = true;
    group_.cut(kMostStopS);
  }

  void give_up(const std::string& reason) {
    is_over_ = true;
    if (!reason.empty() && !group_.was_stopped()) print_line("error", "", reason);
    group_.cut(kMostStopS);
  }

  const Job job_;
  ReportWriter& reports_;
  NoOutput no_output_;
  StreamGroup group_;
  std::unique_ptr<Measurement> measurement_;
  std::optional<TrialResult> last_end_;  ///< at the last EOS behind which it began anew
  guint limit_timer_ = 0;
  guint end_timer_ = 0;
  guint sample_timer_ = 0;
  bool is_measured_ = false;
  bool is_over_ = false;
};

}  // namespace

int try_streams(const Job& job, std::vector<ElementRef> pipelines, ReportWriter& reports) {
  decoder_clock::start();
  return Trial(job, std::move(pipelines), reports).run();
}

}  // namespace het::serving
