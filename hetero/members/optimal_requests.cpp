#include "hetero/members/optimal_requests.h"

#include <algorithm>
#include <charconv>

namespace het::hetero {

size_t optimal_requests(const CompiledModel& model) {
  size_t count = 1;
  if (const auto text = model.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")) {
    std::from_chars(text->data(), text->data() + text->size(), count);
  }
  return std::max<size_t>(count, 1);
}

}  // namespace het::hetero
