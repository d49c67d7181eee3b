#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/buffer.h"

namespace het::cpu {

/// What the kernels of a plan made of constant weights, per node in the order of their asking:
/// noted while a model is compiled, handed out again while it is imported. Thread-bound.
class PackedConstants {
 public:
  struct Entry {
    std::string node;  ///< of the fused model
    std::span<const std::byte> content;
  };

  /// To be noted into; the contents belong to the kernels.
  PackedConstants() = default;
  /// To be handed out: kernels refer to the contents, which lie in `memory`.
  PackedConstants(std::vector<Entry> entries, BufferPtr memory);

  bool replays() const { return replays_; }
  const BufferPtr& memory() const { return memory_; }

  void note(const Node& node, std::span<const std::byte> content);
  /// The node's next content. Fails with ParseError when there is none or it has another size: then
  /// the file does not fit the plan.
  Result<const std::byte*> next(const Node& node, size_t bytes);
  /// Fails with ParseError when something was not asked for.
  Status check_end() const;

  const std::vector<Entry>& entries() const { return entries_; }
  std::vector<Entry> take_entries() { return std::move(entries_); }
  /// Nodes of the file that the nodes with noted contents stand for.
  const std::unordered_set<std::string>& original_names() const { return original_names_; }

 private:
  bool replays_ = false;
  size_t taken_ = 0;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::deque<size_t>> left_;  ///< of a node, into entries_
  std::unordered_set<std::string> original_names_;
  BufferPtr memory_;
};

/// What a node's kernel packs for: nothing is noted or handed out without `constants`.
struct NodePacking {
  PackedConstants* constants = nullptr;
  const Node* node = nullptr;

  /// Ready content of this size, or null when it has to be made.
  Result<const std::byte*> ready(size_t bytes) const {
    if (constants == nullptr || !constants->replays()) return nullptr;
    return constants->next(*node, bytes);
  }
  void note(std::span<const std::byte> made) const {
    if (constants != nullptr && !constants->replays()) constants->note(*node, made);
  }
  /// Ready content, or memory that `fill` has filled.
  Result<BufferPtr> pack(size_t bytes, const std::function<void(std::byte* memory)>& fill) const;
};

}  // namespace het::cpu
