#pragma once

#include <string_view>

namespace het::archive {

/// The text of parquet_writer.py, for python3 -c.
std::string_view parquet_program();

}  // namespace het::archive
