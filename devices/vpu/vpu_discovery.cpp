#include "devices/vpu/vpu_discovery.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>

#include "devices/vpu/link_socket.h"

namespace het::vpu {
namespace {

struct Settings {
  std::mutex mutex;  ///< protects values; taken alone
  std::map<std::string, std::string, std::less<>> values;
};

Settings& settings() {
  static auto* const all = new Settings;
  return *all;
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string folder() {
  const std::string named = environment("HETERO_VPU_FOLDER");
  return named.empty() ? "/run/hetero-vpu" : named;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::string discovery_property(std::string_view name) {
  Settings& all = settings();
  const std::lock_guard lock(all.mutex);
  const auto value = all.values.find(name);
  if (value != all.values.end()) return value->second;
  return environment(name == "VPU_ADDRESSES" ? "HETERO_VPU_ADDRESSES" : "HETERO_VPU_KEY_FILE");
}

Status set_discovery(const Properties& properties) {
  Settings& all = settings();
  for (const auto& [name, value] : properties) {
    if (name != "VPU_ADDRESSES" && name != "VPU_KEY_FILE") continue;
    if (name == "VPU_ADDRESSES") {
      for (const std::string& word : words_of(value)) HET_TRY(LinkAddress::parse(word));
    }
    const std::lock_guard lock(all.mutex);
    all.values[name] = value;
  }
  return {};
}

std::vector<std::string> vpu_addresses() {
  std::vector<std::string> addresses = words_of(discovery_property("VPU_ADDRESSES"));
  if (!addresses.empty()) return addresses;
  std::error_code failure;
  for (std::filesystem::directory_iterator it(folder(), failure), end; !failure && it != end;
       it.increment(failure)) {
    std::error_code unknown;
    if (it->path().extension() == ".sock" && it->is_socket(unknown)) {
      addresses.push_back(it->path().string());
    }
  }
  std::ranges::sort(addresses);
  return addresses;
}

std::string vpu_addresses_text() {
  const std::string named = discovery_property("VPU_ADDRESSES");
  if (!named.empty()) return fmt::format("VPU_ADDRESSES '{}'", named);
  return fmt::format(
      "the folder '{}' (HETERO_VPU_FOLDER can name another, VPU_ADDRESSES addresses)", folder());
}

Result<std::optional<LinkKey>> vpu_key() {
  const std::string path = discovery_property("VPU_KEY_FILE");
  if (path.empty()) return std::optional<LinkKey>();
  HET_ASSIGN(LinkKey key, LinkKey::from_file(path));
  return std::optional(std::move(key));
}

}  // namespace het::vpu
