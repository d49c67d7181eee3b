#include "inference/readers/file_order.h"

#include <algorithm>
#include <functional>

namespace het {

std::vector<size_t> file_order(const std::vector<std::vector<size_t>>& readers,
                               std::vector<size_t>& waiting) {
  std::vector<size_t> order;
  std::vector<size_t> ready;  // a heap with the first of the file in front
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  const auto later = std::greater<size_t>();
  std::make_heap(ready.begin(), ready.end(), later);
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    const size_t i = ready.back();
    ready.pop_back();
    order.push_back(i);
    for (const size_t reader : readers[i]) {
      if (--waiting[reader] > 0) continue;
      ready.push_back(reader);
      std::push_heap(ready.begin(), ready.end(), later);
    }
  }
  return order;
}

}  // namespace het
