#include "devices/cpu/moves/mapped_copy.h"

#include <cstring>

#include "devices/cpu/threads/parallel.h"
#include "inference/tensors/shape.h"

namespace het::cpu {
namespace {

/// Bytes that are worth waking the team for.
constexpr int64_t kCopyGrainBytes = 64 << 10;

class MappedCopy final : public Kernel {
 public:
  MappedCopy(const std::vector<int64_t>& src_dims, std::vector<std::vector<int64_t>> sources,
             size_t width)
      : sources_(std::move(sources)), strides_(row_major_strides(src_dims)) {
    // Whole stretches behind the last dimension that is changed are one element.
    int64_t element = static_cast<int64_t>(width);
    while (!sources_.empty() && is_whole(sources_.back(), src_dims[sources_.size() - 1])) {
      element *= src_dims[sources_.size() - 1];
      sources_.pop_back();
    }
    for (int64_t& stride : strides_) stride *= static_cast<int64_t>(width);
    strides_.resize(sources_.size());
    if (sources_.empty()) sources_.push_back({0});
    if (strides_.empty()) strides_.push_back(0);
    for (const std::vector<int64_t>& list : sources_) {
      if (&list != &sources_.back()) rows_ *= static_cast<int64_t>(list.size());
    }
    for (const int64_t source : sources_.back()) {
      const int64_t offset = source * strides_.back();
      if (!runs_.empty() && offset == runs_.back().from + runs_.back().bytes) {
        runs_.back().bytes += element;
      } else {
        runs_.push_back({offset, element});
      }
    }
    row_bytes_ = static_cast<int64_t>(sources_.back().size()) * element;
  }

  std::string_view implementation() const override { return "own_copy"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    if (rows_ == 0 || row_bytes_ == 0) return {};
    const int64_t grain = std::max<int64_t>(kCopyGrainBytes / row_bytes_, 1);
    parallel_for(rows_, grain, [&](int64_t begin, int64_t end) {
      std::byte* to = args.outputs[0] + begin * row_bytes_;
      for (int64_t row = begin; row < end; ++row) {
        const std::byte* from = args.inputs[0] + row_offset(row);
        for (const Run& run : runs_) {
          std::memcpy(to, from + run.from, static_cast<size_t>(run.bytes));
          to += run.bytes;
        }
      }
    });
    return {};
  }

 private:
  /// Bytes of the innermost changed dimension that lie together in src too.
  struct Run {
    int64_t from;
    int64_t bytes;
  };

  static bool is_whole(const std::vector<int64_t>& sources, int64_t dim) {
    if (static_cast<int64_t>(sources.size()) != dim) return false;
    for (int64_t i = 0; i < dim; ++i) {
      if (sources[static_cast<size_t>(i)] != i) return false;
    }
    return true;
  }

  int64_t row_offset(int64_t row) const {
    int64_t offset = 0;
    for (size_t d = sources_.size() - 1; d-- > 0;) {
      const auto size = static_cast<int64_t>(sources_[d].size());
      offset += sources_[d][static_cast<size_t>(row % size)] * strides_[d];
      row /= size;
    }
    return offset;
  }

  std::vector<std::vector<int64_t>> sources_;  ///< of the dimensions up to the last changed one
  std::vector<int64_t> strides_;               ///< of src, in bytes
  std::vector<Run> runs_;
  int64_t rows_ = 1;
  int64_t row_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_mapped_copy(const std::vector<int64_t>& src_dims,
                                         std::vector<std::vector<int64_t>> sources, size_t width) {
  return std::make_unique<MappedCopy>(src_dims, std::move(sources), width);
}

}  // namespace het::cpu
