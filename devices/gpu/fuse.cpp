#include "devices/gpu/fuse.h"

#include "devices/gpu/kernels/products/int8_layer.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het::gpu {
namespace {

Status lower_qlinear_to_float(Model& model) {
  return lower_qlinear(model, {});
}

/// Kernels are generated with their tails, so any expression may be in one.
Status fuse_any_tails(Model& model) {
  return fuse_tails(model, {});
}

bool runs_in_int8(const Node& product) {
  return refuse_int8(product).empty();
}

constexpr Int8Rules kInt8Rules = {runs_in_int8};

Status lower_qlinear_to_int8(Model& model) {
  return lower_qlinear(model, kInt8Rules);
}

Status quantise_all_products(Model& model) {
  return quantise_products(model, kInt8Rules);
}

Status fold_affine_of_int8(Model& model) {
  return fold_int8_affine(model, kInt8Rules);
}

Status fuse_activations_of_int8(Model& model) {
  return fuse_int8_activations(model, {});
}

Status fuse_sums_of_int8(Model& model) {
  return fuse_int8_sums(model, kInt8Rules, {});
}

Status fuse_bytes_behind_int8(Model& model) {
  return fuse_requantisation(model, kInt8Rules);
}

/// Gates and means of bytes are computed in float.
Status quantise_other_operators(Model& model) {
  return quantise_operators(model, {});
}

}  // namespace

Status fuse(Model& model, bool int8) {
  HET_TRY(compute_in_float32(model));
  if (int8) {
    HET_TRY(run_rewrites(model, {lower_qlinear_to_int8, split_fake_quantize, move_quantisation,
                                 quantise_all_products, fold_affine_of_int8, fuse_gated_activations,
                                 fuse_activations_of_int8, fuse_sums_of_int8,
                                 fuse_bytes_behind_int8, quantise_other_operators}));
  } else {
    HET_TRY(run_rewrites(model, {lower_qlinear_to_float}));
  }
  return run_rewrites(
      model,
      {lower_qlinear_concat, fuse_fake_quantisation, fold_dequantized_constants, fold_padding,
       fold_space_to_depth, lower_attention, fuse_attention, fuse_nan_guards, fold_channel_affine,
       lower_batch_norm, lower_fake_quantize, fuse_normalisations, fuse_gated_activations,
       fuse_channel_shuffles, fuse_channel_slices, fuse_any_tails, fuse_elementwise});
}

}  // namespace het::gpu
