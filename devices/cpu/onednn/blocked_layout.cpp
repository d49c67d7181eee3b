#include "devices/cpu/onednn/blocked_layout.h"

namespace het::cpu {
namespace {

class BlockPacking {
 public:
  BlockPacking(const float* from, const std::vector<int64_t>& from_strides,
               const BlockedLayout& layout, float* to)
      : from_(from),
        from_strides_(from_strides),
        layout_(layout),
        to_(to),
        steps_(layout.dims.size(), 1),
        first_(layout.dims.size(), 0) {
    size_t elements = 1;
    for (const BlockedLayout::Block& block : layout.blocks) {
      steps_[block.dim] *= block.size;
      elements *= static_cast<size_t>(block.size);
    }
    indices_.assign(elements * layout.dims.size(), 0);
    for (size_t i = 0; i < elements; ++i) {
      const int64_t* indices = locate(i);
      int64_t offset = 0;
      for (size_t d = 0; d < layout.dims.size(); ++d) offset += indices[d] * from_strides[d];
      offsets_.push_back(offset);
    }
  }

  /// All blocks from dimension `d` on, where those before it are fixed.
  void run(size_t d, int64_t from_offset, int64_t to_offset, bool is_whole) {
    if (d == layout_.dims.size()) {
      copy_block(from_ + from_offset, to_ + to_offset, is_whole);
      return;
    }
    for (int64_t first = 0; first < layout_.padded[d]; first += steps_[d]) {
      first_[d] = first;
      run(d + 1, from_offset + first * from_strides_[d],
          to_offset + first / steps_[d] * layout_.strides[d],
          is_whole && first + steps_[d] <= layout_.dims[d]);
    }
  }

 private:
  /// Fills in and returns the indices, within a block, of the element that is stored at `position`.
  const int64_t* locate(size_t position) {
    int64_t* indices = indices_.data() + position * layout_.dims.size();
    auto left = static_cast<int64_t>(position);
    std::vector<int64_t> weights(layout_.dims.size(), 1);
    for (auto block = layout_.blocks.rbegin(); block != layout_.blocks.rend(); ++block) {
      indices[block->dim] += left % block->size * weights[block->dim];
      weights[block->dim] *= block->size;
      left /= block->size;
    }
    return indices;
  }

  void copy_block(const float* from, float* to, bool is_whole) const {
    for (size_t i = 0; i < offsets_.size(); ++i) {
      to[i] = is_whole || !is_padding(i) ? from[offsets_[i]] : 0.0f;
    }
  }

  bool is_padding(size_t position) const {
    const int64_t* indices = indices_.data() + position * layout_.dims.size();
    for (size_t d = 0; d < layout_.dims.size(); ++d) {
      if (first_[d] + indices[d] >= layout_.dims[d]) return true;
    }
    return false;
  }

  const float* from_;
  const std::vector<int64_t>& from_strides_;
  const BlockedLayout& layout_;
  float* to_;
  std::vector<int64_t> steps_;    ///< elements of a block along each dimension
  std::vector<int64_t> first_;    ///< of the current block, along each dimension
  std::vector<int64_t> indices_;  ///< of a block's elements within it, `dims.size()` each
  std::vector<int64_t> offsets_;  ///< of a block's elements in `from_`, from the first one on
};

}  // namespace

void pack_blocked(const float* from, const std::vector<int64_t>& from_strides,
                  const BlockedLayout& layout, float* to) {
  BlockPacking(from, from_strides, layout, to).run(0, 0, 0, true);
}

}  // namespace het::cpu
