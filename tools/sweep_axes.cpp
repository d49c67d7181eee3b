#include "tools/sweep_axes.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace het {
namespace {

struct SweepKey {
  std::string_view name;
  int64_t most;
};

constexpr SweepKey kSweepKeys[] = {{"streams", 1024}, {"requests", 65536}, {"batch", 65536}};

Result<int64_t> parse_setting(std::string_view text, const SweepKey& key, std::string_view word) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc() && end == text.data() + text.size() && value >= 1 && value <= key.most) {
    return value;
  }
  return error(StatusCode::InvalidArgument,
               "--sweep {} takes whole numbers from 1 to {}, not '{}' in '{}'", key.name, key.most,
               text, word);
}

Result<std::vector<int64_t>> parse_list(std::string_view list, const SweepKey& key,
                                        std::string_view word) {
  std::vector<int64_t> values;
  for (bool is_last = false; !is_last;) {
    const size_t comma = list.find(',');
    is_last = comma == std::string_view::npos;
    HET_ASSIGN(const int64_t value, parse_setting(list.substr(0, comma), key, word));
    if (std::ranges::find(values, value) != values.end()) {
      return error(StatusCode::InvalidArgument, "--sweep has {} twice in '{}'", value, word);
    }
    values.push_back(value);
    if (!is_last) list.remove_prefix(comma + 1);
  }
  return values;
}

}  // namespace

Result<SweepAxes> parse_sweep(const std::vector<std::string>& words) {
  std::map<std::string_view, std::vector<int64_t>> lists;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(0, equals);
    const auto* const key = std::ranges::find(kSweepKeys, name, &SweepKey::name);
    if (equals == std::string::npos || key == std::end(kSweepKeys)) {
      return error(StatusCode::InvalidArgument,
                   "--sweep takes streams=1,2 requests=1,2,4 batch=1,4, not '{}'; the model stands "
                   "before it",
                   word);
    }
    HET_ASSIGN(std::vector<int64_t> list,
               parse_list(std::string_view(word).substr(equals + 1), *key, word));
    if (!lists.emplace(key->name, std::move(list)).second) {
      return error(StatusCode::InvalidArgument, "--sweep has {} twice", key->name);
    }
  }
  SweepAxes axes;
  for (const int64_t value : lists["streams"]) axes.streams.push_back(std::to_string(value));
  for (const int64_t value : lists["requests"]) axes.requests.push_back(static_cast<int>(value));
  axes.batches = lists["batch"];
  if (axes.streams.empty()) axes.streams = {""};
  if (axes.requests.empty()) axes.requests = {0};
  if (axes.batches.empty()) axes.batches = {0};
  const size_t count = axes.streams.size() * axes.requests.size() * axes.batches.size();
  if (count > kMaxSettings) {
    return error(StatusCode::InvalidArgument,
                 "--sweep has {} combinations, at most {} are measured", count, kMaxSettings);
  }
  return axes;
}

}  // namespace het
