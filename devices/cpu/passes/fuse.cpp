#include "devices/cpu/passes/fuse.h"

#include "devices/cpu/passes/passes.h"

namespace het::cpu {

Status fuse(Model& model) {
  HET_TRY(compute_in_float32(model));
  for (const auto pass :
       {lower_qlinear, fuse_fake_quantisation, fold_dequantized_constants, fold_padding,
        fold_channel_affine, lower_batch_norm, lower_fake_quantize, fuse_gated_activations,
        fuse_channel_shuffles, fuse_tails, fuse_elementwise}) {
    HET_TRY(pass(model));
    model.remove_unused();
    HET_TRY(model.sort());
  }
  return {};
}

}  // namespace het::cpu
