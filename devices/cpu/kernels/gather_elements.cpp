#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/type_dispatch.h"

namespace het::cpu {
namespace {

/// Where a row of indices, along the last dimension, finds its data.
struct GatherShape {
  Shape outer;                  ///< of the indices, without the last dimension
  std::vector<int64_t> stride;  ///< of the data along these; 0 for the axis
  int64_t length = 1;           ///< the last dimension of the indices
  int64_t axis_size = 1;        ///< of the data
  int64_t axis_stride = 1;      ///< of the data
  int64_t step = 0;             ///< of the data from one index of a row to the next

  int64_t offset(int64_t row) const {
    int64_t at = 0;
    for (size_t d = outer.size(); d-- > 0; row /= outer[d]) at += row % outer[d] * stride[d];
    return at;
  }
};

/// Loop order: rows, then along the last dimension.
template <class T, class Index>
class GatherElementsKernel final : public Kernel {
 public:
  GatherElementsKernel(GatherShape shape, int64_t rows) : shape_(std::move(shape)), rows_(rows) {}
  std::string_view implementation() const override { return "own"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const T*>(args.inputs[0]);
    const auto* indices = reinterpret_cast<const Index*>(args.inputs[1]);
    auto* dst = reinterpret_cast<T*>(args.outputs[0]);
    const int64_t length = shape_.length;
    for (int64_t i = 0; i < rows_ * length; ++i) {
      if (indices[i] < -shape_.axis_size || indices[i] >= shape_.axis_size) {
        return error(StatusCode::InvalidArgument, "index {} is outside [-{}, {}), the axis of data",
                     static_cast<int64_t>(indices[i]), shape_.axis_size, shape_.axis_size);
      }
    }
    parallel_for(rows_, 8192 / length + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* from = src + shape_.offset(row);
        const Index* at = indices + row * length;
        T* to = dst + row * length;
        for (int64_t i = 0; i < length; ++i) {
          const int64_t index = at[i] < 0 ? at[i] + shape_.axis_size : at[i];
          to[i] = from[index * shape_.axis_stride + i * shape_.step];
        }
      }
    });
    return {};
  }

 private:
  GatherShape shape_;
  int64_t rows_;
};

Result<bool> plan_gather_elements(PlanBuilder& builder, const Node& node) {
  const TensorDesc& src = node.input(0)->desc();
  const TensorDesc& indices = node.input(1)->desc();
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", 0),
                                                static_cast<int64_t>(src.shape.size())));
  GatherShape shape;
  int64_t stride = 1;
  for (size_t d = src.shape.size(); d-- > 0; stride *= src.shape[d]) {
    const bool along = static_cast<int64_t>(d) == axis;
    if (along) {
      shape.axis_size = src.shape[d];
      shape.axis_stride = stride;
    }
    if (d + 1 == src.shape.size()) {
      shape.length = indices.shape[d];
      shape.step = along ? 0 : 1;
    } else {
      shape.outer.insert(shape.outer.begin(), indices.shape[d]);
      shape.stride.insert(shape.stride.begin(), along ? 0 : stride);
    }
  }
  const int64_t rows = element_count(shape.outer);
  auto kernel = dispatch_width(src.type, [&]<class T>() -> Result<std::unique_ptr<Kernel>> {
    return dispatch_index(indices.type, [&]<class Index>() -> Result<std::unique_ptr<Kernel>> {
      return std::make_unique<GatherElementsKernel<T, Index>>(shape, rows);
    });
  });
  if (!kernel) return false;
  HET_ASSIGN(const TensorId in, builder.read(*node.input(0), Format::Plain, src.type));
  HET_ASSIGN(const TensorId at, builder.read(*node.input(1), Format::Plain, indices.type));
  const TensorId out = builder.write(*node.output(), {src.type, indices.shape, Format::Plain});
  builder.add_step(node, std::move(*kernel), {in, at}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_gather_elements(KernelRegistry& registry) {
  registry.add("", "GatherElements", plan_gather_elements);
}

}  // namespace het::cpu
