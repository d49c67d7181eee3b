#include "devices/gpu/products/products.h"

#include <algorithm>
#include <limits>

#include "devices/gpu/plan/expression_text.h"
#include "devices/gpu/plan/launches.h"
#include "devices/gpu/programs/kernel_sources.h"

namespace het::gpu {
namespace {

constexpr int64_t kWidestPanel = 64;

/// What a work-item owns.
struct Tile {
  int64_t rows = 1;
  int64_t vectors = 1;
};

/// Sums, a row of b and an element of a stay in registers: 16 of them on a CPU with AVX2.
Tile tile_for(const Hardware& hardware, int64_t m) {
  if (m == 1) return {1, 4};
  if (!hardware.is_cpu) return m <= 4 ? Tile{4, 1} : Tile{8, 1};
  if (m <= 4) return {4, 2};
  return {6, 2};
}

/// Where panels of the right side lie.
struct Panels {
  int64_t width = 1;
  int64_t count = 1;
  int64_t panel_step = 0;
  int64_t depth_step = 0;
  int64_t matrix_step = 0;
};

/// A CPU reads one panel from memory in a row; neighbours on a GPU read neighbouring panels.
Panels panels_for(const Hardware& hardware, const Tile& tile, int64_t k, int64_t n) {
  Panels panels;
  panels.width = tile.vectors * static_cast<int64_t>(hardware.vector_width());
  panels.count = (n + panels.width - 1) / panels.width;
  panels.panel_step = hardware.is_cpu ? k * panels.width : panels.width;
  panels.depth_step = hardware.is_cpu ? panels.width : panels.width * panels.count;
  panels.matrix_step = panels.width * panels.count * k;
  return panels;
}

Result<TensorId> packed_constant(PlanBuilder& builder, const Product& product,
                                 const Panels& panels) {
  HET_ASSIGN(const std::vector<float> values, to_float_vector(*product.right_constant));
  std::vector<float> packed(static_cast<size_t>(panels.matrix_step * product.right_matrices));
  for (int64_t matrix = 0; matrix < product.right_matrices; ++matrix) {
    const float* const from = values.data() + matrix * product.right_steps.matrix;
    float* const to = packed.data() + matrix * panels.matrix_step;
    for (int64_t depth = 0; depth < product.k; ++depth) {
      for (int64_t column = 0; column < product.n; ++column) {
        to[column / panels.width * panels.panel_step + depth * panels.depth_step +
           column % panels.width] =
            from[depth * product.right_steps.row + column * product.right_steps.column];
      }
    }
  }
  return builder.stored_constant(packed);
}

/// Where matrices begin in their tensor.
std::vector<int64_t> matrix_offsets(const std::vector<int64_t>& given, int64_t step,
                                    int64_t matrices) {
  if (!given.empty()) return given;
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < matrices; ++i) offsets.push_back(i * step);
  return offsets;
}

Result<TensorId> table(PlanBuilder& builder, const std::vector<int64_t>& offsets) {
  const std::vector<int32_t> values(offsets.begin(), offsets.end());
  return builder.constant(Tensor::from<int32_t>({static_cast<int64_t>(values.size())}, values));
}

Result<TensorId> packed_at_run_time(PlanBuilder& builder, const Node& node, const Product& product,
                                    const Panels& panels) {
  const TensorId packed = builder.temporary({builder.options().stored_type,
                                             {panels.matrix_step * product.right_matrices},
                                             Format::Plain});
  const int64_t columns = panels.width * panels.count;
  HET_ASSIGN(const TensorId offsets,
             table(builder, matrix_offsets(product.right_offsets, product.right_steps.matrix,
                                           product.right_matrices)));
  Launch launch;
  launch.text = {"pack_panels", storage_option(builder.options().stored_type), ""};
  launch.kernel = "pack_panels";
  launch.args = {Read{product.right},
                 Write{packed},
                 Read{offsets},
                 as_int(product.k),
                 as_int(product.n),
                 as_int(columns),
                 as_int(product.right_steps.row),
                 as_int(product.right_steps.column),
                 as_int(panels.width),
                 as_int(panels.panel_step),
                 as_int(panels.depth_step),
                 as_int(panels.matrix_step)};
  launch.global = {static_cast<size_t>(columns), static_cast<size_t>(product.k),
                   static_cast<size_t>(product.right_matrices)};
  launch.local = builder.row_local();
  HET_TRY(builder.add_step(node, std::move(launch)));
  return packed;
}

/// The tensor is in panels as it is.
bool lies_in_panels(const Hardware& hardware, const Product& product, const Panels& panels) {
  if (product.right_constant != nullptr || product.right_steps.column != 1) return false;
  if (product.n % panels.width != 0) return false;
  // Panels apart in memory cost a CPU more than packing them once for many rows.
  constexpr int64_t kFewRows = 16;
  return !hardware.is_cpu || product.m <= kFewRows;
}

/// Slices of the depth where rows and columns alone do not keep the device busy.
int64_t slices_for(const Hardware& hardware, const Product& product, int64_t items) {
  constexpr int64_t kShortestSlice = 128;
  const auto wanted = static_cast<int64_t>(hardware.compute_units * hardware.group_size()) *
                      (hardware.is_cpu ? 1 : 8);
  if (items * 2 > wanted) return 1;
  return std::clamp<int64_t>(wanted / items, 1, std::max<int64_t>(1, product.k / kShortestSlice));
}

/// For every product where its left and right matrix and its result begin.
Result<TensorId> offsets_of(PlanBuilder& builder, const Product& product,
                            const std::vector<int64_t>& right) {
  int64_t left_matrices = 0;
  for (const auto& pair : product.matrices) {
    left_matrices = std::max<int64_t>(left_matrices, pair.first + 1);
  }
  const auto matrices = static_cast<int64_t>(product.matrices.size());
  const std::vector<int64_t> left =
      matrix_offsets(product.left_offsets, product.left_steps.matrix, left_matrices);
  const std::vector<int64_t> result =
      matrix_offsets(product.result_offsets, product.m * product.n, matrices);
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < product.matrices.size(); ++i) {
    const auto& [left_index, right_index] = product.matrices[i];
    offsets.insert(offsets.end(), {left[static_cast<size_t>(left_index)],
                                   right[static_cast<size_t>(right_index)], result[i]});
  }
  return table(builder, offsets);
}

ProgramText text_of(const PlanBuilder& builder, const Product& product, const Tile& tile) {
  ProgramText text;
  text.options = fmt::format("{} -DROWS={} -DVECTORS={}{}", row_options(builder), tile.rows,
                             tile.vectors, builder.hardware().is_cpu ? "" : " -DPANELS_FIRST");
  NumberedText tail = tail_text(product.tail);
  text.generated = std::string(*kernel_source("expressions")) + tail.text;
  text.numbers = std::move(tail.numbers);
  text.file = "matmul";
  return text;
}

int64_t result_row(const Product& product) {
  return product.result_offsets.empty() ? product.n : product.result_row;
}

Status add_slices(PlanBuilder& builder, const Node& node, const Product& product,
                  const ProgramText& text, TensorId partial, TensorId offsets, int64_t slices) {
  const int64_t rows = static_cast<int64_t>(product.matrices.size()) * product.m;
  Launch launch;
  launch.text = text;
  launch.kernel = "add_slices";
  launch.args = {Read{partial},
                 Read{product.bias},
                 Read{product.sum},
                 Write{product.result},
                 Read{offsets},
                 as_int(rows),
                 as_int(product.m),
                 as_int(product.n),
                 as_int(result_row(product)),
                 as_int(slices),
                 cl_float{product.alpha},
                 cl_float{product.beta},
                 as_int(product.bias_row),
                 as_int(product.bias_column)};
  launch.global = {groups_of(product.n, static_cast<int64_t>(builder.hardware().vector_width())),
                   static_cast<size_t>(rows), 1};
  launch.local = builder.row_local();
  return builder.add_step(node, std::move(launch));
}

}  // namespace

bool is_product_too_large(int64_t right_matrices, int64_t k, int64_t n) {
  return right_matrices * k > std::numeric_limits<int32_t>::max() / (n + kWidestPanel);
}

Status add_product(PlanBuilder& builder, const Node& node, const Product& product) {
  const Hardware& hardware = builder.hardware();
  const Tile tile = tile_for(hardware, product.m);
  Panels panels = panels_for(hardware, tile, product.k, product.n);
  TensorId right = product.right;
  std::vector<int64_t> right_offsets;
  if (product.right_constant != nullptr) {
    HET_ASSIGN(right, packed_constant(builder, product, panels));
  } else if (lies_in_panels(hardware, product, panels)) {
    panels.panel_step = panels.width;
    panels.depth_step = product.right_steps.row;
    right_offsets =
        matrix_offsets(product.right_offsets, product.right_steps.matrix, product.right_matrices);
  } else {
    HET_ASSIGN(right, packed_at_run_time(builder, node, product, panels));
  }
  if (right_offsets.empty()) {
    right_offsets = matrix_offsets({}, panels.matrix_step, product.right_matrices);
  }
  HET_ASSIGN(const TensorId offsets, offsets_of(builder, product, right_offsets));
  const auto matrices = static_cast<int64_t>(product.matrices.size());
  const int64_t row_blocks = (product.m + tile.rows - 1) / tile.rows;
  const int64_t slices = slices_for(hardware, product, row_blocks * panels.count * matrices);
  const int64_t slice_depth = (product.k + slices - 1) / slices;
  TensorId partial = kNoTensor;
  if (slices > 1) {
    partial = builder.temporary(
        {ElementType::Float32, {slices, matrices * product.m * product.n}, Format::Plain});
  }
  Launch launch;
  launch.text = text_of(builder, product, tile);
  launch.kernel = "matmul";
  launch.args = {Read{product.left},
                 Read{right},
                 Read{slices == 1 ? product.bias : kNoTensor},
                 Read{slices == 1 ? product.sum : kNoTensor},
                 Write{slices == 1 ? product.result : kNoTensor},
                 Write{partial},
                 Read{offsets},
                 as_int(matrices),
                 as_int(product.m),
                 as_int(product.n),
                 as_int(product.k),
                 as_int(product.left_steps.row),
                 as_int(product.left_steps.column),
                 as_int(panels.panel_step),
                 as_int(panels.depth_step),
                 as_int(result_row(product)),
                 as_int(slices),
                 as_int(slice_depth),
                 cl_float{product.alpha},
                 cl_float{product.beta},
                 as_int(product.bias_row),
                 as_int(product.bias_column)};
  const auto along_rows = static_cast<size_t>(row_blocks);
  const auto along_columns = static_cast<size_t>(panels.count);
  const auto stacks = static_cast<size_t>(matrices * slices);
  const ProgramText text = launch.text;
  if (hardware.is_cpu) {
    // Neighbours share a panel, which stays in the cache; groups are small, since they are what
    // threads share out.
    launch.global = {along_rows, along_columns, stacks};
    launch.local = {4, 1, 1};
  } else {
    launch.global = {along_columns, along_rows, stacks};
    launch.local = {16, 4, 1};
  }
  HET_TRY(builder.add_step(node, std::move(launch)));
  if (slices == 1) return {};
  return add_slices(builder, node, product, text, partial, offsets, slices);
}

}  // namespace het::gpu
