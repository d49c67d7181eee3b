#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "inference/decoders/model_proc.h"
#include "inference/requests/infer_request.h"
#include "tools/bench.h"
#include "tools/model_source.h"
#include "tools/npy.h"
#include "tools/picture_file.h"

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

/// A file's {device: {KEY: value}}: returns what is for `device`; what is for others is set for the
/// members of a composite device. Sections for devices that are not there are left out, as
/// benchmark_app does. Fails with NotFound for a name that no device has.
Result<Properties> read_config(Core& core, const std::string& path, const std::string& device) {
  Properties own;
  if (path.empty()) return own;
  std::ifstream stream(path);
  if (!stream) return error(StatusCode::NotFound, "cannot open -load_config '{}'", path);
  const std::string kind = parse_device_name(device).kind;
  try {
    const nlohmann::json config = nlohmann::json::parse(stream);
    for (const auto& [section, values] : config.items()) {
      Properties properties;
      for (const auto& [name, value] : values.items()) {
        properties[name] = value.is_string() ? value.get<std::string>() : value.dump();
      }
      if (section == device || section == kind) {
        own.merge(properties);
        continue;
      }
      Status status = core.devices().check_kind(section);
      const bool is_kind = status.ok();
      if (is_kind && !core.devices().is_composite(kind)) continue;
      if (is_kind) status = core.set_property(section, properties);
      if (status.ok() || (is_kind && status.code() == StatusCode::NotFound)) continue;
      return error(status.code(), "-load_config '{}', section '{}': {}", path, section,
                   status.message());
    }
  } catch (const nlohmann::json::exception& exception) {
    return error(StatusCode::ParseError, "-load_config '{}': {}", path, exception.what());
  }
  return own;
}

bool is_counting(const BenchOptions& options) {
  return options.counters || !options.counters_sort.empty();
}

Result<Properties> bench_properties(Core& core, const BenchOptions& options) {
  HET_ASSIGN(Properties properties, read_config(core, options.load_config, options.device));
  if (options.hint == "throughput" || options.hint == "tput" || options.hint.empty()) {
    // As benchmark_app: without a hint it measures throughput.
    properties.try_emplace("PERFORMANCE_HINT", "THROUGHPUT");
  } else if (options.hint == "cumulative_throughput" || options.hint == "ctput") {
    properties["PERFORMANCE_HINT"] = "CUMULATIVE_THROUGHPUT";
  } else if (options.hint == "latency") {
    properties["PERFORMANCE_HINT"] = "LATENCY";
  } else if (options.hint != "none") {
    return error(StatusCode::InvalidArgument,
                 "-hint takes latency, throughput, cumulative_throughput or none, not '{}'",
                 options.hint);
  }
  if (!options.config_file.empty()) properties["CONFIG_FILE"] = options.config_file;
  if (!options.streams.empty()) properties["NUM_STREAMS"] = options.streams;
  if (options.threads > 0) properties["INFERENCE_NUM_THREADS"] = std::to_string(options.threads);
  if (options.cache_dir) properties["CACHE_DIR"] = *options.cache_dir;
  if (!options.precision.empty()) properties["INFERENCE_PRECISION_HINT"] = options.precision;
  if (is_counting(options) || !options.trace.empty()) properties["PERF_COUNT"] = "YES";
  if (options.requests > 0) {
    properties["PERFORMANCE_HINT_NUM_REQUESTS"] = std::to_string(options.requests);
  }
  return properties;
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

/// Random values of a fixed seed: 0..255 for 8-bit types, 0..1 for floats, 0..1 for other integers.
void fill_random(Tensor& tensor, std::mt19937& generator) {
  std::uniform_real_distribution<float> unit(0.0f, 1.0f);
  const auto fill = [&]<class T>(T, float top) {
    for (T& value : tensor.values<T>()) value = static_cast<T>(unit(generator) * top);
  };
  switch (tensor.type()) {
    case ElementType::Float32:
      return fill(float{}, 1.0f);
    case ElementType::Float64:
      return fill(double{}, 1.0f);
    case ElementType::Float16:
      return fill(Float16(0.0f), 1.0f);
    case ElementType::BFloat16:
      return fill(BFloat16(0.0f), 1.0f);
    case ElementType::UInt8:
      return fill(uint8_t{}, 255.0f);
    case ElementType::Int8:
      return fill(int8_t{}, 127.0f);
    case ElementType::Int32:
      return fill(int32_t{}, 255.0f);
    case ElementType::Int64:
      return fill(int64_t{}, 255.0f);
    default:
      std::fill_n(tensor.bytes(), tensor.size_bytes(), std::byte{0});
  }
}

/// One "FILE" or "NAME:FILE" of -i, bound to its port.
struct GivenInput {
  size_t port = 0;
  std::string file;
};

Result<std::vector<GivenInput>> given_inputs(const BenchOptions& options,
                                             const CompiledModel& model) {
  std::vector<GivenInput> given;
  for (const std::string& text : options.inputs) {
    const size_t colon = text.rfind(':');  // names may hold one too
    if (colon == std::string::npos) {
      given.push_back({0, text});
      continue;
    }
    HET_ASSIGN(const size_t port, model.input_index(text.substr(0, colon)));
    given.push_back({port, text.substr(colon + 1)});
  }
  return given;
}

Status fill_inputs(InferRequest& request, const std::vector<GivenInput>& given) {
  std::mt19937 generator(1);
  for (size_t i = 0; i < request.compiled_model().inputs().size(); ++i) {
    Tensor tensor = request.input(i);
    fill_random(tensor, generator);
  }
  for (const GivenInput& input : given) {
    if (input.file.size() > 4 && input.file.substr(input.file.size() - 4) == ".npy") {
      HET_ASSIGN(Tensor tensor, read_npy(input.file));
      HET_TRY(request.set_input(input.port, std::move(tensor)));
      continue;
    }
    const Port& port = request.compiled_model().inputs()[input.port];
    if (!port.preprocess) {
      return error(StatusCode::InvalidArgument, "input '{}' {} takes no picture", port.name,
                   to_string(port.desc));
    }
    HET_ASSIGN(const Image image, read_picture(input.file));
    Tensor tensor = request.input(input.port);
    HET_TRY(preprocess(image, image.full(), *port.preprocess, tensor));
  }
  return {};
}

/// One request and what was measured with it.
struct Worker {
  std::unique_ptr<InferRequest> request;
  Clock::time_point started;
  std::vector<double> latencies_ms;
};

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

/// Takes the rows of worker `w`'s last execution.
void collect_rows(const BenchOptions& options, size_t w, const Worker& worker,
                  BenchResult& result) {
  if (worker.latencies_ms.empty()) return;
  const bool tracing = !options.trace.empty() && result.traced.size() < kMaxTraced;
  if (!tracing && !is_counting(options)) return;
  const std::vector<ProfileRow> rows = worker.request->profiling();
  if (is_counting(options)) add_counters(result, rows);
  if (tracing) result.traced.push_back({w, rows});
}

/// Keeps all workers' requests in flight until the time or the number of iterations is reached.
class Measurement {
 public:
  Measurement(const BenchOptions& options, std::vector<Worker>& workers)
      : options_(options), workers_(workers) {}

  Status run(BenchResult& result) {
    begin_ = Clock::now();
    for (size_t w = 0; w < workers_.size(); ++w) free_.push_back(w);
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
      const Status status = start(w, result);
      lock.lock();
      if (!status.ok()) failure_ = status;
    }
    changed_.wait(lock, [this] { return free_.size() == workers_.size() || !failure_.ok(); });
    lock.unlock();
    for (size_t w = 0; w < workers_.size(); ++w) {
      if (workers_[w].request->wait().ok()) collect_rows(options_, w, workers_[w], result);
    }
    result.duration_ms = milliseconds_since(begin_);
    result.iterations = started_;
    return failure_;
  }

 private:
  bool more_to_start() const {
    if (options_.iterations > 0) return started_ < options_.iterations;
    return milliseconds_since(begin_) < options_.seconds * 1000.0;
  }

  Status start(size_t w, BenchResult& result) {
    Worker& worker = workers_[w];
    HET_TRY(worker.request->wait());
    collect_rows(options_, w, worker, result);
    worker.request->set_callback([this, w](const Status& status) { ended(w, status); });
    worker.started = Clock::now();
    return worker.request->start_async();
  }

  void ended(size_t w, const Status& status) {
    workers_[w].latencies_ms.push_back(milliseconds_since(workers_[w].started));
    std::lock_guard lock(mutex_);
    if (!status.ok()) failure_ = status;
    free_.push_back(w);
    changed_.notify_one();
  }

  const BenchOptions& options_;
  std::vector<Worker>& workers_;
  Clock::time_point begin_;
  int64_t started_ = 0;
  std::mutex mutex_;  ///< protects the members below and started_; taken alone
  std::condition_variable changed_;
  std::vector<size_t> free_;
  Status failure_;
};

/// -api sync: one request, driven by the calling thread.
Status run_sync(const BenchOptions& options, Worker& worker, BenchResult& result) {
  const Clock::time_point begin = Clock::now();
  while (options.iterations > 0 ? result.iterations < options.iterations
                                : milliseconds_since(begin) < options.seconds * 1000.0) {
    const Clock::time_point start = Clock::now();
    HET_TRY(worker.request->infer());
    worker.latencies_ms.push_back(milliseconds_since(start));
    ++result.iterations;
    collect_rows(options, 0, worker, result);
  }
  result.duration_ms = milliseconds_since(begin);
  return {};
}

}  // namespace

Result<BenchResult> run_bench(Core& core, const BenchOptions& options) {
  BenchResult result;
  HET_ASSIGN(const Properties properties, bench_properties(core, options));
  const int64_t resident_before = resident_bytes();
  const Clock::time_point read_start = Clock::now();
  HET_ASSIGN(auto model, load_model(core, options.model, options.preparation));
  result.batch = batch_items(*model, options);
  if (!options.inputs.empty()) HET_TRY(apply_preprocess(ModelProc(), *model));
  result.read_ms = milliseconds_since(read_start);

  const Clock::time_point compile_start = Clock::now();
  HET_ASSIGN(const auto compiled, core.compile_model(*model, options.device, properties));
  model.reset();
  result.compile_ms = milliseconds_since(compile_start);
  for (const PropertyDef& property : property_table()) {
    if (const auto value = compiled->get_property(property.name)) {
      result.settings[std::string(property.name)] = *value;
    }
  }

  const bool sync = options.api == "sync" || (options.api.empty() && options.hint == "latency");
  int count = sync ? 1 : options.requests;
  if (count == 0) {
    HET_ASSIGN(const std::string optimal,
               compiled->get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"));
    count = std::max(1, std::atoi(optimal.c_str()));
  }
  result.requests = count;
  HET_ASSIGN(const std::vector<GivenInput> given, given_inputs(options, *compiled));
  std::vector<Worker> workers(static_cast<size_t>(count));
  for (Worker& worker : workers) {
    HET_ASSIGN(worker.request, compiled->create_infer_request());
    HET_TRY(fill_inputs(*worker.request, given));
  }
  const Clock::time_point first_start = Clock::now();
  HET_TRY(workers[0].request->infer());
  result.first_inference_ms = milliseconds_since(first_start);
  result.rise_bytes = resident_bytes() - resident_before;
  for (size_t w = 1; w < workers.size(); ++w) HET_TRY(workers[w].request->infer());

  if (sync) {
    HET_TRY(run_sync(options, workers[0], result));
  } else {
    HET_TRY(Measurement(options, workers).run(result));
  }
  for (const Worker& worker : workers) {
    result.latencies_ms.insert(result.latencies_ms.end(), worker.latencies_ms.begin(),
                               worker.latencies_ms.end());
  }
  std::sort(result.latencies_ms.begin(), result.latencies_ms.end());
  return result;
}

}  // namespace het
