#pragma once

#include <sched.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace het::cpu {

/// Processors that a thread may run on; of a fixed size, so that moving threads allocates nothing.
class ProcessorSet {
 public:
  ProcessorSet() = default;
  explicit ProcessorSet(std::span<const int> processors) {
    for (const int processor : processors) add(processor);
  }
  static ProcessorSet of(int processor) { return ProcessorSet(std::span(&processor, 1)); }

  bool has(int processor) const {
    const auto k = static_cast<size_t>(processor);
    return processor >= 0 && k < kMostProcessors &&
           (words_[k / kWordBits] >> k % kWordBits & 1) != 0;
  }
  bool empty() const { return *this == ProcessorSet(); }
  bool operator==(const ProcessorSet&) const = default;

  /// Of a thread of this process by the system's number, 0 for the calling one. Nothing where the
  /// system does not say.
  static std::optional<ProcessorSet> of_thread(int thread) {
    ProcessorSet found;
    if (sched_getaffinity(thread, sizeof found.words_, found.data()) != 0) return std::nullopt;
    return found;
  }
  bool bind_thread(int thread) const {
    return sched_setaffinity(thread, sizeof words_, data()) == 0;
  }

 private:
  static constexpr size_t kMostProcessors = 8192;  // as many as Linux knows
  static constexpr size_t kWordBits = 8 * sizeof(unsigned long);

  void add(int processor) {
    const auto k = static_cast<size_t>(processor);
    if (processor >= 0 && k < kMostProcessors) words_[k / kWordBits] |= 1UL << k % kWordBits;
  }
  // The kernel's format: words of a bit a processor.
  cpu_set_t* data() { return reinterpret_cast<cpu_set_t*>(words_.data()); }
  const cpu_set_t* data() const { return reinterpret_cast<const cpu_set_t*>(words_.data()); }

  std::array<unsigned long, kMostProcessors / kWordBits> words_{};
};

}  // namespace het::cpu
