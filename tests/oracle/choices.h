#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace het::oracle {

/// The decisions that make a random case: whole numbers, each below a bound, 0 always the plainest.
/// They are drawn from a seed, or replayed from a list; whoever replays a list of smaller numbers
/// gets a smaller case. Behind the end of a replayed list every decision is 0.
class Choices {
 public:
  explicit Choices(uint64_t seed) : seed_(seed), random_(seed) {}
  Choices(uint64_t seed, std::vector<uint32_t> replayed)
      : seed_(seed), random_(seed), replayed_(std::move(replayed)), replays_(true) {}
  /// Reads what text() wrote, "SEED:1,0,3"; a lone seed draws anew.
  static Choices parse(const std::string& text);

  /// The same decisions from the start.
  Choices again() const { return Choices(seed_, taken_); }

  /// In [0, bound); bound is at least 1.
  int64_t below(int64_t bound);

  /// Also seeds the values of tensors, which stay as they are while a case shrinks.
  uint64_t seed() const { return seed_; }
  const std::vector<uint32_t>& taken() const { return taken_; }
  std::string text() const;

 private:
  uint64_t seed_;
  std::mt19937_64 random_;
  std::vector<uint32_t> replayed_;
  std::vector<uint32_t> taken_;
  bool replays_ = false;
};

}  // namespace het::oracle
