#include "serving/archive/verify/stray_files.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

namespace het::archive {
namespace {

namespace fs = std::filesystem;

bool is_key(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Result<StrayFiles> stray_files(const ArchiveFolder& folder, const ArchivePlan& plan) {
  std::set<std::string, std::less<>> planned;
  for (const PlannedShard& shard : plan.shards) planned.insert(shard.key);
  StrayFiles stray;
  std::set<std::string> others;
  std::error_code failed;
  std::error_code not_there;
  for (const auto& entry : fs::directory_iterator(folder.outputs(), failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') && name.ends_with(".part")) continue;
    const std::string key = name.substr(0, name.find('.'));
    const bool is_ours = name == key + ".jsonl" || name == key + ".overlap.jsonl";
    if (is_ours && planned.contains(key)) continue;
    if (is_ours && is_key(key) && fs::exists(folder.note(key), not_there)) {
      others.insert(key);
    } else {
      stray.unknown.push_back(name);
    }
  }
  if (failed) {
    return error(StatusCode::NotFound, "cannot read the folder '{}': {}", folder.outputs().string(),
                 failed.message());
  }
  std::ranges::sort(stray.unknown);
  stray.of_other_plans = others.size();
  return stray;
}

}  // namespace het::archive
