#include "devices/gpu/fuse.h"

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

}  // namespace

Status fuse(Model& model) {
  HET_TRY(compute_in_float32(model));
  return run_rewrites(
      model, {lower_qlinear_to_float, lower_qlinear_pools, fuse_fake_quantisation,
              fold_dequantized_constants, fold_padding, fold_space_to_depth, lower_attention,
              fuse_attention, fold_channel_affine, lower_batch_norm, lower_fake_quantize,
              fuse_normalisations, fuse_gated_activations, fuse_channel_shuffles,
              fuse_channel_slices, fuse_any_tails, fuse_elementwise});
}

}  // namespace het::gpu
