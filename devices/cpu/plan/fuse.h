#pragma once

#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::cpu {

/// The rewrites of the CPU device, in order, on a prepared model: batch normalisation and scales
/// into weights, padding into convolutions, activations, sums and element-wise chains into fused
/// nodes of the domain het. Leaves every value's desc known that was known before.
/// With `int8`, products of quantised values run on int8 kernels; else all is computed in float,
/// rounded where the model says so. With `keep_non_finite` products take only those activations
/// that oneDNN computes for NaN and infinities too, and convolutions are not added to each other.
/// Nor are they in models that round to levels, whose results depend on the order of sums, and
/// transposed ones stay whole there.
Status fuse(Model& model, bool int8, bool keep_non_finite = false);

/// True for a model with FakeQuantize.
bool rounds_to_levels(const Model& model);

// Those passes of inference/passes/fusions that ask what a device can do, with this one's answers.
Status lower_qlinear(Model& model);
Status quantise_products(Model& model);
Status fold_int8_affine(Model& model);
Status fuse_int8_activations(Model& model);
Status fuse_int8_sums(Model& model);
Status fuse_requantisation(Model& model);
Status round_convolutions(Model& model);
Status quantise_operators(Model& model);
Status map_bytes(Model& model);
Status fuse_tails(Model& model);
Status fuse_non_finite_tails(Model& model);

}  // namespace het::cpu
