#include "serving/launch/instance/instance.h"

#include <fcntl.h>
#include <gst/gst.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "devices/register_devices.h"
#include "serving/launch/instance/bus_text.h"
#include "serving/launch/instance/process_time.h"
#include "serving/launch/instance/stream_description.h"
#include "serving/launch/instance/stream_group.h"
#include "serving/launch/instance/trial.h"

namespace het::serving {
namespace {

/// For the launcher to take the last lines.
constexpr double kLastLinesS = 2;

Status set_defaults(Core& core, const Job& job) {
  for (const auto& [device, properties] : job.defaults) {
    if (properties.empty()) continue;
    if (const Status status = core.set_property(device, properties); !status.ok()) {
      return status.with_context(fmt::format("cannot set defaults of {}", device));
    }
  }
  return {};
}

/// A line a device, and what elements say instead.
void print_settings(const Job& job, const std::vector<ElementRef>& pipelines) {
  for (const auto& [device, properties] : job.defaults) {
    std::string text;
    for (const auto& [name, value] : properties) text += fmt::format(" {}={}", name, value);
    if (!text.empty()) print_line(device, "", std::string_view(text).substr(1));
  }
  for (size_t i = 0; i < pipelines.size(); ++i) {
    const std::string& name = job.streams[i].name;
    for (const auto& inference : describe_stream(name, pipelines[i].get()).inferences) {
      const std::string text = own_settings_text(inference);
      if (!text.empty()) print_line(inference.device, job.streams.size() > 1 ? name : "", text);
    }
  }
}

int describe(const Job& job, std::vector<ElementRef> pipelines, ReportWriter& reports) {
  for (size_t i = 0; i < pipelines.size(); ++i) {
    reports.write(Report{describe_stream(job.streams[i].name, pipelines[i].get())});
  }
  return kInstanceDone;
}

/// Tells once a second, and at the end, how far everything is.
class ProgressTimer {
 public:
  ProgressTimer(const StreamGroup& group, ReportWriter& reports)
      : group_(group), reports_(reports), begin_s_(wall_time_s()) {
    const auto tell = [](gpointer user) -> gboolean {
      static_cast<ProgressTimer*>(user)->tell_progress();
      return G_SOURCE_CONTINUE;
    };
    timer_ = g_timeout_add(1000, tell, this);
  }
  ~ProgressTimer() {
    g_source_remove(timer_);
    tell_progress();
  }
  ProgressTimer(const ProgressTimer&) = delete;
  ProgressTimer& operator=(const ProgressTimer&) = delete;

 private:
  void tell_progress() const {
    Progress progress;
    progress.wall_s = wall_time_s() - begin_s_;
    progress.cpu_s = process_time_s();
    for (const auto& stream : group_.streams()) progress.streams.push_back(stream->progress());
    reports_.write(Report{std::move(progress)});
  }

  const StreamGroup& group_;
  ReportWriter& reports_;
  double begin_s_;
  guint timer_;
};

int play(const Job& job, std::vector<ElementRef> pipelines, ReportWriter& reports) {
  print_settings(job, pipelines);
  StreamGroup group(job, std::move(pipelines), reports, nullptr, nullptr);
  const ProgressTimer progress(group, reports);
  group.run();
  return group.exit_code();
}

int do_job(const Job& job, ReportWriter& reports, const RecordStreams& record) {
  const std::shared_ptr<Core> core = het::core();
  if (const Status status = set_defaults(*core, job); !status.ok()) {
    print_line("error", "", status.message());
    return kInstanceUnusable;
  }
  std::vector<ElementRef> pipelines = parse_pipelines(job);
  if (pipelines.size() != job.streams.size()) return kInstanceUnusable;
  switch (job.kind) {
    case Job::Kind::Describe:
      return describe(job, std::move(pipelines), reports);
    case Job::Kind::Trial:
      return try_streams(job, std::move(pipelines), reports);
    case Job::Kind::Record:
      if (record) return record(job, std::move(pipelines), reports);
      print_line("error", "", "this program does not record; `hetero tune` does");
      return kInstanceUnusable;
    case Job::Kind::Run:
      break;
  }
  return play(job, std::move(pipelines), reports);
}

Result<std::string> read_all(int fd) {
  std::string text;
  char part[65536];
  while (true) {
    const ssize_t count = read(fd, part, sizeof part);
    if (count == 0) return text;
    if (count > 0) {
      text.append(part, static_cast<size_t>(count));
    } else if (errno != EINTR) {
      return error(StatusCode::NotFound, "cannot read the job from descriptor {}: {}", fd,
                   std::strerror(errno));
    }
  }
}

Result<Job> read_job(int fd) {
  HET_ASSIGN(const std::string text, read_all(fd));
  close(fd);
  return Job::parse(text);
}

std::optional<int> open_descriptor(std::string_view text) {
  int number = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = failure == std::errc() && end == text.data() + text.size();
  if (!is_number || fcntl(number, F_GETFD) < 0) return std::nullopt;
  return number;
}

/// What the tracer heterometrics tells of this instance (docs/metrics.md). One that only looks or
/// tries serves nothing.
void tell_tracers(const Job& job) {
  const bool runs = job.kind == Job::Kind::Run;
  setenv("HETERO_INSTANCE", job.instance.c_str(), 1);
  setenv("HETERO_INSTANCE_NUMBER", runs ? std::to_string(job.number).c_str() : "none", 1);
  setenv("HETERO_INSTANCE_RESTARTS", std::to_string(job.restarts).c_str(), 1);
}

}  // namespace

int run_instance(const Job& job, ReportWriter& reports, const RecordStreams& record) {
  signal(SIGPIPE, SIG_IGN);
  tell_tracers(job);
  GError* failure = nullptr;
  if (!gst_init_check(nullptr, nullptr, &failure)) {
    print_line("error", "",
               fmt::format("cannot initialise GStreamer: {}",
                           failure ? failure->message : "it does not say why"));
    g_clear_error(&failure);
    return kInstanceUnusable;
  }
  const int code = do_job(job, reports, record);
  reports.close(kLastLinesS);
  return code;
}

int instance_main(const char* job_fd, const char* report_fd, const RecordStreams& record) {
  const std::optional<int> from = open_descriptor(job_fd);
  const std::optional<int> to = open_descriptor(report_fd);
  if (!from || !to) {
    print_line(
        "error", "",
        fmt::format("--instance {} {}: these are no open descriptors; `hetero launch` starts "
                    "instances",
                    job_fd, report_fd));
    return kInstanceUnusable;
  }
  ReportWriter reports(*to);
  const Result<Job> job = read_job(*from);
  if (!job) {
    print_line("error", "", job.error().message());
    return kInstanceUnusable;
  }
  return run_instance(*job, reports, record);
}

}  // namespace het::serving
