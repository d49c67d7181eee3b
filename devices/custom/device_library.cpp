#include "devices/custom/device_library.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <vector>

#include "devices/custom/custom_device.h"
#include "inference/devices/own_properties.h"

namespace het::custom {
namespace {

constexpr size_t kMostNameLetters = 32;
constexpr uint32_t kMostProperties = 1024;
constexpr const char* kHeader = "inference/custom_device.h";

struct LoadedLibrary {
  std::string path;
  std::unique_ptr<const DeviceLibrary> library;
};

struct LoadedLibraries {
  std::mutex mutex;  ///< protects all; before those of registries and properties
  std::vector<LoadedLibrary> all;
};

/// Never destroyed: devices may outlive the end of main().
LoadedLibraries& loaded_libraries() {
  static auto* const libraries = new LoadedLibraries;
  return *libraries;
}

/// Names are parts of device strings ("HETERO:NPU.0,CPU") and of keys ("NPU.0.KEY").
bool is_name(const char* name, size_t most_letters) {
  const std::string_view text = name != nullptr ? name : "";
  const auto is_part = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= most_letters && text[0] >= 'A' && text[0] <= 'Z' &&
         std::ranges::all_of(text, is_part);
}

/// The first function that the table lacks; empty: it has all that it needs.
std::string missing_function(const HetCustomDevice& table) {
  const std::pair<const char*, bool> needed[] = {
      {"open_device", table.open_device != nullptr},
      {"close_device", table.close_device != nullptr},
      {"query_model", table.query_model != nullptr},
      {"compile_model", table.compile_model != nullptr},
      {"describe_model", table.describe_model != nullptr},
      {"release_model", table.release_model != nullptr},
      {"create_request", table.create_request != nullptr},
      {"destroy_request", table.destroy_request != nullptr},
      {"start_request", table.start_request != nullptr},
      {"import_model beside export_model",
       (table.import_model == nullptr) == (table.export_model == nullptr)},
      {"free_memory beside allocate_memory",
       (table.free_memory == nullptr) == (table.allocate_memory == nullptr)},
  };
  for (const auto& [name, is_there] : needed) {
    if (!is_there) return name;
  }
  return {};
}

Status check_table(const HetCustomDevice& table, const std::string& title) {
  if (table.struct_size < sizeof(HetCustomDevice)) {
    return error(StatusCode::InvalidArgument, "{} has a table of {} bytes; {} are needed", title,
                 table.struct_size, sizeof(HetCustomDevice));
  }
  if (!is_name(table.name, kMostNameLetters)) {
    return error(StatusCode::InvalidArgument,
                 "{} names its device '{}': capitals, digits and _ are needed, a capital first, at "
                 "most {}",
                 title, table.name != nullptr ? table.name : "", kMostNameLetters);
  }
  const std::string missing = missing_function(table);
  if (missing.empty()) return {};
  return error(StatusCode::InvalidArgument, "{}: device {} has no {}; {} says what is needed",
               title, table.name, missing, kHeader);
}

Result<std::vector<OwnProperty>> properties_of(const HetCustomDevice& table,
                                               const std::string& title) {
  if (table.property_count > kMostProperties ||
      (table.property_count > 0 && table.properties == nullptr)) {
    return error(StatusCode::InvalidArgument,
                 "{}: device {} has {} properties without a list; {} "
                 "is the limit",
                 title, table.name, table.property_count, kMostProperties);
  }
  std::vector<OwnProperty> properties;
  for (uint32_t i = 0; i < table.property_count; ++i) {
    const HetDevicePropertyDef* const def = table.properties[i];
    if (def == nullptr || def->struct_size < sizeof(HetDevicePropertyDef) ||
        !is_name(def->name, 2 * kMostNameLetters)) {
      return error(StatusCode::InvalidArgument,
                   "{}: property {} of device {} has no name of capitals, digits and _, or a "
                   "struct_size below {}",
                   title, i, table.name, sizeof(HetDevicePropertyDef));
    }
    properties.push_back({def->name, def->default_value != nullptr ? def->default_value : "",
                          def->doc != nullptr ? def->doc : "", def->read_only != 0});
  }
  return properties;
}

Status check_name_is_free(const char* name, const DeviceRegistry& registry,
                          const std::vector<LoadedLibrary>& loaded, const std::string& title) {
  const auto other = std::ranges::find_if(
      loaded, [&](const LoadedLibrary& each) { return each.library->kind() == name; });
  if (other != loaded.end()) {
    return error(StatusCode::InvalidArgument, "{} has a device {}, which is that of {}", title,
                 name, other->library->title());
  }
  if (!registry.has_name(name)) return {};
  return error(StatusCode::InvalidArgument,
               "{} has a device {}, which is a device of this build; give it a name of its own",
               title, name);
}

Status add_library(DeviceRegistry& registry, const std::string& path) {
  HET_ASSIGN(const DeviceLibrary* const library, DeviceLibrary::load(path, registry));
  // Two that add the same one: the registry has it once.
  static std::mutex* const adding = new std::mutex;
  const std::lock_guard lock(*adding);
  if (registry.has_name(library->kind())) return {};
  registry.add(
      library->kind(), [library](Core&, std::string_view id) { return make_device(*library, id); },
      [library] { return device_ids(*library); });
  return {};
}

}  // namespace

Result<const DeviceLibrary*> DeviceLibrary::load(const std::string& path,
                                                 const DeviceRegistry& registry) {
  std::error_code ignored;
  const std::string exact = std::filesystem::weakly_canonical(path, ignored).string();
  LoadedLibraries& loaded = loaded_libraries();
  const std::lock_guard lock(loaded.mutex);
  const auto known = std::ranges::find(loaded.all, exact, &LoadedLibrary::path);
  if (known != loaded.all.end()) return known->library.get();
  HET_ASSIGN(auto library, SharedLibrary::open(path, "device library", "device-library"));
  HET_ASSIGN(const void* const address,
             library->table(HET_CUSTOM_DEVICE_SYMBOL, HET_CUSTOM_DEVICE_VERSION, kHeader));
  const auto& table = *static_cast<const HetCustomDevice*>(address);
  HET_TRY(check_table(table, library->title()));
  HET_TRY(check_name_is_free(table.name, registry, loaded.all, library->title()));
  HET_ASSIGN(const std::vector<OwnProperty> properties, properties_of(table, library->title()));
  add_own_properties(table.name, properties);
  loaded.all.push_back(
      {exact, std::unique_ptr<const DeviceLibrary>(new DeviceLibrary(std::move(library), table))});
  return loaded.all.back().library.get();
}

Status add_device_libraries(DeviceRegistry& registry, const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_directory(path, failure)) return add_library(registry, path);
  std::vector<std::string> libraries;
  for (std::filesystem::directory_iterator entry(path, failure), end; entry != end;
       entry.increment(failure)) {
    if (entry->path().extension() == ".so") libraries.push_back(entry->path().string());
    if (failure) break;
  }
  if (failure) {
    return error(StatusCode::NotFound, "cannot list the folder of device libraries '{}': {}", path,
                 failure.message());
  }
  if (libraries.empty()) {
    return error(StatusCode::NotFound, "there is no *.so in the folder of device libraries '{}'",
                 path);
  }
  std::ranges::sort(libraries);
  for (const std::string& library : libraries) HET_TRY(add_library(registry, library));
  return {};
}

}  // namespace het::custom
