#include <algorithm>

#include "hetero/batch/rules/rule.h"
#include "inference/ops/reductions/reduce.h"

namespace het::hetero {
namespace {

/// Works along one dimension, which stays: Softmax and the like.
template <int64_t kDefaultAxis>
Status along_axis(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0}));
  HET_TRY(context.need_apart(0, context.axis("axis", kDefaultAxis, context.rank(0))));
  context.set_all(context.input(0));
  return {};
}

/// Without the dimensions that are reduced, or with 1 in their place.
Status drop_axes(RuleContext& context, const std::vector<int64_t>& axes, bool keepdims) {
  BatchAxis axis = context.input(0).axis;
  for (const int64_t reduced : axes) {
    HET_TRY(context.need_apart(0, static_cast<size_t>(reduced)));
    if (!keepdims && static_cast<size_t>(reduced) < context.input(0).axis.dim) --axis.dim;
  }
  context.set_all(Items::batched(axis));
  return {};
}

Status reduce(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0}));
  if (context.has_input(1) && context.constant(1) == nullptr) {
    return context.refuse("its axes are not known before run time");
  }
  HET_ASSIGN(const ReduceAttributes attributes,
             reduce_attributes(context.node(), context.shape(0), context.constant(1)));
  return drop_axes(context, attributes.axes, attributes.keepdims);
}

Status arg_max(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  const auto axis = static_cast<int64_t>(context.axis("axis", 0, context.rank(0)));
  return drop_axes(context, {axis}, context.get_int("keepdims", 1) != 0);
}

/// Works along the dimensions of a list, which stay.
Status along_axes(RuleContext& context, const std::vector<int64_t>& axes) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0}));
  const auto rank = static_cast<int64_t>(context.rank(0));
  for (const int64_t axis : axes) {
    HET_TRY(context.need_apart(0, static_cast<size_t>(axis < 0 ? axis + rank : axis)));
  }
  context.set_all(context.input(0));
  return {};
}

Status along_axes_input(RuleContext& context) {
  const Tensor* const axes = context.constant(1);
  if (axes == nullptr) return context.refuse("its axes are not known before run time");
  HET_ASSIGN(const std::vector<int64_t> values, to_int64_vector(*axes));
  return along_axes(context, values);
}

Status mean_variance_normalization(RuleContext& context) {
  return along_axes(context, context.node().attributes().get_ints("axes", {0, 2, 3}));
}

/// LayerNormalization, RMSNormalization: over all dimensions from the axis on.
Status from_axis(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0}));
  for (size_t d = context.axis("axis", -1, context.rank(0)); d < context.rank(0); ++d) {
    HET_TRY(context.need_apart(0, d));
  }
  context.set_all(context.input(0));
  return {};
}

/// Normalisations of [batch, channels, ...] by item, or with statistics of their own.
Status by_item(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0}));
  return follow_dimension_0(context);
}

Status batch_normalization(RuleContext& context) {
  if (context.get_int("training_mode", 0) != 0) {
    return context.refuse("training takes mean and variance of all items together");
  }
  return by_item(context);
}

}  // namespace

std::vector<RuleRow> reduction_rules() {
  std::vector<RuleRow> rows{
      {"Softmax", "", along_axis<-1>},
      {"LogSoftmax", "", along_axis<-1>},
      {"Hardmax", "", along_axis<-1>},
      {"LpNormalization", "", along_axis<-1>},
      {"TopK", "", along_axis<-1>},
      {"ArgMax", "", arg_max},
      {"ArgMin", "", arg_max},
      {"CumSum", "", along_axes_input},
      {"CumProd", "", along_axes_input},
      {"NormalizeL2", "het", along_axes_input},
      {"MeanVarianceNormalization", "", mean_variance_normalization},
      {"LayerNormalization", "", from_axis},
      {"RMSNormalization", "", from_axis},
      {"GroupNormalization", "", by_item},
      {"InstanceNormalization", "", by_item},
      {"LRN", "", by_item},
      {"BatchNormalization", "", batch_normalization},
  };
  for (const std::string_view type :
       {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
    rows.push_back({type, "", reduce});
  }
  return rows;
}

}  // namespace het::hetero
