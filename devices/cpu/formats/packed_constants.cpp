#include "devices/cpu/formats/packed_constants.h"

#include "inference/readers/mapped_file.h"

namespace het::cpu {

PackedConstants::PackedConstants(std::vector<Entry> entries, BufferPtr memory)
    : replays_(true), entries_(std::move(entries)), memory_(std::move(memory)) {
  for (size_t i = 0; i < entries_.size(); ++i) left_[entries_[i].node].push_back(i);
}

void PackedConstants::note(const Node& node, std::span<const std::byte> content) {
  entries_.push_back({node.name(), content});
  original_names_.insert(node.name());
  original_names_.insert(node.original_names().begin(), node.original_names().end());
}

Result<const std::byte*> PackedConstants::next(const Node& node, size_t bytes) {
  std::deque<size_t>& left = left_[node.name()];
  if (left.empty()) {
    return error(StatusCode::ParseError, "the file has no packed constant for node '{}'",
                 node.name());
  }
  const Entry& entry = entries_[left.front()];
  left.pop_front();
  ++taken_;
  if (entry.content.size() != bytes) {
    return error(StatusCode::ParseError,
                 "a packed constant of the file has {} bytes, node '{}' needs {}",
                 entry.content.size(), node.name(), bytes);
  }
  return entry.content.data();
}

Status PackedConstants::check_end() const {
  if (!replays_ || taken_ == entries_.size()) return {};
  return error(StatusCode::ParseError, "the file has {} packed constants, the plan takes {}",
               entries_.size(), taken_);
}

Result<BufferPtr> NodePacking::pack(size_t bytes,
                                    const std::function<void(std::byte* memory)>& fill) const {
  HET_ASSIGN(const std::byte* const content, ready(bytes));
  if (content != nullptr) return reference_bytes({content, bytes}, constants->memory());
  HET_ASSIGN(BufferPtr made, allocate_host_buffer(bytes));
  fill(made->host());
  note({made->host(), bytes});
  return made;
}

}  // namespace het::cpu
