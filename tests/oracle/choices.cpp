#include "tests/oracle/choices.h"

#include <algorithm>
#include <cassert>
#include <sstream>

namespace het::oracle {

Choices Choices::parse(const std::string& text) {
  const uint64_t seed = std::stoull(text);
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return Choices(seed);
  std::vector<uint32_t> list;
  std::istringstream numbers(text.substr(colon + 1));
  for (std::string number; std::getline(numbers, number, ',');) {
    list.push_back(static_cast<uint32_t>(std::stoul(number)));
  }
  return Choices(seed, std::move(list));
}

int64_t Choices::below(int64_t bound) {
  assert(bound >= 1);
  const size_t position = taken_.size();
  uint64_t choice = 0;
  if (!replays_) {
    choice = random_() % static_cast<uint64_t>(bound);
  } else if (position < replayed_.size()) {
    // Bounds may depend on earlier decisions: what a smaller one no longer allows is clamped.
    choice = std::min<uint64_t>(replayed_[position], static_cast<uint64_t>(bound) - 1);
  }
  taken_.push_back(static_cast<uint32_t>(choice));
  return static_cast<int64_t>(choice);
}

std::string Choices::text() const {
  std::string text = std::to_string(seed_) + ":";
  size_t count = taken_.size();
  while (count > 0 && taken_[count - 1] == 0) --count;
  for (size_t i = 0; i < count; ++i) {
    text += (i > 0 ? "," : "") + std::to_string(taken_[i]);
  }
  return text;
}

}  // namespace het::oracle
