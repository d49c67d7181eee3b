#include "inference/ops/products/col2im.h"

#include <algorithm>

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

Result<BlockGrid> grid_of(const Node& node) {
  HET_ASSIGN(std::vector<int64_t> image, to_int64_vector(node.input(1)->constant()));
  HET_ASSIGN(std::vector<int64_t> block, to_int64_vector(node.input(2)->constant()));
  return block_grid(node.attributes(), std::move(image), std::move(block));
}

std::string refuse_col2im(const Node& node) {
  constexpr size_t kMostDimensions = 3;
  constexpr int64_t kMostColumnPosition = int64_t{1} << 30;
  const ElementType type = node.input(0)->desc().type;
  if (type != ElementType::Float32) {
    return fmt::format("no GPU kernel adds blocks of {}", to_string(type));
  }
  if (!node.input(1)->is_constant() || !node.input(2)->is_constant()) {
    return "its shapes are computed at run time";
  }
  const Result<BlockGrid> grid = grid_of(node);
  if (!grid) return grid.error().message();
  if (grid->image.size() > kMostDimensions) return "the picture has more than three dimensions";
  for (size_t d = 0; d < grid->image.size(); ++d) {
    if (grid->image[d] + grid->pads[d] > kMostColumnPosition ||
        grid->block[d] * grid->dilations[d] > kMostColumnPosition ||
        grid->strides[d] > kMostColumnPosition) {
      return "its blocks reach over more than 2^30 positions";
    }
  }
  return {};
}

Status plan_col2im(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(BlockGrid grid, grid_of(node));
  grid.pads.resize(grid.image.size());  // those at the front
  std::vector<int64_t> list;
  for (const auto* part :
       {&grid.image, &grid.block, &grid.strides, &grid.dilations, &grid.pads, &grid.count}) {
    // Missing dimensions lead, with one block of one element.
    list.insert(list.end(), 3 - part->size(), part == &grid.pads ? 0 : 1);
    list.insert(list.end(), part->begin(), part->end());
  }
  HET_ASSIGN(const TensorId src, builder.read(*node.input(0), Format::Plain));
  HET_ASSIGN(const TensorId numbers, int_list(builder, list));
  const int64_t count = element_count(node.output()->desc().shape);
  Launch launch;
  launch.text.file = "col2im";
  launch.text.options = storage_option(builder.options().stored_type);
  launch.kernel = "col2im";
  launch.args = {Read{src}, Write{builder.write(*node.output(), Format::Plain)}, Read{numbers},
                 as_int(count)};
  launch.global[0] = static_cast<size_t>(count);
  launch.local = builder.row_local();
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_col2im(KernelRegistry& registry) {
  registry.add("", "Col2Im", {refuse_col2im, plan_col2im});
}

}  // namespace het::gpu
