#include "serving/archive/worker/shard_run.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "serving/archive/records/pipeline_words.h"
#include "serving/archive/scan/reading_threads.h"
#include "serving/launch/instance/decoder_threads.h"
#include "serving/launch/instance/parsed_pipeline.h"

namespace het::archive {
namespace {

double seconds_between(FrameTimes::Clock::time_point begin, FrameTimes::Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// By the kernel's start time of this process; 0 where it does not tell.
double process_age_s() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // The name in brackets may have blanks; the start time is the twentieth word behind it.
  std::istringstream words(text.substr(std::min(text.rfind(')'), text.size() - 1) + 1));
  std::string word;
  for (int i = 0; i < 20; ++i) words >> word;
  const double ticks = std::strtod(word.c_str(), nullptr);
  timespec now = {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const double age = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 -
                     ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return words && age > 0 ? age : 0;
}

/// Its content is not read again for each shard.
Status check_size(const PlannedVideo& video) {
  std::error_code failed;
  if (video.path.empty() || video.content.empty()) return {};
  const auto bytes = std::filesystem::file_size(video.path, failed);
  if (failed || bytes == video.bytes) return {};  // what is gone the pipeline tells
  return error(StatusCode::InvalidArgument,
               "'{}' has {} bytes, not the {} that it had when it was planned; plan again",
               video.path, bytes, video.bytes);
}

}  // namespace

struct ShardRun::Callback {
  ShardRun* run;
};

ShardRun::ShardRun(const ArchiveFolder& folder, const ArchivePlan& plan, const PlannedShard& shard,
                   size_t decoder_threads, ModelKeeper& keeper, Listener listener)
    : folder_(folder),
      plan_(plan),
      shard_(shard),
      decoder_threads_(decoder_threads),
      keeper_(keeper),
      listener_(std::move(listener)),
      parts_(folder, shard.key),
      callback_(std::make_shared<Callback>(Callback{this})) {
  if (!plan.is_whole(shard)) gate_ = std::make_shared<RangeGate>(shard.from_ns, shard.stop_ns);
}

ShardRun::~ShardRun() {
  callback_->run = nullptr;
  if (finishing_.joinable()) finishing_.join();
}

Status ShardRun::start() {
  const PlannedVideo& video = plan_.videos[shard_.video];
  HET_TRY(check_size(video));
  const ShardValues values = {video.path, video.uri, video.name, parts_.written().string()};
  serving::StreamJob job;
  HET_ASSIGN(std::string text, shard_pipeline(plan_.pipeline, values));
  job.name = video.name;
  job.arguments.push_back(std::move(text));
  HET_ASSIGN(serving::ElementRef pipeline, serving::parse_pipeline(job));
  began_ = FrameTimes::Clock::now();
  const auto prepare = [times = times_, gate = gate_,
                        threads = decoder_threads_](GstElement* element) mutable {
    serving::set_decoder_threads(element, threads);
    serving::unpace(element);
    times.watch(element);
    if (gate) gate->watch(element);
  };
  serving::PipelineRun::Listener listener;
  listener.plays = [] {};
  listener.ended = [this] {
    if (is_stopping_) return;
    keeper_.take_from(run_->pipeline());
    stop();
  };
  listener.failed = [this](const std::string& reason, bool) {
    fail(FailureKind::Error, Status(StatusCode::Internal, reason));
  };
  listener.stopped = [this] { on_stopped(); };
  run_ = serving::PipelineRun::start(std::move(pipeline), video.name, prepare, std::move(listener));
  return {};
}

bool ShardRun::has_stopped_reading() const {
  return run_ && !is_stopping_ && archive::has_stopped_reading(run_->pipeline());
}

void ShardRun::fail(FailureKind kind, Status failure) {
  if (is_stopping_) return;
  failure_ = std::move(failure);
  failure_kind_ = kind;
  stop();
}

void ShardRun::drop() {
  is_dropped_ = true;
  if (!is_stopping_) stop();
}

void ShardRun::stop() {
  is_stopping_ = true;
  run_->stop();
}

Status ShardRun::outcome() const {
  if (!failure_.ok()) return failure_;
  if (gate_ && !gate_->has_decoder()) {
    return error(StatusCode::InvalidArgument,
                 "there is no video decoder in the pipeline, by which the frames of a range are "
                 "told; plan whole videos (--shard whole)");
  }
  return {};
}

void ShardRun::on_stopped() {
  if (is_dropped_) {
    listener_.stopped(*this);
    return;
  }
  // Reading what was written and waiting for the disk must not hold up the others.
  finishing_ = std::thread([this, callback = callback_] {
    finish();
    const auto tell = [](gpointer user) -> gboolean {
      const auto& known = *static_cast<std::shared_ptr<Callback>*>(user);
      if (!known->run || known->run->is_dropped_) return G_SOURCE_REMOVE;
      ShardRun& self = *known->run;
      self.listener_.over(self, std::move(self.note_));
      return G_SOURCE_REMOVE;
    };
    const auto forget = [](gpointer user) { delete static_cast<std::shared_ptr<Callback>*>(user); };
    g_idle_add_full(G_PRIORITY_DEFAULT, tell, new std::shared_ptr<Callback>(callback), forget);
  });
  listener_.stopped(*this);
}

void ShardRun::finish() {
  if (const Status status = outcome(); !status.ok()) {
    note_ = tl::unexpected(status);
    return;
  }
  const FrameTimes::Frames frames = times_.frames();
  ShardNote note;
  note.key = shard_.key;
  note.host = host_name();
  note.pid = static_cast<uint64_t>(::getpid());
  note.ended_s = seconds_since_1970();
  note.process_s = process_age_s();
  if (frames.first) {
    note.start_seconds = seconds_between(began_, *frames.first);
    note.seconds = seconds_between(began_, *frames.last);
  }
  const Status status = finish_shard(folder_, plan_, shard_, parts_, frames, note);
  if (status.ok()) {
    note_ = std::move(note);
  } else {
    note_ = tl::unexpected(status);
  }
}

}  // namespace het::archive
