#include "devices/gpu/programs/program_cache.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <thread>
#include <tuple>

#include "devices/gpu/programs/kernel_sources.h"
#include "devices/gpu/programs/program_file.h"
#include "devices/gpu/programs/program_merging.h"
#include "inference/base/checksum.h"
#include "inference/base/log.h"
#include "inference/devices/cache_folder.h"
#include "inference/machine/core_count.h"

namespace het::gpu {
namespace {

constexpr size_t kMostLogBytes = 16384;
constexpr size_t kMostBinaryBytes = size_t{256} << 20;

std::string build_log(cl_program program, cl_device_id device) {
  size_t bytes = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) !=
      CL_SUCCESS) {
    return "(no log)";
  }
  std::string log(bytes, '\0');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  log.resize(std::min(std::strlen(log.c_str()), kMostLogBytes));
  return log;
}

std::string binary_of(cl_program program) {
  // Our programs have one device each.
  size_t bytes = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) !=
          CL_SUCCESS ||
      bytes == 0 || bytes > kMostBinaryBytes) {
    return {};
  }
  std::string binary(bytes, '\0');
  auto* address = reinterpret_cast<unsigned char*>(binary.data());
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof address, &address, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  return binary;
}

std::string piece_key(bool is_foreign, const std::string& options, const std::string& text) {
  return (is_foreign ? "foreign " : "") + options + "\n" + text;
}

/// The text behind the common one.
Result<std::string> own_text(const ProgramText& text) {
  if (text.file.empty()) return text.generated;
  const auto file = kernel_source(text.file);
  if (!file) return error(StatusCode::Internal, "there is no kernel file '{}.cl'", text.file);
  std::string whole = text.generated + std::string(*file);
  return text.kernel.empty() ? whole : with_one_kernel(whole, text.kernel);
}

}  // namespace

/// Different texts with one file and the same options.
struct ProgramCache::Group {
  bool is_foreign = false;  ///< and then has one text
  std::string file;
  std::string options;
  std::vector<std::string> texts;  ///< sorted, so that every order of a model's nodes is the same
  std::vector<BuiltText> built;    ///< by text
  Status status;
};

ProgramCache::Source ProgramCache::source_of(const Group& group,
                                             const std::vector<size_t>& members) const {
  Source source;
  source.name = (group.is_foreign ? "of CONFIG_FILE" : group.file) +
                (group.options.empty() ? "" : " " + group.options);
  source.options = group.options;
  if (!group.is_foreign) {
    // Quotients are rounded to whole steps of quantised tensors: a last bit decides.
    if (hardware_.exact_division) source.options += " -cl-fp32-correctly-rounded-divide-sqrt";
    source.text = *kernel_source("storage");
  }
  if (members.size() == 1) {
    source.text += group.texts[members.front()];
  } else {
    std::vector<MergedPiece> pieces;
    for (const size_t i : members) pieces.push_back({group.texts[i], group.built[i].suffix});
    source.text += merged_text(pieces, group.options);
  }
  source.key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", kVersion, hardware_.platform_name,
                           hardware_.platform_version, hardware_.name, hardware_.driver,
                           hardware_.version, source.options, source.text);
  return source;
}

Result<std::vector<BuiltText>> ProgramCache::get_all(const std::vector<ProgramText>& texts,
                                                     const std::string& folder) {
  struct Place {
    Group* group;
    size_t index;
  };
  std::map<std::tuple<bool, std::string, std::string>, std::set<std::string>> members;
  std::vector<std::string> own;
  for (const ProgramText& text : texts) {
    HET_ASSIGN(std::string content, own_text(text));
    members[{text.is_foreign, text.file, text.options}].insert(content);
    own.push_back(std::move(content));
  }
  std::vector<std::unique_ptr<Group>> groups;
  std::unordered_map<std::string, Place> places;
  for (const auto& [kind, contents] : members) {
    const auto& [is_foreign, file, options] = kind;
    for (const std::string& content : contents) {
      const bool is_full =
          is_foreign || (!groups.empty() && groups.back()->texts.size() >= kMostMerged);
      if (content == *contents.begin() || is_full) {
        groups.push_back(std::make_unique<Group>());
        groups.back()->is_foreign = is_foreign;
        groups.back()->file = file;
        groups.back()->options = options;
      }
      Group& group = *groups.back();
      places[piece_key(is_foreign, options, content)] = {&group, group.texts.size()};
      group.texts.push_back(content);
      group.built.push_back({nullptr, fmt::format("_{:016x}", checksum(content))});
    }
  }
  const std::lock_guard lock(build_mutex_);
  forget_idle();
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < groups.size(); i = next++) {
      groups[i]->status = get_group(*groups[i], folder);
    }
  };
  std::vector<std::thread> threads;
  const size_t count = std::min({groups.size(), kMostThreads, usable_cores()});
  for (size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  for (const auto& group : groups) HET_TRY(Status(group->status));
  std::vector<BuiltText> built;
  for (size_t i = 0; i < texts.size(); ++i) {
    const Place& place = places.at(piece_key(texts[i].is_foreign, texts[i].options, own[i]));
    built.push_back(place.group->built[place.index]);
  }
  return built;
}

/// Takes what programs have already; true when that is all of the group.
bool ProgramCache::take_pieces(Group& group, std::vector<size_t>& missing) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < group.texts.size(); ++i) {
    const auto known = pieces_.find(piece_key(group.is_foreign, group.options, group.texts[i]));
    ProgramPtr program = known != pieces_.end() ? known->second.program.lock() : nullptr;
    if (program == nullptr) {
      missing.push_back(i);
    } else {
      group.built[i] = {std::move(program), known->second.suffix};
    }
  }
  return missing.empty();
}

void ProgramCache::place(Group& group, const std::vector<size_t>& members,
                         const ProgramPtr& program) {
  const std::lock_guard lock(mutex_);
  for (const size_t i : members) {
    BuiltText& built = group.built[i];
    built.program = program;
    built.suffix = members.size() == 1 ? "" : fmt::format("_{:016x}", checksum(group.texts[i]));
    pieces_[piece_key(group.is_foreign, group.options, group.texts[i])] = {program, built.suffix};
  }
}

Status ProgramCache::get_group(Group& group, const std::string& folder) {
  std::vector<size_t> missing;
  if (take_pieces(group, missing)) return {};
  // The whole group first: that is what another process finds, whatever it compiled before.
  std::vector<size_t> all(group.texts.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  if (missing.size() < all.size() && !folder.empty()) {
    Group whole = group;
    for (size_t i = 0; i < all.size(); ++i) {
      whole.built[i] = {nullptr, fmt::format("_{:016x}", checksum(group.texts[i]))};
    }
    if (const ProgramPtr program = find_or_load(source_of(whole, all), folder)) {
      place(group, all, program);
      return {};
    }
  }
  Result<ProgramPtr> program = get_program(source_of(group, missing), folder);
  if (program) {
    place(group, missing, *program);
    return {};
  }
  if (missing.size() == 1) return program.error();
  // What the merging does not understand, such as functions that macros make, builds alone.
  log(LogLevel::Debug, "{} texts of '{}' do not make one program: {}", missing.size(), group.file,
      program.error().message());
  for (const size_t i : missing) {
    HET_ASSIGN(const ProgramPtr alone, get_program(source_of(group, {i}), folder));
    place(group, {i}, alone);
  }
  return {};
}

Result<ProgramPtr> ProgramCache::get(const ProgramText& text, const std::string& folder) {
  Group group;
  group.is_foreign = text.is_foreign;
  group.file = text.file;
  group.options = text.options;
  HET_ASSIGN(std::string content, own_text(text));
  group.texts.push_back(std::move(content));
  const std::lock_guard lock(build_mutex_);
  group.built.resize(1);
  HET_ASSIGN(ProgramPtr program, get_program(source_of(group, {0}), folder));
  place(group, {0}, program);
  return program;
}

/// Null when it is neither known nor in a file.
ProgramPtr ProgramCache::find_or_load(const Source& source, const std::string& folder) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = programs_.find(source.key);
    if (known != programs_.end()) return known->second.program;
  }
  if (folder.empty()) return nullptr;
  const std::string path = program_file_path(folder, source.key);
  std::optional<StoredProgram> stored = read_program_file(path, source.key);
  if (!stored) return nullptr;
  ProgramHandle handle = from_binary(path, stored->binary);
  if (!handle) return nullptr;
  Entry entry;
  entry.kernels = std::move(stored->kernels);
  entry.folders.insert(folder);
  ProgramPtr program = add(source, std::move(handle), std::move(entry));
  const std::lock_guard lock(mutex_);
  ++counts_.loaded;
  return program;
}

Result<ProgramPtr> ProgramCache::get_program(const Source& source, const std::string& folder) {
  if (ProgramPtr program = find_or_load(source, folder)) return program;
  HET_ASSIGN(ProgramHandle handle, build(source));
  ProgramPtr program = add(source, std::move(handle), {});
  const std::lock_guard lock(mutex_);
  ++counts_.built;
  return program;
}

ProgramPtr ProgramCache::add(const Source& source, ProgramHandle handle, Entry entry) {
  auto program = std::make_shared<Program>();
  program->name = source.name;
  program->key = source.key;
  program->handle = std::move(handle);
  entry.program = std::move(program);
  const std::lock_guard lock(mutex_);
  return programs_.emplace(source.key, std::move(entry)).first->second.program;
}

/// So that a process that compiles ever new models does not grow.
void ProgramCache::forget_idle() {
  const std::lock_guard lock(mutex_);
  const auto is_idle = [](const auto& item) { return item.second.program.use_count() == 1; };
  if (static_cast<size_t>(std::ranges::count_if(programs_, is_idle)) <= kMostIdle) return;
  std::erase_if(programs_, is_idle);
  std::erase_if(pieces_, [](const auto& item) { return item.second.program.expired(); });
}

Result<ProgramHandle> ProgramCache::build(const Source& source) const {
  const char* lines = source.text.c_str();
  const size_t length = source.text.size();
  cl_int code = CL_SUCCESS;
  ProgramHandle program(clCreateProgramWithSource(context_, 1, &lines, &length, &code));
  HET_TRY(cl_status(code, "create an OpenCL program"));
  const cl_device_id device = hardware_.device;
  code = clBuildProgram(program.get(), 1, &device, source.options.c_str(), nullptr, nullptr);
  if (code != CL_SUCCESS) {
    return error(StatusCode::Internal,
                 "the OpenCL compiler of '{}' ({}, driver {}) cannot build the kernels '{}': "
                 "{}\n{}",
                 hardware_.name, hardware_.platform_name, hardware_.driver, source.name,
                 error_name(code), build_log(program.get(), device));
  }
  return program;
}

/// Null where the driver refuses the binary.
ProgramHandle ProgramCache::from_binary(const std::string& path, const std::string& binary) const {
  const auto* address = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t length = binary.size();
  const cl_device_id device = hardware_.device;
  cl_int code = CL_SUCCESS;
  cl_int binary_code = CL_SUCCESS;
  ProgramHandle program(
      clCreateProgramWithBinary(context_, 1, &device, &length, &address, &binary_code, &code));
  if (code != CL_SUCCESS || binary_code != CL_SUCCESS ||
      clBuildProgram(program.get(), 1, &device, "", nullptr, nullptr) != CL_SUCCESS) {
    log(LogLevel::Info, "the OpenCL driver refuses '{}'; its kernels are built again", path);
    return {};
  }
  return program;
}

std::vector<KernelUse> ProgramCache::not_run(const std::vector<KernelUse>& uses) const {
  std::vector<KernelUse> fresh;
  const std::lock_guard lock(mutex_);
  for (const KernelUse& use : uses) {
    const auto entry = programs_.find(use.program->key);
    if (entry == programs_.end() || !entry->second.kernels.contains(use.kernel)) {
      fresh.push_back(use);
    }
  }
  return fresh;
}

void ProgramCache::save(const std::vector<KernelUse>& uses, const std::string& folder) {
  struct Unsaved {
    ProgramPtr program;
    StoredProgram stored;
  };
  std::map<std::string, Unsaved> unsaved;
  {
    const std::lock_guard lock(mutex_);
    for (const KernelUse& use : uses) {
      const auto found = programs_.find(use.program->key);
      if (found == programs_.end()) continue;
      Entry& entry = found->second;
      if (entry.kernels.insert(use.kernel).second) entry.folders.clear();
    }
    for (const KernelUse& use : uses) {
      const auto found = programs_.find(use.program->key);
      if (folder.empty() || found == programs_.end()) continue;
      if (!found->second.folders.insert(folder).second) continue;
      unsaved[use.program->key] = {use.program, {found->second.kernels, {}}};
    }
  }
  for (auto& [key, item] : unsaved) {
    item.stored.binary = binary_of(item.program->handle.get());
    if (item.stored.binary.empty()) continue;
    const std::string path = program_file_path(folder, key);
    if (write_program_file(path, key, item.stored)) continue;
    log(LogLevel::Warning, "cannot write '{}'; kernels will be built again", path);
    return;
  }
  if (unsaved.empty()) return;
  limit_program_files(folder, kMostFiles);
  trim_cache(folder);
}

ProgramCache::Counts ProgramCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace het::gpu
