// Random placements of golden models on HETERO: random_affinity FOLDER... --root SHARED_DATA
//
// Every node gets a device at random among those that take it: node by node, in stretches, or by
// operator type. Four requests are in flight, twice each with different inputs: the recorded one
// and scaled ones. Outputs have to fit the recording and what CPU alone computes, with the bounds
// of `hetero verify`. An input on which a device alone leaves these bounds is not used, since the
// devices themselves disagree on it (a quantised value beside a half, say). Where none is left, and
// for quantised models that have such an input, three devices that compute as REF take their
// places, and outputs have to be REF's bit by bit.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "devices/register_devices.h"
#include "inference/passes/expose_state.h"
#include "inference/passes/multiply_adds.h"
#include "inference/passes/prepare_model.h"
#include "tests/hetero/wrapped_device.h"
#include "tools/golden_outputs.h"
#include "tools/golden_run.h"

namespace het::hetero {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kSkipped = 77;
constexpr size_t kRequests = 4;
constexpr size_t kRounds = 2;
constexpr std::chrono::minutes kLongest{5};  ///< an execution that takes longer hangs
/// From so many multiply-adds on a model is a large one: REF takes seconds for it.
constexpr double kLarge = 500e6;
constexpr float kScales[kRequests] = {1.0f, 0.8f, 0.6f, 0.9f};

struct Options {
  std::vector<std::string> folders;
  std::string root;
  std::string filter;
  size_t assignments = 100;
  size_t first = 0;
  uint64_t seed = 1;
  double seconds = 0;   ///< a folder; 0: no limit
  bool lists = false;   ///< only the folders, in their order
  size_t of_large = 0;  ///< assignments of a large model; 0: as many as of others
};

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Inputs of one execution and what it shall give.
struct Sample {
  std::vector<Tensor> inputs;
  std::vector<ReferenceOutput> references;
};

/// A node of the prepared model: the names to wish by, and the devices that take it.
struct Choice {
  std::vector<std::string> names;
  std::string type;
  std::vector<std::string> devices;
};

void scale(Tensor& tensor, float factor) {
  if (tensor.type() == ElementType::Float32) {
    for (float& value : tensor.values<float>()) value *= factor;
  } else if (tensor.type() == ElementType::Float64) {
    for (double& value : tensor.values<double>()) value *= factor;
  } else if (tensor.type() == ElementType::Float16) {
    for (Float16& value : tensor.values<Float16>()) {
      value = static_cast<Float16>(static_cast<float>(value) * factor);
    }
  }
}

/// Executions of models with state begin anew: each is a stream of its own.
Status set_inputs(InferRequest& request, const Sample& sample) {
  static size_t executions = 0;
  request.set_stream(std::to_string(executions++));
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    HET_TRY(request.set_input(i, sample.inputs[i]));
  }
  return {};
}

/// One golden folder with everything that its assignments share.
class FolderCheck {
 public:
  FolderCheck(Core& core, const Options& options, fs::path folder)
      : core_(core), options_(options), folder_(std::move(folder)) {}

  /// NotSupported: CPU does not take the model.
  Status prepare() {
    HET_ASSIGN(GoldenRun cpu, prepare_golden_run(context("CPU"), folder_));
    HET_TRY(find_nodes(*cpu.model));
    if (assignments() == 0) return {};
    quantised_ = is_quantised(*cpu.model);
    HET_TRY(cpu.request->infer());
    HET_TRY(make_samples(cpu));
    HET_TRY(drop_edges());
    // A quantised model that is on an edge with one input may be with others on mixed devices.
    if (quantised_ && samples_.size() < kRequests) samples_.clear();
    if (samples_.empty()) {
      devices_ = {"FAST", "OTHER", "REF"};
      HET_ASSIGN(GoldenRun ref, prepare_golden_run(context("REF"), folder_));
      HET_TRY(ref.request->infer());
      HET_TRY(make_samples(ref));
      is_exact_ = true;
    }
    return find_devices();
  }

  /// Of those that were asked for, the ones that a model of this size gets.
  size_t assignments() const {
    const bool is_limited = is_large_ && options_.of_large > 0;
    const size_t end = is_limited ? options_.of_large : options_.first + options_.assignments;
    return std::min(options_.assignments, end - std::min(end, options_.first));
  }

  /// False after a failure, which is told.
  bool run() {
    if (assignments() == 0) {
      fmt::print("passed  {}: large, has its {} assignments\n", folder_.filename().string(),
                 options_.of_large);
      return true;
    }
    const auto start = Clock::now();
    size_t count = 0;
    for (size_t i = options_.first; i < options_.first + assignments(); ++i) {
      if (options_.seconds > 0 && since(start) > options_.seconds) break;
      std::map<std::string, std::string> wishes = assignment(i);
      const Status status = run_one(wishes);
      if (status.ok()) {
        ++count;
        continue;
      }
      if (status.code() == StatusCode::NotSupported) {
        // A device takes a node beside some neighbours only.
        ++refused_;
        last_refusal_ = status.message();
        continue;
      }
      ++failed_;
      tell(i, wishes, status);
    }
    fmt::print(
        "{:<7} {}: {} assignments of {} nodes, {} refused, {}..{} subgraphs, {} inputs{}, worst "
        "error {:.2e} of the range, {:.0f} s, {:.0f} of them compiling\n",
        failed_ == 0 ? "passed" : "FAILED", folder_.filename().string(), count, choices_.size(),
        refused_, least_, most_, samples_.size(), is_exact_ ? " on devices that compute alike" : "",
        worst_, since(start), compiling_);
    if (refused_ > 0) fmt::print("        refused, for one: {}\n", last_refusal_);
    std::fflush(stdout);
    return failed_ == 0;
  }

 private:
  VerifyContext context(const std::string& device) const {
    return {core_,
            device,
            {{"INFERENCE_PRECISION_HINT", "f32"}, {"EXECUTION_MODE_HINT", "ACCURACY"}},
            options_.root};
  }

  Status make_samples(GoldenRun& run) {
    samples_.clear();
    std::vector<Tensor> golden;
    for (size_t i = 0; i < run.compiled->inputs().size(); ++i) {
      HET_ASSIGN(golden.emplace_back(), run.request->input(i).clone());
    }
    for (size_t k = 0; k < kRequests; ++k) {
      Sample sample;
      for (const Tensor& tensor : golden) {
        HET_ASSIGN(Tensor copy, tensor.clone());
        scale(copy, kScales[k]);
        sample.inputs.push_back(std::move(copy));
      }
      HET_TRY(set_inputs(*run.request, sample));
      HET_TRY(run.request->infer());
      HET_ASSIGN(sample.references, reference_outputs(*run.request));
      samples_.push_back(std::move(sample));
    }
    if (run.compiled->get_property("EXECUTION_DEVICES").value_or("") == "REF") return {};
    HET_ASSIGN(samples_[0].references, read_golden_outputs(run.golden, folder_));
    return {};
  }

  Status drop_edges() {
    for (const char* device : {"CPU", "REF", "GPU"}) {
      auto run = prepare_golden_run(context(device), folder_);
      if (!run) {
        if (run.error().code() == StatusCode::NotFound) std::erase(devices_, device);
        continue;
      }
      std::vector<Sample> kept;
      for (Sample& sample : samples_) {
        HET_TRY(set_inputs(*run->request, sample));
        HET_TRY(run->request->infer());
        const auto part = check_outputs(sample.references, *run->request, quantised_);
        if (part) kept.push_back(std::move(sample));
      }
      samples_ = std::move(kept);
    }
    return {};
  }

  Status find_nodes(const Model& model) {
    prepared_ = model.clone();
    HET_TRY(expose_state(*prepared_));
    HET_TRY(prepare_model(*prepared_));
    double multiply_adds = 0;
    for (const ProductWork& work : product_works(*prepared_)) {
      multiply_adds += work.multiply_adds.value_or(0);
    }
    is_large_ = multiply_adds > kLarge;
    std::set<std::string> known;
    for (const auto& node : model.nodes()) known.insert(node->name());
    for (const auto& node : prepared_->nodes()) {
      Choice choice;
      choice.type = node->op_type();
      for (const std::string& name : node->original_names()) {
        if (!name.empty() && known.contains(name)) choice.names.push_back(name);
      }
      choices_.push_back(std::move(choice));
    }
    return {};
  }

  Status find_devices() {
    for (const std::string& device : devices_) {
      HET_ASSIGN(const auto rows,
                 core_.query_model(*prepared_, device, context(device).properties));
      for (size_t n = 0; n < rows.size(); ++n) {
        if (rows[n].supported()) choices_[n].devices.push_back(device);
      }
    }
    return {};
  }

  /// Everything depends on the seed and the number only.
  std::map<std::string, std::string> assignment(size_t number) const {
    std::seed_seq seeds{options_.seed, static_cast<uint64_t>(number)};
    std::mt19937_64 random(seeds);
    const auto one_of = [&](const std::vector<std::string>& devices) {
      return devices[random() % devices.size()];
    };
    const size_t style = number % 4;
    // Stretches are about a 4th or a 20th of the model.
    const size_t stretch = std::max<size_t>(2, choices_.size() / (style == 1 ? 4 : 20));
    std::map<std::string, std::string> by_type;
    std::map<std::string, std::string> wishes;
    std::string current = one_of(devices_);
    for (const Choice& choice : choices_) {
      if (choice.names.empty() || choice.devices.empty()) continue;
      std::string wanted = one_of(devices_);
      if (style == 3) {
        wanted = by_type.try_emplace(choice.type, wanted).first->second;
      } else if (style != 0) {
        if (random() % stretch == 0) current = wanted;
        wanted = current;
      }
      if (std::ranges::count(choice.devices, wanted) == 0) wanted = one_of(choice.devices);
      for (const std::string& name : choice.names) wishes[name] = wanted;
    }
    return wishes;
  }

  Status run_one(const std::map<std::string, std::string>& wishes) {
    std::string list;
    for (const std::string& device : devices_) list += (list.empty() ? "" : ",") + device;
    VerifyContext hetero = context("HETERO:" + list);
    // Rules, since a plain object could not be told from them where a node is named "rules".
    nlohmann::json rules = nlohmann::json::array();
    for (const auto& [name, device] : wishes) rules.push_back({{"name", name}, {"device", device}});
    hetero.properties["HETERO_AFFINITY"] = nlohmann::json{{"rules", rules}}.dump();
    const auto start = Clock::now();
    HET_ASSIGN(const GoldenRun run, prepare_golden_run(hetero, folder_));
    compiling_ += since(start);
    HET_ASSIGN(const std::string subgraphs,
               run.compiled->get_property("HETERO_NUMBER_OF_SUBMODELS"));
    const size_t parts = std::strtoul(subgraphs.c_str(), nullptr, 10);
    least_ = std::min(least_, parts);
    most_ = std::max(most_, parts);
    std::vector<std::unique_ptr<InferRequest>> requests(kRequests);
    for (auto& request : requests) {
      HET_ASSIGN(request, run.compiled->create_infer_request());
    }
    for (size_t round = 0; round < kRounds; ++round) {
      const auto sample_of = [&](size_t r) -> const Sample& {
        return samples_[(r + round) % samples_.size()];
      };
      for (size_t r = 0; r < kRequests; ++r) {
        HET_TRY(set_inputs(*requests[r], sample_of(r)));
        HET_TRY(requests[r]->start_async());
      }
      for (auto& request : requests) {
        const Status status = request->wait_for(kLongest);
        if (status.code() == StatusCode::TimedOut) {
          fmt::print("HANGS   {}: {} subgraphs\n", folder_.filename().string(), parts);
          std::fflush(stdout);
          std::abort();
        }
        HET_TRY(status);
      }
      for (size_t r = 0; r < kRequests; ++r) {
        const auto part = check_outputs(sample_of(r).references, *requests[r], quantised_);
        if (!part) {
          return part.error().with_context(fmt::format("request {} of round {}", r, round));
        }
        if (is_exact_ && *part > 0) {
          return Status(StatusCode::Internal, fmt::format("request {} of round {} is off by {} of "
                                                          "the range",
                                                          r, round, *part));
        }
        worst_ = std::max(worst_, *part);
      }
    }
    return {};
  }

  void tell(size_t number, const std::map<std::string, std::string>& wishes,
            const Status& status) const {
    const std::string file = fmt::format("random_affinity_{}_{}_{}.json",
                                         folder_.filename().string(), options_.seed, number);
    std::ofstream(file) << nlohmann::json(wishes).dump(1) << '\n';
    fmt::print(
        "FAILED  {} assignment {} (again: --filter {} --seed {} --first {} --assignments 1; as "
        "HETERO_AFFINITY: {}): {}\n",
        folder_.filename().string(), number, folder_.filename().string(), options_.seed, number,
        file, status.message());
    std::fflush(stdout);
  }

  Core& core_;
  const Options& options_;
  const fs::path folder_;
  std::vector<std::string> devices_ = {"GPU", "CPU", "REF"};
  std::unique_ptr<Model> prepared_;
  bool is_large_ = false;
  bool quantised_ = false;
  bool is_exact_ = false;
  std::vector<Sample> samples_;
  std::vector<Choice> choices_;  ///< per node of the prepared model
  size_t least_ = static_cast<size_t>(-1);
  size_t most_ = 0;
  size_t refused_ = 0;
  std::string last_refusal_;
  size_t failed_ = 0;
  double worst_ = 0;
  double compiling_ = 0;  ///< seconds of assignments that compile
};

/// The bytes of a folder's model, weights included.
uintmax_t model_bytes(const fs::path& folder, const std::string& root) {
  std::ifstream stream(folder / "golden.json");
  fs::path model = fs::path(root) / nlohmann::json::parse(stream).at("model").get<std::string>();
  uintmax_t bytes = 0;
  std::error_code code;
  for (const char* extension : {"", ".bin"}) {
    if (*extension != 0) model.replace_extension(extension);
    if (const auto size = fs::file_size(model, code); !code) bytes += size;
  }
  return bytes;
}

/// Small models first.
std::vector<fs::path> find_folders(const Options& options) {
  std::vector<std::pair<uintmax_t, fs::path>> found;
  for (const std::string& top : options.folders) {
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      if (entry.path().filename() != "golden.json") continue;
      const fs::path folder = entry.path().parent_path();
      if (folder.filename().string().find(options.filter) == std::string::npos) continue;
      found.emplace_back(model_bytes(folder, options.root), folder);
    }
  }
  std::ranges::sort(found);
  std::vector<fs::path> folders;
  for (auto& [bytes, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

int check_all(const Options& options) {
  Core core;
  register_devices(core);
  add_wrapped_device(core, "FAST", std::make_shared<WrappedBehaviour>());
  add_wrapped_device(core, "OTHER", std::make_shared<WrappedBehaviour>());
  size_t passed = 0, failed = 0, skipped = 0;
  for (const fs::path& folder : find_folders(options)) {
    FolderCheck check(core, options, folder);
    if (const Status status = check.prepare(); !status.ok()) {
      const bool is_refused = status.code() == StatusCode::NotSupported;
      ++(is_refused ? skipped : failed);
      fmt::print("{} {}: {}\n", is_refused ? "skipped" : "FAILED ", folder.filename().string(),
                 status.message());
      continue;
    }
    ++(check.run() ? passed : failed);
  }
  fmt::print("{} passed, {} failed, {} skipped\n", passed, failed, skipped);
  if (failed > 0) return 1;
  return passed > 0 ? 0 : kSkipped;
}

int usage() {
  fmt::print(stderr,
             "usage: random_affinity FOLDER... [--root SHARED_DATA] [--filter PART_OF_NAME] "
             "[--list] [--assignments N] [--of-large N] [--first N] [--seed N] "
             "[--seconds LIMIT_PER_FOLDER]\n");
  return 2;
}

int run(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--list") {
      options.lists = true;
      continue;
    }
    if (!name.starts_with("--")) {
      options.folders.push_back(name);
      continue;
    }
    if (++i == argc) return usage();
    const std::string value = argv[i];
    if (name == "--root") {
      options.root = value;
    } else if (name == "--filter") {
      options.filter = value;
    } else if (name == "--assignments") {
      options.assignments = std::strtoul(value.c_str(), nullptr, 10);
    } else if (name == "--of-large") {
      options.of_large = std::strtoul(value.c_str(), nullptr, 10);
    } else if (name == "--first") {
      options.first = std::strtoul(value.c_str(), nullptr, 10);
    } else if (name == "--seed") {
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--seconds") {
      options.seconds = std::strtod(value.c_str(), nullptr);
    } else {
      return usage();
    }
  }
  if (options.folders.empty()) return usage();
  for (const std::string& folder : options.folders) {
    if (fs::is_directory(folder)) continue;
    fmt::print("skipped: there is no {}\n", folder);
    return kSkipped;
  }
  if (!options.lists) return check_all(options);
  for (const fs::path& folder : find_folders(options)) fmt::print("{}\n", folder.string());
  return 0;
}

}  // namespace
}  // namespace het::hetero

int main(int argc, char** argv) {
  return het::hetero::run(argc, argv);
}
