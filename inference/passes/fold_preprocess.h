#pragma once

#include <cstddef>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// Makes a model normalise its input itself: (x - mean[c]) / scale[c] per channel c, in the order
/// of the channels that the model was trained with, as nodes behind the input (behind the
/// Cast of an integer input). One value stands for
/// all channels; an empty list changes nothing. Fails with NotSupported when the input is no float
/// picture, with InvalidArgument when the number of values is not that of the channels.
HET_API Status add_normalisation(Model& model, size_t input_index, const std::vector<float>& mean,
                                 const std::vector<float>& scale);

/// Moves the normalisation of a PreprocessDesc into the model where the input is UInt8 and a Cast
/// to a float type follows: rounded bytes cannot hold it. Returns whether anything was moved.
HET_API Result<bool> move_normalisation(Model& model, size_t input_index);

/// Makes a model take its channels in the other order (BGR for RGB): a Gather behind the input.
HET_API Status reverse_channels(Model& model, size_t input_index);

/// Folds what happens to a picture in front of the first convolution into its weights: the range,
/// mean and std of the input's PreprocessDesc, per-channel Add, Sub, Mul and Div with constants,
/// and a Gather that reorders channels; a Cast and Transposes in between stay. The results are the
/// same up to rounding.
///
/// With v[c] = a[c] * u[s(c)] + b[c] in front of y = W * v + bias:
///   W'[o, s(c)] = W[o, c] * a[c], always;  bias'[o] = bias[o] + sum over c, k of W[o, c, k] *
///   b[c],
/// only without padding: a padded convolution reads zeros, which stand for v = 0, not for u = 0.
/// With padding and b != 0 a mean stays in front, u - mean with mean[s(c)] = -b[c] / a[c], whose
/// zeros are those of v: in the PreprocessDesc, or as a Sub for a UInt8 input and without one.
///
/// Returns how many inputs were changed: those that lead to one convolution of the default domain
/// with constant weights of type Float32 or Float64.
HET_API size_t fold_preprocess(Model& model);

}  // namespace het
