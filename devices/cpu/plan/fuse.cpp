#include "devices/cpu/plan/fuse.h"

#include <algorithm>
#include <cmath>

#include "devices/cpu/formats/post_op.h"
#include "devices/cpu/loops/byte_loops.h"
#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/plan/byte_map.h"
#include "devices/cpu/products/finished_product.h"
#include "devices/cpu/products/int8_product.h"
#include "inference/ops/products/conv_transpose.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het::cpu {
namespace {

/// oneDNN has no post-op for some expressions, and its code generators keep one set of parameters
/// per kind (seen with 2.6.3), so no kind may come twice.
bool takes(const FusedTail& tail) {
  const TailStep& last = tail.back();
  if (std::isnan(last.expression.alpha) || std::isnan(last.expression.beta)) return false;
  if (!last.sum && post_ops_of(last.expression).empty()) return false;
  const std::vector<PostOp> ops = post_ops_of(tail);
  for (size_t i = 0; i < ops.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (ops[i].kind == ops[k].kind) return false;
    }
  }
  return true;
}

bool takes_non_finite(const FusedTail& tail) {
  return takes(tail) && keep_non_finite(post_ops_of(tail));
}

/// oneDNN makes no deconvolution that adds positions behind what the kernels cover.
bool is_extended(const Node& node) {
  const auto conv =
      conv_transpose_attributes(node, node.input(0)->desc().shape, node.input(1)->desc().shape);
  return !conv || std::any_of(conv->pads_end.begin(), conv->pads_end.end(),
                              [](int64_t pad) { return pad < 0; });
}

bool takes_any(const Node& product) {
  return product.op_type() != "ConvTranspose" || !is_extended(product);
}

bool can_run(const Node& fused) {
  return !is_int8_product(fused) || has_int8_kernel(fused);
}

TailRules tail_rules() {
  TailRules rules;
  // Kernels take any number, but every step costs a pass over the registers.
  rules.most_steps = 4;
  // Blocked convolutions add before anything else; with the sum further back only others are left,
  // whose formats cost reorders.
  rules.convolutions_add_first = true;
  rules.slopes = true;  // a kernel of our own
  rules.takes = takes;
  rules.takes_any = takes_any;
  rules.can_run = can_run;
  return rules;
}

Int8Rules int8_rules() {
  return {computes_int8() ? has_int8_kernel : nullptr, true};
}

ByteRules byte_rules() {
  return {true, int64_t{kMostMeanRows}};
}

}  // namespace

Status lower_qlinear(Model& model) {
  return lower_qlinear(model, int8_rules());
}

Status quantise_products(Model& model) {
  return quantise_products(model, int8_rules());
}

Status fold_int8_affine(Model& model) {
  return fold_int8_affine(model, int8_rules());
}

Status fuse_int8_activations(Model& model) {
  return fuse_int8_activations(model, tail_rules());
}

Status fuse_int8_sums(Model& model) {
  return fuse_int8_sums(model, int8_rules(), tail_rules());
}

Status fuse_requantisation(Model& model) {
  return fuse_requantisation(model, int8_rules());
}

Status quantise_operators(Model& model) {
  return quantise_operators(model, byte_rules());
}

Status round_convolutions(Model& model) {
  return round_convolutions(model, can_finish);
}

Status map_bytes(Model& model) {
  return map_bytes(model, run_on_bytes);
}

Status fuse_tails(Model& model) {
  return fuse_tails(model, tail_rules());
}

Status fuse_non_finite_tails(Model& model) {
  TailRules rules = tail_rules();
  rules.takes = takes_non_finite;
  return fuse_tails(model, rules);
}

bool rounds_to_levels(const Model& model) {
  return std::ranges::any_of(model.nodes(),
                             [](const auto& node) { return node->op_type() == "FakeQuantize"; });
}

Status fuse(Model& model, bool int8, bool keep_non_finite) {
  const bool keeps_sums = rounds_to_levels(model);
  HET_TRY(compute_in_float32(model));
  HET_TRY(run_rewrites(model, {lower_qlinear}));
  if (int8) {
    HET_TRY(run_rewrites(
        model, {split_fake_quantize, move_quantisation, fold_padding, move_channel_quantisation,
                quantise_products, fold_int8_affine, fuse_gated_activations, fuse_int8_activations,
                fuse_int8_sums, fuse_requantisation, quantise_operators, map_bytes, drop_expand,
                fuse_byte_attention}));
  }
  HET_TRY(run_rewrites(model, {fuse_fake_quantisation, fold_dequantized_constants, fold_padding,
                               fold_space_to_depth, drop_expand, lower_attention, fuse_attention,
                               fuse_nan_guards, move_before_concat, fold_channel_affine}));
  if (!keep_non_finite && !keeps_sums) {
    // Sums that became one convolution may be scaled and be a part of the next sum.
    HET_TRY(run_rewrites(model, {merge_convolutions, fold_channel_affine, merge_convolutions}));
  }
  HET_TRY(run_rewrites(
      model, {lower_batch_norm, lower_fake_quantize, fuse_normalisations, fuse_group_norm,
              fuse_gated_activations, move_before_concat, fuse_channel_shuffles, fuse_byte_shuffles,
              fuse_channel_slices, fuse_channel_gathers,
              keep_non_finite ? fuse_non_finite_tails : fuse_tails}));
  if (!keeps_sums) HET_TRY(run_rewrites(model, {split_conv_transpose}));
  // The pass over the result knows no NaN.
  if (int8 && !keep_non_finite) HET_TRY(run_rewrites(model, {round_convolutions}));
  if (int8) HET_TRY(run_rewrites(model, {lower_channel_quantisation}));
  HET_TRY(run_rewrites(model, {fuse_elementwise}));
  return int8 ? run_rewrites(model, {fuse_byte_elementwise}) : Status();
}

}  // namespace het::cpu
