#include "inference/ops/reductions/reduce.h"

#include <numeric>

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_space.h"
#include "devices/gpu/products/rows.h"
#include "devices/gpu/programs/kernel_sources.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

bool is_global_pool(const Node& node) {
  return node.op_type() == "GlobalAveragePool" || node.op_type() == "GlobalMaxPool";
}

/// A reduction or a pool of whole pictures.
Result<ReduceAttributes> reduction_of(const Node& node) {
  const Shape& shape = node.input(0)->desc().shape;
  if (!is_global_pool(node)) {
    const Value* const axes = node.input(1);
    return reduce_attributes(node, shape, axes != nullptr ? &axes->constant() : nullptr);
  }
  ReduceAttributes reduce;
  reduce.kind = node.op_type() == "GlobalMaxPool" ? ReduceKind::Max : ReduceKind::Mean;
  reduce.axes.resize(shape.size() - 2);
  std::iota(reduce.axes.begin(), reduce.axes.end(), 2);
  reduce.output_shape = node.output()->desc().shape;
  return reduce;
}

bool computes_logarithm_or_root(ReduceKind kind) {
  return kind == ReduceKind::L2 || kind == ReduceKind::LogSum || kind == ReduceKind::LogSumExp;
}

bool keeps_rank(const Shape& shape, const ReduceAttributes& reduce) {
  return reduce.output_shape.size() == shape.size();
}

/// Integers are reduced in one stage.
std::optional<RowFormat> integer_rows(const Shape& shape, const ReduceAttributes& reduce) {
  const std::optional<RowFormat> rows = row_format(shape, Format::Plain, reduce.axes);
  if (rows && rows->format != Format::Plain && !keeps_rank(shape, reduce)) return std::nullopt;
  return rows;
}

std::string refuse_reduce(const Node& node) {
  const TensorDesc& desc = node.input(0)->desc();
  if (node.input(1) != nullptr && !node.input(1)->is_constant()) {
    return "the axes are computed at run time";
  }
  const Result<ReduceAttributes> reduce = reduction_of(node);
  if (!reduce) return reduce.error().message();
  if (desc.type == ElementType::Float32) return {};
  if (is_real(desc.type) || c_type(desc.type).empty() || computes_logarithm_or_root(reduce->kind)) {
    return fmt::format("{} of {} has no GPU kernel", node.op_type(), to_string(desc.type));
  }
  if (!integer_rows(desc.shape, *reduce)) {
    return "integers are reduced along dimensions that do not lie together";
  }
  return {};
}

std::string kind_options(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Prod:
      return " -DPRODUCT";
    case ReduceKind::Max:
      return " -DLARGEST";
    case ReduceKind::Min:
      return " -DSMALLEST";
    case ReduceKind::LogSumExp:
      return " -DLOG_SUM_EXP";
    case ReduceKind::L1:
      return " -DMAGNITUDES";
    case ReduceKind::L2:
    case ReduceKind::SumSquare:
      return " -DSQUARES";
    default:
      return {};
  }
}

/// What later stages do with the results of the first: their elements are taken as they are.
ReduceKind joining_kind(ReduceKind kind) {
  const bool joins_otherwise = kind == ReduceKind::Prod || kind == ReduceKind::Max ||
                               kind == ReduceKind::Min || kind == ReduceKind::LogSumExp;
  return joins_otherwise ? kind : ReduceKind::Sum;
}

/// As kernels/values/reduce.cl counts.
int finish_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Mean:
      return 1;
    case ReduceKind::L2:
      return 2;
    case ReduceKind::LogSum:
      return 3;
    default:
      return 0;
  }
}

/// Long rows of few outputs are cut, so that all of the device has work; 1 for no cut.
int64_t cut_of(const Hardware& hardware, const RowSpace& space) {
  constexpr int64_t kLongRow = 2048;
  const auto busy = static_cast<int64_t>(hardware.compute_units) * (hardware.is_cpu ? 4 : 64);
  if (space.length < kLongRow || space.outer * space.inner >= busy) return 1;
  int64_t best = 1;
  for (int64_t part = 2; part * part <= space.length && part <= 1024; ++part) {
    if (space.length % part == 0) best = part;
  }
  return best;
}

/// The stages: rows that do not lie together, and long ones, are reduced one after the other, the
/// innermost first.
std::vector<RowSpace> stages_of(const Hardware& hardware, std::vector<RowBlock> blocks) {
  std::vector<RowSpace> stages;
  for (size_t k = blocks.size(); k-- > 0;) {
    if (!blocks[k].in_row) continue;
    RowSpace space;
    space.length = blocks[k].size;
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (i < k) space.outer *= blocks[i].size;
      if (i > k && !blocks[i].in_row) space.inner *= blocks[i].size;
    }
    if (const int64_t cut = cut_of(hardware, space); cut > 1) {
      stages.push_back({space.outer * cut, space.length / cut, space.inner});
      space.length = cut;
    }
    stages.push_back(space);
  }
  if (stages.empty()) {
    RowSpace all;
    for (const RowBlock& block : blocks) all.inner *= block.size;
    stages.push_back(all);
  }
  return stages;
}

Status plan_stages(PlanBuilder& builder, const Node& node, const ReduceAttributes& reduce,
                   Format format, TensorId src, TensorId dst) {
  const Shape& shape = node.input(0)->desc().shape;
  const std::vector<RowSpace> stages =
      stages_of(builder.hardware(), row_blocks(shape, format, reduce.axes));
  int64_t count = 1;
  for (const int64_t axis : reduce.axes) count *= shape[static_cast<size_t>(axis)];
  for (size_t i = 0; i < stages.size(); ++i) {
    const RowSpace& space = stages[i];
    const bool first = i == 0;
    const bool last = i + 1 == stages.size();
    const TensorId to =
        last
            ? dst
            : builder.temporary({ElementType::Float32, {space.outer * space.inner}, Format::Plain});
    Launch launch;
    launch.text.file = "reduce";
    launch.text.generated = std::string(*kernel_source("rows"));
    launch.text.options =
        lane_options(builder) + kind_options(first ? reduce.kind : joining_kind(reduce.kind));
    if (builder.options().stored_type == ElementType::Float16) {
      if (!first) launch.text.options += " -DFROM_FLOAT";
      if (!last) launch.text.options += " -DTO_FLOAT";
    }
    launch.args = {Read{src}, Write{to}, as_int(space.outer), as_int(space.length)};
    if (space.inner > 1) launch.args.emplace_back(as_int(space.inner));
    launch.args.emplace_back(cl_int{last ? finish_of(reduce.kind) : 0});
    launch.args.emplace_back(static_cast<cl_float>(count));
    if (space.inner == 1) {
      launch.kernel = "reduce_rows";
      set_row_range(builder, launch, space.outer);
    } else {
      launch.kernel = "reduce_columns";
      set_column_range(builder, launch, space.inner, space.outer);
    }
    HET_TRY(builder.add_step(node, std::move(launch)));
    src = to;
  }
  return {};
}

Status plan_integers(PlanBuilder& builder, const Node& node, const ReduceAttributes& reduce) {
  const Value& x = *node.input(0);
  const auto [format, space] = *integer_rows(x.desc().shape, reduce);
  HET_ASSIGN(const TensorId src, builder.read(x, format));
  const TensorId dst = builder.write(*node.output(), format);
  const ElementType type = x.desc().type;
  const std::string_view text = c_type(type);
  const bool is_unsigned = text.front() == 'u';
  Launch launch;
  launch.text.file = "reduce_integers";
  launch.text.options =
      fmt::format("-DTYPE={} -DWIDE={}{}{}", text, is_unsigned ? "ulong" : "long",
                  kind_options(reduce.kind), reduce.kind == ReduceKind::Mean ? " -DMEAN" : "");
  launch.kernel = "reduce_integers";
  launch.args = {Read{src}, Write{dst}, as_int(space.outer), as_int(space.length),
                 as_int(space.inner)};
  launch.global = {static_cast<size_t>(space.inner), static_cast<size_t>(space.outer), 1};
  launch.local = row_groups(builder.hardware(), launch.global);
  return builder.add_step(node, std::move(launch));
}

/// The result's elements in the order in which the kernel leaves them: those of the kept
/// dimensions in the source's memory.
Status plan_reduce(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const ReduceAttributes reduce, reduction_of(node));
  const Value& x = *node.input(0);
  if (x.desc().type != ElementType::Float32) return plan_integers(builder, node, reduce);
  const Shape& shape = x.desc().shape;
  const bool keeps = keeps_rank(shape, reduce);
  // Without its dimensions of 1 a result that has channels and pixels would not be plain.
  const auto is_one = [&](size_t d) {
    const auto axis = static_cast<int64_t>(d);
    return shape[d] == 1 ||
           std::find(reduce.axes.begin(), reduce.axes.end(), axis) != reduce.axes.end();
  };
  Format format = builder.home(x).format;
  if (!keeps && format == Format::ChannelsLast && !is_one(1)) {
    for (size_t d = 2; d < shape.size(); ++d) {
      if (!is_one(d)) format = Format::Plain;
    }
  }
  HET_ASSIGN(const TensorId src, builder.read(x, format));
  const TensorId dst = builder.write(*node.output(), keeps ? format : Format::Plain);
  return plan_stages(builder, node, reduce, format, src, dst);
}

}  // namespace

HET_REGISTRATION void register_reduce(KernelRegistry& registry) {
  for (const char* type : {"GlobalAveragePool", "GlobalMaxPool", "ReduceL1", "ReduceL2",
                           "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                           "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
    registry.add("", type, {refuse_reduce, plan_reduce});
  }
}

}  // namespace het::gpu
