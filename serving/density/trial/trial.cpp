#include "serving/density/trial/trial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "devices/register_devices.h"
#include "serving/density/trial/element_times.h"
#include "serving/density/trial/stream_under_test.h"
#include "serving/density/trial/trial_pipelines.h"
#include "serving/launch/instance/process_time.h"
#include "serving/launch/instance/written_files.h"

namespace het::density {
namespace {

constexpr guint kTickMs = 20;
/// Until the first frame of every stream is at its sink; models are compiled on the way.
constexpr double kMostStartS = 180;
/// Between the first frames and the time from which frames are due together.
constexpr double kSettleS = 0.3;
constexpr double kMostStopS = 10;

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double size = 0;
  double resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

bool is_live(GstElement* pipeline) {
  GstQuery* query = gst_query_new_latency();
  gboolean live = FALSE;
  if (gst_element_query(pipeline, query)) {
    gst_query_parse_latency(query, &live, nullptr, nullptr);
  }
  gst_query_unref(query);
  return live;
}

/// From the start of the streams to the end of the measurement, in the default main context.
class DensityTrial {
 public:
  explicit DensityTrial(const TrialOrder& order)
      : order_(order), loop_(g_main_loop_new(nullptr, FALSE)) {}
  ~DensityTrial() { g_main_loop_unref(loop_); }
  DensityTrial(const DensityTrial&) = delete;
  DensityTrial& operator=(const DensityTrial&) = delete;

  TrialReport run() {
    auto pipelines = make_trial_pipelines(order_, report_.notes);
    if (!pipelines) {
      report_.error = pipelines.error().message();
      return report_;
    }
    for (serving::ElementRef& pipeline : *pipelines) {
      streams_.push_back(std::make_unique<StreamUnderTest>(
          std::move(pipeline), order_.fps, order_.sink,
          order_.streams > 1 ? fmt::format("stream {}", streams_.size()) : std::string(),
          [this](GstElement* element) { no_output_.redirect(element); },
          // Streams are alike: what is changed in one is told.
          [this, is_first = streams_.empty()](std::string text) {
            if (is_first) note(std::move(text));
          }));
    }
    started_s_ = serving::wall_time_s();
    for (const auto& stream : streams_) stream->start();
    const guint timer = g_timeout_add(kTickMs, tick, this);
    g_main_loop_run(loop_);
    g_source_remove(timer);
    stop_all();
    return report_;
  }

 private:
  enum class Phase { Starting, WarmingUp, Measuring, Waiting, Over };

  static gboolean tick(gpointer user) {
    static_cast<DensityTrial*>(user)->look();
    return G_SOURCE_CONTINUE;
  }

  void note(std::string text) {
    const std::lock_guard lock(notes_mutex_);
    if (std::ranges::find(report_.notes, text) == report_.notes.end()) {
      report_.notes.push_back(std::move(text));
    }
  }

  void look() {
    if (phase_ == Phase::Over) return;
    for (size_t i = 0; i < streams_.size(); ++i) {
      const std::string problem = streams_[i]->problem();
      if (problem.empty()) continue;
      return give_up(streams_.size() == 1 ? problem : fmt::format("stream {}: {}", i, problem));
    }
    const double now_s = serving::wall_time_s();
    switch (phase_) {
      case Phase::Starting:
        return look_at_start(now_s);
      case Phase::WarmingUp:
        if (now_s < begin_s_ && !is_hopeless(now_s)) return;
        begin_s_ = std::min(now_s, begin_s_);
        phase_ = Phase::Measuring;
        cpu_s_ = serving::process_time_s();
        measured_from_s_ = now_s;
        return;
      case Phase::Measuring:
        if (now_s < end_s_ && !(now_s > begin_s_ + kLeastWindowS && is_hopeless(now_s))) return;
        report_.ended_early = now_s < end_s_;
        end_s_ = std::min(now_s, end_s_);
        phase_ = Phase::Waiting;
        report_.cpu_s =
            (serving::process_time_s() - cpu_s_) * (end_s_ - begin_s_) / (now_s - measured_from_s_);
        report_.memory_mib = resident_mib();
        return;
      case Phase::Waiting:
        if (report_.ended_early || now_s >= end_s_ + order_.lost_after_s || have_all()) finish();
        return;
      case Phase::Over:
        return;
    }
  }

  void look_at_start(double now_s) {
    const auto late =
        std::ranges::find_if(streams_, [](const auto& stream) { return !stream->has_arrived(); });
    if (late != streams_.end()) {
      if (now_s < started_s_ + kMostStartS) return;
      return give_up(fmt::format(
          "no frame reached the sink of stream {} within {:g} s of its start{}",
          late - streams_.begin(), kMostStartS,
          (*late)->pacing_place().empty() ? "; no video came from its source, either" : ""));
    }
    for (const auto& stream : streams_) {
      if (stream->pacing_place().empty()) {
        return give_up(
            "frames arrive, but none has passed a video decoder or come from a source as "
            "video/x-raw; density has to know where frames begin");
      }
      if (is_live(stream->pipeline())) {
        return give_up(
            "its source is live and gives frames when it wants; density needs frames that it can "
            "ask for: give a file, recorded from that source");
      }
    }
    // As cameras are: not all at the same moment.
    const double base_s = now_s + kSettleS;
    begin_s_ = base_s + order_.warmup_s;
    end_s_ = begin_s_ + order_.window_s;
    const double step_s = 1 / (order_.fps * static_cast<double>(streams_.size()));
    for (size_t i = 0; i < streams_.size(); ++i) {
      streams_[i]->times().measure(base_s + static_cast<double>(i) * step_s, begin_s_, end_s_);
    }
    phase_ = Phase::WarmingUp;
  }

  bool is_hopeless(double now_s) const {
    return std::ranges::any_of(streams_, [&](const auto& stream) {
      return stream->times().lag_s(now_s) > order_.hopeless_s;
    });
  }

  bool have_all() const {
    return std::ranges::all_of(streams_,
                               [](const auto& stream) { return stream->times().has_all(); });
  }

  void finish() {
    report_.window_s = end_s_ - begin_s_;
    for (const auto& stream : streams_) report_.streams.push_back(stream->times().result(end_s_));
    std::vector<GstElement*> pipelines;
    for (const auto& stream : streams_) pipelines.push_back(stream->pipeline());
    report_.elements = element_times(pipelines);
    size_t loops = 0;
    for (const auto& stream : streams_) loops = std::max(loops, stream->loops());
    if (loops > 0) note("the video is shorter than a trial and begins anew at its end");
    phase_ = Phase::Over;
    g_main_loop_quit(loop_);
  }

  void give_up(std::string reason) {
    report_.error = std::move(reason);
    phase_ = Phase::Over;
    g_main_loop_quit(loop_);
  }

  void stop_all() {
    for (const auto& stream : streams_) stream->stop();
    const double limit_s = serving::wall_time_s() + kMostStopS;
    const auto all_stopped = [this] {
      return std::ranges::all_of(streams_, [](const auto& stream) { return stream->is_stopped(); });
    };
    while (!all_stopped() && serving::wall_time_s() < limit_s) {
      if (!g_main_context_iteration(nullptr, FALSE)) ::usleep(1000);
    }
    // Whose elements do not let go stays with them.
    for (auto& stream : streams_) {
      if (!stream->is_stopped()) static_cast<void>(stream.release());
    }
  }

  static constexpr double kLeastWindowS = 1;

  const TrialOrder order_;
  GMainLoop* loop_;
  serving::NoOutput no_output_;
  std::mutex notes_mutex_;  ///< protects the report's notes
  TrialReport report_;
  std::vector<std::unique_ptr<StreamUnderTest>> streams_;
  Phase phase_ = Phase::Starting;
  double started_s_ = 0;
  double begin_s_ = 0;
  double end_s_ = 0;
  double measured_from_s_ = 0;
  double cpu_s_ = 0;
};

std::string read_standard_input() {
  std::string text;
  char part[65536];
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part, static_cast<size_t>(count));
  }
}

void write_report(int fd, const TrialReport& report) {
  const std::string line = report.to_line();
  size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(fd, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    written += static_cast<size_t>(count);
  }
}

}  // namespace

TrialReport run_trial(const TrialOrder& order) {
  GError* failure = nullptr;
  if (!gst_init_check(nullptr, nullptr, &failure)) {
    TrialReport report;
    report.error = fmt::format("cannot initialise GStreamer: {}",
                               failure ? failure->message : "it does not say why");
    g_clear_error(&failure);
    return report;
  }
  const auto held = het::core();
  return DensityTrial(order).run();
}

void trial_main() {
  ::signal(SIGPIPE, SIG_IGN);
  // What elements print goes to standard error.
  const int reports = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const auto order = TrialOrder::parse(read_standard_input());
  TrialReport report;
  if (order) {
    report = run_trial(*order);
  } else {
    report.error = order.error().message();
  }
  write_report(reports, report);
  std::fflush(nullptr);
  ::_exit(0);
}

}  // namespace het::density
