#include "inference/machine/processor_list.h"

#include <charconv>
#include <optional>
#include <set>

namespace het {
namespace {

constexpr int kLastProcessor = 8191;  // as many as Linux knows

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<int> processor_number(std::string_view text) {
  text = trimmed(text);
  int number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (number < 0 || number > kLastProcessor) return std::nullopt;
  return number;
}

}  // namespace

Result<std::vector<int>> parse_processors(std::string_view text) {
  std::set<int> processors;
  std::string_view rest = text;
  while (true) {
    const size_t end = rest.find_first_of(",;");
    const std::string_view part = rest.substr(0, end);
    const size_t dash = part.find('-');
    const std::optional<int> first = processor_number(part.substr(0, dash));
    const std::optional<int> last =
        dash == std::string_view::npos ? first : processor_number(part.substr(dash + 1));
    if (!first || !last || *last < *first) {
      return error(StatusCode::InvalidArgument,
                   "'{}' of '{}' is neither a processor's number from 0 to {} nor a range; write "
                   "0-3 or 0,2,3",
                   trimmed(part), text, kLastProcessor);
    }
    for (int processor = *first; processor <= *last; ++processor) processors.insert(processor);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return std::vector<int>(processors.begin(), processors.end());
}

}  // namespace het
