#include "serving/launch/plan/number_list.h"

#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace het::serving {
namespace {

struct FreeNumbers {
  void operator()(hwloc_bitmap_s* set) const { hwloc_bitmap_free(set); }
};
using NumberSet = std::unique_ptr<hwloc_bitmap_s, FreeNumbers>;

/// As many as any machine has.
constexpr int kMostNumber = 1 << 20;

template <class Number>
std::string text_of(const std::vector<Number>& numbers) {
  const NumberSet set(hwloc_bitmap_alloc());
  for (const Number number : numbers) {
    hwloc_bitmap_set(set.get(), static_cast<unsigned>(number));
  }
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, set.get()) < 0) return {};
  const std::string result(text);
  std::free(text);
  return result;
}

}  // namespace

std::string number_list(const std::vector<int>& numbers) {
  return text_of(numbers);
}

std::string number_list(const std::vector<size_t>& numbers) {
  return text_of(numbers);
}

Result<std::vector<int>> parse_number_list(const std::string& text) {
  const NumberSet set(hwloc_bitmap_alloc());
  const bool has_others = text.empty() || text.size() > 4096 ||
                          text.find_first_not_of("0123456789,-") != std::string::npos ||
                          text.ends_with('-');
  const bool is_list = !has_others && hwloc_bitmap_list_sscanf(set.get(), text.c_str()) == 0;
  const int last = is_list ? hwloc_bitmap_last(set.get()) : -1;
  if (last < 0 || last > kMostNumber) {
    return error(StatusCode::InvalidArgument,
                 "'{}' is no list of processors; write numbers and ranges, as 0-3,8",
                 text.substr(0, 64));
  }
  std::vector<int> numbers;
  for (int i = hwloc_bitmap_first(set.get()); i >= 0; i = hwloc_bitmap_next(set.get(), i)) {
    numbers.push_back(i);
  }
  return numbers;
}

}  // namespace het::serving
