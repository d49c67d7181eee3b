#include "inference/ops/products/col2im.h"

#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status check_list(const std::vector<int64_t>& values, size_t length, int64_t smallest,
                  std::string_view name) {
  bool valid = values.size() == length;
  // Products of two such values cannot overflow.
  for (const int64_t value : values) valid = valid && value >= smallest && value <= INT32_MAX;
  if (valid) return {};
  return error(StatusCode::InvalidArgument, "{} {} must have {} entries from {} to {}", name,
               to_string(values), length, smallest, INT32_MAX);
}

}  // namespace

Result<BlockGrid> block_grid(const Attributes& attributes, std::vector<int64_t> image,
                             std::vector<int64_t> block) {
  const size_t rank = image.size();
  if (rank == 0) return error(StatusCode::InvalidArgument, "image_shape is empty");
  BlockGrid grid{std::move(image),
                 std::move(block),
                 attributes.get_ints("strides", std::vector<int64_t>(rank, 1)),
                 attributes.get_ints("dilations", std::vector<int64_t>(rank, 1)),
                 attributes.get_ints("pads", std::vector<int64_t>(2 * rank, 0)),
                 {}};
  HET_TRY(check_list(grid.image, rank, 0, "image_shape"));
  HET_TRY(check_list(grid.block, rank, 1, "block_shape"));
  HET_TRY(check_list(grid.strides, rank, 1, "strides"));
  HET_TRY(check_list(grid.dilations, rank, 1, "dilations"));
  HET_TRY(check_list(grid.pads, 2 * rank, 0, "pads"));
  for (size_t d = 0; d < rank; ++d) {
    const int64_t free = grid.image[d] + grid.pads[d] + grid.pads[rank + d] -
                         grid.dilations[d] * (grid.block[d] - 1) - 1;
    grid.count.push_back(free < 0 ? 0 : free / grid.strides[d] + 1);
  }
  return grid;
}

namespace {

Status infer_col2im(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kNumbers));
  HET_TRY(check_rank(context, 0, "input", 3, 3));
  HET_TRY(check_attributes(context.attributes(), {{"strides", AttributeType::Ints},
                                                  {"dilations", AttributeType::Ints},
                                                  {"pads", AttributeType::Ints}}));
  HET_ASSIGN(const auto image, known_ints(context, 1, "image_shape"));
  HET_ASSIGN(const auto block, known_ints(context, 2, "block_shape"));
  if (!image || !block) {
    const int64_t spatial = context.rank(1) == 0 ? 1 : context.shape(1)[0];
    Shape shape = unknown_shape(2 + std::min<int64_t>(spatial, 64));
    shape[0] = context.shape(0)[0];
    context.set_output(0, context.type(0), std::move(shape));
    return {};
  }
  HET_ASSIGN(const BlockGrid grid, block_grid(context.attributes(), *image, *block));
  HET_ASSIGN(const int64_t block_size, checked_element_count(grid.block));
  HET_ASSIGN(const int64_t blocks, checked_element_count(grid.count));
  const Shape& columns = context.shape(0);
  if (columns[1] % block_size != 0 || columns[2] != blocks) {
    return error(StatusCode::ShapeMismatch,
                 "columns of shape {} do not fit blocks of {} elements at {} places",
                 to_string(columns), block_size, blocks);
  }
  Shape shape{columns[0], columns[1] / block_size};
  shape.insert(shape.end(), image->begin(), image->end());
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// Increments a position inside `dims`, last dimension first.
void advance(std::vector<int64_t>& position, const std::vector<int64_t>& dims) {
  for (size_t d = position.size(); d-- > 0;) {
    if (++position[d] < dims[d]) return;
    position[d] = 0;
  }
}

/// Offset in the image of element `k` of block `l`, or -1 in the padding.
int64_t image_offset(const BlockGrid& grid, const std::vector<int64_t>& k,
                     const std::vector<int64_t>& l) {
  int64_t offset = 0;
  for (size_t d = 0; d < grid.image.size(); ++d) {
    const int64_t x = l[d] * grid.strides[d] + k[d] * grid.dilations[d] - grid.pads[d];
    if (x < 0 || x >= grid.image[d]) return -1;
    offset = offset * grid.image[d] + x;
  }
  return offset;
}

/// Adds up overlapping blocks in T's arithmetic type and rounds once; integers wrap around.
template <class T>
void sum_blocks(const Tensor& columns, const BlockGrid& grid, Tensor& y) {
  using A = std::conditional_t<std::is_integral_v<T>, uint64_t, ArithmeticType<T>>;
  const int64_t block_size = element_count(grid.block);
  const int64_t blocks = element_count(grid.count);
  const int64_t image_size = element_count(grid.image);
  const T* src = columns.data<T>();
  T* dst = y.data<T>();
  std::vector<A> sums(static_cast<size_t>(image_size));
  for (int64_t plane = 0; plane < y.shape()[0] * y.shape()[1]; ++plane) {
    std::fill(sums.begin(), sums.end(), A(0));
    std::vector<int64_t> k(grid.block.size());
    for (int64_t i = 0; i < block_size; ++i, advance(k, grid.block)) {
      std::vector<int64_t> l(grid.block.size());
      for (int64_t j = 0; j < blocks; ++j, advance(l, grid.count)) {
        const auto value = static_cast<A>(*src++);
        const int64_t offset = image_offset(grid, k, l);
        if (offset >= 0) sums[static_cast<size_t>(offset)] += value;
      }
    }
    dst = std::transform(sums.begin(), sums.end(), dst, [](A sum) { return static_cast<T>(sum); });
  }
}

Status evaluate_col2im(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  if (y.element_count() == 0) return {};
  HET_ASSIGN(std::vector<int64_t> image, to_int64_vector(context.input(1)));
  HET_ASSIGN(std::vector<int64_t> block, to_int64_vector(context.input(2)));
  HET_ASSIGN(const BlockGrid grid,
             block_grid(context.attributes(), std::move(image), std::move(block)));
  return dispatch_numeric(x.type(), [&]<class T>() -> Status {
    sum_blocks<T>(x, grid, y);
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_col2im(OpRegistry& registry) {
  registry.add({"Col2Im", "", 18, 3, 3, infer_col2im, evaluate_col2im});
}

}  // namespace het
