#include "inference/base/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace het {
namespace {

constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
constexpr size_t kLanes = 4;
constexpr size_t kWord = sizeof(uint64_t);

/// One to one in `state` for every word, and in `word` for every state: a changed word is never
/// lost on the way.
uint64_t mix(uint64_t state, uint64_t word) {
  return std::rotl((state ^ word) * kOdd, 29);
}

/// Little-endian, whatever the machine; missing bytes are 0.
uint64_t word_at(const std::byte* bytes, size_t count) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

}  // namespace

uint64_t checksum(std::span<const std::byte> content) {
  // Lanes run side by side, so that the multiplications of one do not wait for those of another.
  uint64_t lanes[kLanes] = {1, 2, 3, 4};
  size_t at = 0;
  for (; at + kLanes * kWord <= content.size(); at += kLanes * kWord) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = mix(lanes[lane], word_at(content.data() + at + lane * kWord, kWord));
    }
  }
  uint64_t state = content.size();
  for (const uint64_t lane : lanes) state = mix(state, lane);
  for (; at < content.size(); at += kWord) {
    state = mix(state, word_at(content.data() + at, std::min(kWord, content.size() - at)));
  }
  return mix(state, state >> 32);
}

uint64_t checksum(std::string_view content) {
  return checksum(std::as_bytes(std::span(content.data(), content.size())));
}

}  // namespace het
