#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "inference/tensors/tensor.h"

namespace het {

/// A content that several parts of an execution use, and what devices keep of it: while its number
/// stays, a copy is good. Who knows of all writes gives each content another number before it is
/// written, and takes it away before others may write. One tensor or plane of a picture at a time.
/// Thread-safe.
class NumberedContent {
 public:
  /// 0: not known.
  uint64_t number() const { return number_; }
  void begin() {
    is_on_host_ = true;
    number_ = ++last_;
  }
  void forget() { number_ = 0; }

  /// Nobody but the device that makes the content reads it: one that keeps a copy of its own need
  /// not bring it to the host's memory, and says so where it does not.
  bool is_private() const { return is_private_; }
  void set_private(bool is_private) { is_private_ = is_private; }
  bool is_on_host() const { return is_on_host_; }
  void leave_on_device() { is_on_host_ = false; }

  /// What `device` keeps, made by `make` when it asks first. The copy keeps alive what `device`
  /// points to; its type is the device's affair.
  template <class Copy, class Make>
  std::shared_ptr<Copy> copy_on(const void* device, const Make& make) {
    std::lock_guard lock(mutex_);
    for (const auto& [key, copy] : copies_) {
      if (key == device) return std::static_pointer_cast<Copy>(copy);
    }
    std::shared_ptr<Copy> made = make();
    copies_.emplace_back(device, made);
    return made;
  }

 private:
  std::atomic<uint64_t> number_ = 0;
  std::atomic<uint64_t> last_ = 0;
  std::atomic<bool> is_private_ = false;
  std::atomic<bool> is_on_host_ = true;
  std::mutex mutex_;  ///< protects the rest; taken alone
  std::vector<std::pair<const void*, std::shared_ptr<void>>> copies_;
};

/// Host memory, with the content that it has. Host memory to whoever does not ask.
class NumberedBuffer final : public Buffer {
 public:
  NumberedBuffer(BufferPtr memory, std::shared_ptr<NumberedContent> content)
      : Buffer(MemoryKind::Host, memory->size_bytes(), memory->host(), {}),
        memory_(std::move(memory)),
        content_(std::move(content)) {}

  const BufferPtr& memory() const { return memory_; }
  NumberedContent& content() const { return *content_; }

 private:
  BufferPtr memory_;
  std::shared_ptr<NumberedContent> content_;
};

/// Null where the content has no number.
inline const NumberedBuffer* numbered_buffer(const BufferPtr& buffer) {
  return dynamic_cast<const NumberedBuffer*>(buffer.get());
}

/// The buffer itself where its content has a number already, or where it is no host memory.
inline BufferPtr with_number(const BufferPtr& buffer,
                             const std::shared_ptr<NumberedContent>& content) {
  const bool takes = buffer != nullptr && buffer->kind() == MemoryKind::Host &&
                     buffer->host() != nullptr && numbered_buffer(buffer) == nullptr;
  return takes ? std::make_shared<NumberedBuffer>(buffer, content) : buffer;
}

inline BufferPtr without_number(const BufferPtr& buffer) {
  const NumberedBuffer* const numbered = numbered_buffer(buffer);
  return numbered != nullptr ? numbered->memory() : buffer;
}

/// Whether both begin at the same place, with or without a number. Not of empty tensors.
inline bool is_same_memory(const Tensor& a, const Tensor& b) {
  return !a.empty() && !b.empty() && a.offset() == b.offset() &&
         without_number(a.buffer()) == without_number(b.buffer());
}

/// The same elements in another handle to their memory.
inline Result<Tensor> in_buffer(const Tensor& tensor, BufferPtr buffer) {
  if (buffer == tensor.buffer()) return tensor;
  return Tensor::view(tensor.desc(), std::move(buffer), tensor.offset(), tensor.strides_bytes());
}

}  // namespace het
