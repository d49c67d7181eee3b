#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace het::gpu {

/// A program as CACHE_DIR keeps it.
struct StoredProgram {
  std::set<std::string, std::less<>> kernels;  ///< that ran before it was saved
  std::string binary;
};

/// The file of a program in a folder; its name has a checksum of the key.
std::string program_file_path(const std::string& folder, std::string_view key);

/// Nothing for a file that is missing, of another key or version, or damaged, which is a warning.
std::optional<StoredProgram> read_program_file(const std::string& path, std::string_view key);

/// Replaces the file as a whole, so that other processes never see half of it. False when the
/// folder does not take it.
bool write_program_file(const std::string& path, std::string_view key,
                        const StoredProgram& program);

/// Removes the oldest files of programs above this number.
void limit_program_files(const std::string& folder, size_t most);

}  // namespace het::gpu
