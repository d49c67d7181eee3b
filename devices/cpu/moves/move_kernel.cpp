#include "devices/cpu/moves/move_kernel.h"

#include <algorithm>
#include <cstring>

#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

template <class T>
void fill_typed(const Fill& fill, std::byte* dst) {
  T value;
  std::memcpy(&value, fill.value.data(), sizeof(T));
  auto* to = reinterpret_cast<T*>(dst);
  parallel_for(static_cast<int64_t>(fill.count), kGrainElements,
               [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, value); });
}

class MoveKernel final : public Kernel {
 public:
  MoveKernel(std::vector<Move> moves, std::optional<Fill> fill)
      : moves_(std::move(moves)), fill_(fill) {}

  std::string_view implementation() const override { return "own_copy"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    if (fill_) {
      switch (fill_->width) {
        case 1:
          fill_typed<uint8_t>(*fill_, args.outputs[0]);
          break;
        case 2:
          fill_typed<uint16_t>(*fill_, args.outputs[0]);
          break;
        case 4:
          fill_typed<uint32_t>(*fill_, args.outputs[0]);
          break;
        default:
          fill_typed<uint64_t>(*fill_, args.outputs[0]);
      }
    }
    for (const Move& move : moves_) {
      move.loops.run(args.inputs[0] + move.src_offset, args.outputs[0] + move.dst_offset);
    }
    return {};
  }

 private:
  std::vector<Move> moves_;
  std::optional<Fill> fill_;
};

}  // namespace

std::unique_ptr<Kernel> make_move_kernel(std::vector<Move> moves, std::optional<Fill> fill) {
  return std::make_unique<MoveKernel>(std::move(moves), fill);
}

}  // namespace het::cpu
