#pragma once

#include "inference/base/status.h"
#include "serving/tune/tune_options.h"

namespace het::serving {

/// `hetero tune` from its options to the printed line. SIGINT and SIGTERM end it with the best so
/// far. Fails where the pipeline as given does not play.
Status tune(const TuneOptions& options);

}  // namespace het::serving
