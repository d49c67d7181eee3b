#include "tools/bench_session.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <mutex>

#include "inference/decoders/model_proc.h"
#include "tools/model_source.h"

namespace het {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Memory of this process that is in use.
int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size_pages = 0;
  int64_t resident_pages = 0;
  file >> size_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

/// Items of one inference: the batch size given, else the first dimension of the first picture or
/// input.
int64_t batch_items(const Model& model, const BenchOptions& options) {
  const auto given = options.preparation.properties.find("BATCH_SIZE");
  if (given != options.preparation.properties.end() && given->second != "0") {
    return std::atoll(given->second.c_str());
  }
  for (const size_t rank : {4, 0}) {
    for (const ModelInput& input : model.inputs()) {
      const Shape& shape = input.value->desc().shape;
      if (!shape.empty() && (rank == 0 || shape.size() == rank)) return shape[0];
    }
  }
  return 1;
}

/// Executions that a trace shows.
constexpr size_t kMaxTraced = 100;

void add_counters(BenchResult& result, const std::vector<ProfileRow>& rows) {
  ++result.counter_executions;
  if (result.counters.empty()) {
    result.counters = rows;
    return;
  }
  for (size_t i = 0; i < rows.size() && i < result.counters.size(); ++i) {
    result.counters[i].real_us += rows[i].real_us;
    result.counters[i].cpu_us += rows[i].cpu_us;
  }
}

}  // namespace

bool is_sync(const BenchOptions& options) {
  return options.api == "sync" || (options.api.empty() && options.hint == "latency");
}

/// Keeps requests in flight until the time or the number of iterations is reached.
class BenchSession::Drive {
 public:
  Drive(BenchSession& session, size_t requests, double seconds, int64_t iterations)
      : session_(session),
        workers_(session.workers_),
        requests_(requests),
        seconds_(seconds),
        iterations_(iterations) {}

  Status run() {
    begin_ = Clock::now();
    for (size_t w = 0; w < requests_; ++w) free_.push_back(w);
    std::unique_lock lock(mutex_);
    while (failure_.ok() && more_to_start()) {
      if (free_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const size_t w = free_.back();
      free_.pop_back();
      ++started_;
      lock.unlock();
      const Status status = start(w);
      lock.lock();
      if (!status.ok()) failure_ = status;
    }
    changed_.wait(lock, [this] { return free_.size() == requests_ || !failure_.ok(); });
    lock.unlock();
    for (size_t w = 0; w < requests_; ++w) {
      if (workers_[w].request->wait().ok()) session_.collect_rows(w);
    }
    return failure_;
  }

 private:
  bool more_to_start() const {
    if (iterations_ > 0) return started_ < iterations_;
    return milliseconds_since(begin_) < seconds_ * 1000.0;
  }

  Status start(size_t w) {
    Worker& worker = workers_[w];
    HET_TRY(worker.request->wait());
    session_.collect_rows(w);
    worker.request->set_callback([this, w](const Status& status) { ended(w, status); });
    worker.started = Clock::now();
    HET_TRY(session_.frames_.put(*worker.request));
    return worker.request->start_async();
  }

  void ended(size_t w, const Status& status) {
    Worker& worker = workers_[w];
    worker.inferences.push_back({milliseconds_since(begin_), milliseconds_since(worker.started)});
    std::lock_guard lock(mutex_);
    if (!status.ok()) failure_ = status;
    free_.push_back(w);
    changed_.notify_one();
  }

  BenchSession& session_;
  std::vector<Worker>& workers_;
  const size_t requests_;
  const double seconds_;
  const int64_t iterations_;
  Clock::time_point begin_;
  int64_t started_ = 0;
  std::mutex mutex_;  ///< protects the members below and started_; taken alone
  std::condition_variable changed_;
  std::vector<size_t> free_;
  Status failure_;
};

Result<std::unique_ptr<BenchSession>> BenchSession::create(Core& core, const BenchOptions& options,
                                                           const std::string& path) {
  std::unique_ptr<BenchSession> session(new BenchSession(options));
  const int64_t resident_before = resident_bytes();
  const Clock::time_point start = Clock::now();
  HET_ASSIGN(auto model, load_model(core, path, options.preparation));
  session->result_.model = path;
  session->result_.read_ms = milliseconds_since(start);
  HET_TRY(session->compile(core, *model));
  model.reset();
  HET_TRY(session->make_requests());
  session->result_.rise_bytes -= resident_before;
  return session;
}

Result<std::unique_ptr<BenchSession>> BenchSession::create(Core& core, const BenchOptions& options,
                                                           const Model& model) {
  std::unique_ptr<BenchSession> session(new BenchSession(options));
  session->result_.model = model.name();
  HET_TRY(session->compile(core, model));
  HET_TRY(session->make_requests());
  return session;
}

Status BenchSession::compile(Core& core, const Model& model) {
  HET_ASSIGN(const Properties properties, bench_properties(core, options_));
  result_.batch = batch_items(model, options_);
  const Clock::time_point start = Clock::now();
  std::unique_ptr<Model> with_pictures;
  if (!options_.inputs.empty() || !options_.frames.empty()) {
    with_pictures = model.clone();
    HET_TRY(apply_preprocess(ModelProc(), *with_pictures));
  }
  const Model& ready = with_pictures ? *with_pictures : model;
  HET_ASSIGN(compiled_, core.compile_model(ready, options_.device, properties));
  result_.compile_ms = milliseconds_since(start);
  for (const PropertyDef& property : property_table()) {
    if (const auto value = compiled_->get_property(property.name)) {
      result_.settings[std::string(property.name)] = *value;
    }
  }
  return {};
}

Status BenchSession::make_requests() {
  int count = is_sync(options_) ? 1 : options_.requests;
  if (count == 0) {
    HET_ASSIGN(const std::string optimal,
               compiled_->get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"));
    count = std::max(1, std::atoi(optimal.c_str()));
  }
  result_.requests = count;
  HET_ASSIGN(const BenchInputs inputs, BenchInputs::create(options_, *compiled_));
  frames_ = inputs.frames();
  workers_.resize(static_cast<size_t>(count));
  for (Worker& worker : workers_) {
    HET_ASSIGN(worker.request, compiled_->create_infer_request());
    HET_TRY(inputs.fill(*worker.request));
    HET_TRY(frames_.put(*worker.request));
  }
  const Clock::time_point start = Clock::now();
  HET_TRY(workers_[0].request->infer());
  result_.first_inference_ms = milliseconds_since(start);
  result_.rise_bytes = resident_bytes();
  for (size_t w = 1; w < workers_.size(); ++w) HET_TRY(workers_[w].request->infer());
  return {};
}

Result<Measured> BenchSession::measure(size_t requests, double seconds, int64_t iterations) {
  if (requests == 0) requests = workers_.size();
  for (Worker& worker : workers_) worker.inferences.clear();
  const Clock::time_point begin = Clock::now();
  if (is_sync(options_)) {
    HET_TRY(drive_sync(seconds, iterations));
  } else {
    HET_TRY(Drive(*this, requests, seconds, iterations).run());
  }
  Measured measured;
  measured.duration_ms = milliseconds_since(begin);
  for (const Worker& worker : workers_) {
    measured.inferences.insert(measured.inferences.end(), worker.inferences.begin(),
                               worker.inferences.end());
  }
  return measured;
}

/// -api sync: one request, driven by the calling thread.
Status BenchSession::drive_sync(double seconds, int64_t iterations) {
  Worker& worker = workers_[0];
  const Clock::time_point begin = Clock::now();
  for (int64_t done = 0;
       iterations > 0 ? done < iterations : milliseconds_since(begin) < seconds * 1000.0; ++done) {
    const Clock::time_point start = Clock::now();
    HET_TRY(frames_.put(*worker.request));
    HET_TRY(worker.request->infer());
    worker.inferences.push_back({milliseconds_since(begin), milliseconds_since(start)});
    collect_rows(0);
  }
  return {};
}

/// Takes the rows of a worker's last execution.
void BenchSession::collect_rows(size_t w) {
  const Worker& worker = workers_[w];
  if (worker.inferences.empty()) return;
  const bool tracing = !options_.trace.empty() && result_.traced.size() < kMaxTraced;
  if (!tracing && !is_counting(options_)) return;
  const std::vector<ProfileRow> rows = worker.request->profiling();
  if (is_counting(options_)) add_counters(result_, rows);
  if (tracing) result_.traced.push_back({w, rows});
}

Result<BenchResult> run_bench(Core& core, const BenchOptions& options, const std::string& model) {
  HET_ASSIGN(const auto session, BenchSession::create(core, options, model));
  HET_ASSIGN(const Measured run,
             session->measure(0, options.seconds.value_or(kBenchSeconds), options.iterations));
  BenchResult& result = session->result();
  result.duration_ms = run.duration_ms;
  result.iterations = static_cast<int64_t>(run.inferences.size());
  result.rounds = rounds_of(run, options.rounds, result.batch);
  for (const Inference& inference : run.inferences) {
    result.latencies_ms.push_back(inference.latency_ms);
  }
  std::ranges::sort(result.latencies_ms);
  return result;
}

}  // namespace het
