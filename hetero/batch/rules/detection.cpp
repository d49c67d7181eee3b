#include "hetero/batch/rules/rule.h"

namespace het::hetero {
namespace {

/// Dimension 0 counts pictures, one per item: rows give the number of the picture.
Status need_pictures(const RuleContext& context, size_t index) {
  HET_TRY(context.need_batched(index));
  if (context.input(index).axis == BatchAxis()) return {};
  return context.refuse(fmt::format("dimension 0 of its input {} {} does not count the items",
                                    index, to_string(context.shape(index))));
}

/// box_logits, class_preds, proposals [1 or pictures, ...], and the two of the refined form.
Status detection_output(RuleContext& context) {
  enum : size_t { kBoxLogits, kClassPreds, kProposals, kAuxClassPreds, kAuxBoxPreds };
  for (const size_t i : {kBoxLogits, kClassPreds}) HET_TRY(need_pictures(context, i));
  for (const size_t i : {kProposals, kAuxClassPreds, kAuxBoxPreds}) {
    if (!context.has_input(i) || (i == kProposals && context.input(i).is_shared())) continue;
    HET_TRY(need_pictures(context, i));
  }
  context.set(0, {.kind = ItemsKind::FixedRows, .table = context.new_table()});
  return {};
}

/// boxes [pictures, boxes, 4], scores [pictures, classes, boxes]. Rows are [picture, class, box];
/// what else the operators of domain het give are rows [picture, class, score] and their number.
Status non_max_suppression(RuleContext& context) {
  for (const size_t i : {size_t{0}, size_t{1}}) HET_TRY(need_pictures(context, i));
  HET_TRY(context.need_others_shared({0, 1}));
  const size_t table = context.new_table();
  const Items rows{.kind = ItemsKind::Rows, .table = table, .rank = 2, .columns = 3};
  context.set(0, rows);
  context.set(1, rows);
  context.set(2, {.kind = ItemsKind::RowCount, .table = table, .rank = 1});
  return {};
}

Status without_pictures(RuleContext& context) {
  return context.refuse("its rows do not say to which picture they belong");
}

}  // namespace

std::vector<RuleRow> detection_rules() {
  std::vector<RuleRow> rows{
      {"DetectionOutput", "het", detection_output},
      {"NonMaxSuppression", "", non_max_suppression},
      {"NonMaxSuppression", "het", non_max_suppression},
      {"NMSRotated", "het", non_max_suppression},
  };
  for (const std::string_view type :
       {"ExperimentalDetectronDetectionOutput", "GenerateProposals",
        "ExperimentalDetectronGenerateProposalsSingleImage", "MulticlassNms", "MatrixNms"}) {
    rows.push_back({type, "het", without_pictures});
  }
  return rows;
}

}  // namespace het::hetero
