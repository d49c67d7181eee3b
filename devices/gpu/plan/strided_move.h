#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "devices/gpu/plan/plan_builder.h"
#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::gpu {

/// Elements that move from one tensor to another: nested loops over `dims`, in any order, with a
/// step each on both sides, in elements. Steps of the source may be 0 or negative.
struct StridedMove {
  Shape dims;
  std::vector<int64_t> from;
  std::vector<int64_t> to;
  int64_t from_offset = 0;
  int64_t to_offset = 0;
};

/// The unsigned type of OpenCL C of as many bytes as an element has: "uint" for float; empty for
/// types that are not whole bytes.
std::string_view item_type(ElementType type);

/// Reason against moving this node's first input and outputs about, empty when there is none.
std::string refuse_move(const Node& node);

/// Options of kernels over items of a type: ITEM and WIDTH.
std::string item_options(const PlanBuilder& builder, ElementType type);

/// Elements of a row that one work-item should take.
int64_t piece_of(const PlanBuilder& builder, int64_t length);

/// Whole numbers as a constant of Int32, for kernels' lists.
Result<TensorId> int_list(PlanBuilder& builder, const std::vector<int64_t>& values);

/// The launch that copies elements between two tensors of one element size.
Result<Launch> move_launch(PlanBuilder& builder, TensorId from, TensorId to,
                           const StridedMove& move);
/// Copies elements between two tensors of one element size, with the kernel that suits the steps.
Status add_move(PlanBuilder& builder, const Node& node, TensorId from, TensorId to,
                const StridedMove& move);

/// Per dimension of a dense target, in the order of its memory: the offset in the source that every
/// position stands for, -1 for the fill. Those of positions are added up.
using PositionTables = std::vector<std::vector<int64_t>>;

/// Fills a dense tensor from the elements that `tables` name. `fill` is a tensor of one element of
/// that type, or kNoTensor where no entry is below 0.
Status add_mapped_move(PlanBuilder& builder, const Node& node, TensorId from, TensorId to,
                       const PositionTables& tables, TensorId fill);

/// ChannelsLast where one of the values lies so, else Plain.
Format format_of_any(PlanBuilder& builder, const std::vector<Value*>& values);

}  // namespace het::gpu
