#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het::archive {

/// The folder that all machines see: where each of its files is (docs/decisions/0016-archives.md).
/// Immutable.
class ArchiveFolder {
 public:
  explicit ArchiveFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path plan() const { return path_ / "plan.json"; }
  std::filesystem::path outputs() const { return path_ / "outputs"; }
  std::filesystem::path logs() const { return path_ / "logs"; }
  std::filesystem::path output(std::string_view key) const;
  std::filesystem::path overlap_output(std::string_view key) const;
  std::filesystem::path note(std::string_view key) const;
  std::filesystem::path failures(std::string_view key) const;
  /// What is known of the video that was found there.
  std::filesystem::path scan(std::string_view uri) const;
  /// Where `final_name`, a file of outputs/, is written before it is complete: in the same folder,
  /// with host and process in its name.
  std::filesystem::path part(const std::filesystem::path& final_name) const;

  /// Makes the folder and those in it. Fails with NotFound.
  Status create() const;
  /// Fails with NotFound where a plan cannot be there.
  Status check_exists() const;

 private:
  std::filesystem::path path_;
};

/// This machine's name, as notes and parts have it.
std::string host_name();

/// Gives a complete part its name: synced, renamed, and its folder synced. Fails with Internal.
Status keep_part(const std::filesystem::path& part, const std::filesystem::path& final_name);

/// Removes parts that nobody writes any more: of processes of this machine that have ended, and
/// those of a day ago.
void remove_stale_parts(const ArchiveFolder& folder);

}  // namespace het::archive
