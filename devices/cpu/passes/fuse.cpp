#include "devices/cpu/passes/fuse.h"

#include <initializer_list>

#include "devices/cpu/passes/int8_passes.h"
#include "devices/cpu/passes/passes.h"

namespace het::cpu {

namespace {

using Pass = Status (*)(Model& model);

Status run(Model& model, std::initializer_list<Pass> passes) {
  for (const Pass pass : passes) {
    HET_TRY(pass(model));
    model.remove_unused();
    HET_TRY(model.sort());
  }
  return {};
}

}  // namespace

Status fuse(Model& model, bool int8) {
  HET_TRY(compute_in_float32(model));
  HET_TRY(run(model, {lower_qlinear}));
  if (int8) {
    HET_TRY(run(model, {split_fake_quantize, move_quantisation, quantise_products, fold_int8_affine,
                        fuse_gated_activations, fuse_int8_activations, fuse_int8_sums,
                        fuse_requantisation, quantise_operators}));
  }
  return run(model,
             {fuse_fake_quantisation, fold_dequantized_constants, fold_padding, fold_space_to_depth,
              lower_attention, fuse_attention, fold_channel_affine, lower_batch_norm,
              lower_fake_quantize, fuse_normalisations, fuse_gated_activations,
              fuse_channel_shuffles, fuse_channel_slices, fuse_tails, fuse_elementwise});
}

}  // namespace het::cpu
