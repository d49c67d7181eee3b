#pragma once

#include <string>

#include "inference/base/visibility.h"
#include "inference/decoders/model_proc.h"

namespace het {

/// A model-proc file that says what `model_proc` says, with the keys that differ from their
/// defaults: parse_model_proc() gives the same again.
HET_API std::string to_text(const ModelProc& model_proc);

/// The same of one entry of input_preproc, on one line.
HET_API std::string to_text(const InputPreproc& input);

}  // namespace het
