#pragma once

#include <string>
#include <string_view>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/preprocess/preprocess.h"

namespace het {

/// A PreprocessDesc as one line of JSON, for files that carry it; every field, exactly.
HET_API std::string to_text(const PreprocessDesc& desc);

/// The reverse. Fails with ParseError on anything else than to_text() writes: unknown names, wrong
/// types, non-finite numbers.
HET_API Result<PreprocessDesc> parse_preprocess(std::string_view text);

}  // namespace het
