#include "devices/cpu/model_store.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "devices/cpu/mapped_model.h"
#include "inference/base/checksum.h"
#include "inference/base/log.h"
#include "inference/base/new_file.h"
#include "inference/base/version.h"

namespace het::cpu {
namespace {

/// As long as a large model may take on a busy machine.
constexpr std::chrono::seconds kLongestTurn(120);
constexpr std::string_view kEffect = "the model's weights are not shared with other processes";

void warn_of_model(std::string_view what, const std::string& path, std::string_view reason) {
  log(LogLevel::Warning, "{} '{}': {}", what, path, reason);
}

/// Versions alone do not tell builds apart, and another one may pack in another way.
std::string library_description() {
  std::string text = fmt::format("gst-hetero {}", version());
  Dl_info place = {};
  struct stat status = {};
  if (::dladdr(reinterpret_cast<const void*>(&library_description), &place) != 0 &&
      place.dli_fname != nullptr && ::stat(place.dli_fname, &status) == 0) {
    text += fmt::format(", {} bytes of {}.{:09}", status.st_size, status.st_mtim.tv_sec,
                        status.st_mtim.tv_nsec);
  }
  return text;
}

/// All of the plan's own settings that results, kernels or packed weights depend on. The number of
/// streams and where they run is no such thing.
std::string plan_key(const Properties& properties, const StreamSettings& settings,
                     const DeviceParts& device) {
  const auto yes = [](bool value) { return value ? "yes" : "no"; };
  return fmt::format(
      "{}, file {}\n{}\n{}\nprecision {}{}, subnormals flushed: {}, measured: {}\n",
      library_description(), ExportedFile::kVersion, device.machine, plan_settings(settings),
      to_string(settings.precision), settings.precision_is_open ? " or narrower" : "",
      yes(settings.flush_subnormals), yes(!property_boolean(properties, "DETERMINISTIC")));
}

/// Of the node that all processors of this process belong to.
std::string node_suffix(const Topology& topology) {
  const size_t node = topology.cores.front().numa_node;
  const bool is_one = std::ranges::all_of(
      topology.cores, [&](const PhysicalCore& core) { return core.numa_node == node; });
  return is_one ? fmt::format("-node{}", node) : std::string();
}

bool is_other_than_file(const std::string& path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

std::optional<ModelStore> ModelStore::create(const ExportSource& source,
                                             const Properties& properties,
                                             const StreamSettings& settings,
                                             const DeviceParts& device) {
  const std::string sharing = property_text(properties, "WEIGHT_SHARING");
  const std::string folder = cache_dir(properties);
  if (sharing == "NO" || folder.empty()) return std::nullopt;
  const Result<std::string> content = source.content_key();
  if (!content) {
    log(LogLevel::Info, "{}: {}", kEffect, content.error().message());
    return std::nullopt;
  }
  // Then the file has the weights as they were before packing, too.
  const std::string_view plain = source.has_own_memory() ? "with plain weights\n" : "";
  std::string key = fmt::format("{}{}{}", plan_key(properties, settings, device), plain, *content);
  const std::string node = sharing == "NODE" ? node_suffix(device.topology) : std::string();
  std::string path = fmt::format("{}/cpu-{:016x}{}.model", folder, checksum(key), node);
  return ModelStore(folder, std::move(path), device.machine, std::move(key));
}

bool ModelStore::exists() const {
  struct stat status = {};
  return ::lstat(path_.c_str(), &status) == 0;
}

std::optional<ExportedPlan> ModelStore::find() const {
  Result<BufferPtr> content = map_model_file(path_);
  if (!content) {
    if (content.error().code() != StatusCode::NotFound) refuse(content.error().message());
    return std::nullopt;
  }
  const auto read = [&]() -> Result<ExportedPlan> {
    HET_ASSIGN(const ExportedFile file, ExportedFile::view(std::move(*content), kExportDevice));
    return read_exported_plan(file, machine_);
  };
  Result<ExportedPlan> plan = read();
  if (!plan) {
    refuse(plan.error().message());
    return std::nullopt;
  }
  if (plan->key != key_) {
    refuse("it is another model's");
    return std::nullopt;
  }
  note_use(path_);
  for (const auto& [name, tensor] : plan->plain) {
    release_mapped_pages({tensor.bytes(), tensor.size_bytes()});
  }
  return std::move(*plan);
}

void ModelStore::refuse(std::string_view reason) const {
  warn_of_model("cannot use", path_, fmt::format("{}; it is made anew", reason));
}

CacheTurn ModelStore::wait_for_turn() const {
  make_cache_folder(folder_);
  return CacheTurn(folder_, path_.substr(folder_.size()), kLongestTurn);
}

bool ModelStore::replace(uint64_t bytes, const std::function<Status(std::ostream&)>& write) const {
  make_cache_folder(folder_);
  const auto fail = [&](std::string_view reason) {
    warn_of_model("cannot write", path_, fmt::format("{}; {}", reason, kEffect));
    return false;
  };
  const uint64_t bound = cache_bound_bytes(folder_);
  if (bytes > bound) {
    return fail(
        fmt::format("it would have {} MiB, {} are allowed (CACHE_MAX_MIB) or half of what "
                    "is free",
                    bytes >> 20, bound >> 20));
  }
  // Into a FIFO or a device one would write at once.
  if (is_other_than_file(path_)) return fail("what has that name is no file");
  const auto make = [&]() -> Status {
    HET_ASSIGN(NewFile file, NewFile::create(path_));
    HET_TRY(write(file.stream()));
    return file.keep();
  };
  const Status status = make();
  if (!status.ok()) return fail(status.message());
  trim_cache(folder_);
  return true;
}

}  // namespace het::cpu
