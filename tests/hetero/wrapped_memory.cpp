#include "tests/hetero/wrapped_memory.h"

#include <utility>

namespace het::hetero {
namespace {

class WrappedMemory final : public Buffer {
 public:
  WrappedMemory(BufferPtr bytes, MemoryHooks hooks)
      : Buffer(MemoryKind::OpenClBuffer, bytes->size_bytes(), nullptr, {}),
        bytes_(std::move(bytes)),
        hooks_(std::move(hooks)) {}
  ~WrappedMemory() override { hooks_.releasing(); }

  Result<std::byte*> map(MapAccess) override {
    HET_TRY(hooks_.mapping());
    return bytes_->host();
  }
  const BufferPtr& bytes() const { return bytes_; }

 private:
  BufferPtr bytes_;
  MemoryHooks hooks_;
};

}  // namespace

Result<Tensor> allocate_wrapped_memory(const TensorDesc& desc, MemoryHooks hooks) {
  HET_ASSIGN(const Tensor host, Tensor::allocate(desc));
  return Tensor::view(desc, std::make_shared<WrappedMemory>(host.buffer(), std::move(hooks)));
}

Tensor seen_by_device(const Tensor& tensor) {
  if (tensor.empty()) return tensor;
  const auto* const memory = dynamic_cast<const WrappedMemory*>(tensor.buffer().get());
  return memory == nullptr ? tensor : *Tensor::view(tensor.desc(), memory->bytes());
}

}  // namespace het::hetero
