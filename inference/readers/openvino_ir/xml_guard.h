#pragma once

#include <string_view>

#include "inference/base/status.h"

namespace het::ir {

/// Looks over the bytes of an XML file before a parser sees them: one pass, no memory. Refuses
/// document types and entity declarations (ParseError), text that no XML file has (zero bytes,
/// UTF-16, elements that do not close) and what exceeds limits.h (OutOfMemory).
Status check_xml(std::string_view text);

}  // namespace het::ir
