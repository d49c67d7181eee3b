#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "serving/archive/records/archive_plan.h"

namespace het::archive {

/// An archive whose files the test writes by hand, in a folder that goes with it.
class WrittenArchive {
 public:
  WrittenArchive();
  ~WrittenArchive();
  WrittenArchive(const WrittenArchive&) = delete;
  WrittenArchive& operator=(const WrittenArchive&) = delete;

  /// A video of frames at 0, 10, 20 ... ns whose ranges begin at these times and play `overlap_ns`
  /// before. Returns the index of its first shard.
  size_t add_video(const std::string& name, uint64_t frames, const std::vector<uint64_t>& starts,
                   uint64_t overlap_ns = 0);
  /// Output and note of a shard, with all frames of its range at its sink.
  void finish(size_t shard, const std::vector<std::string>& lines,
              const std::vector<std::string>& overlap = {});
  void write_plan();

  std::filesystem::path path(const std::string& name) const { return folder.path() / name; }
  static std::string read(const std::filesystem::path& path);
  static void write(const std::filesystem::path& path, const std::string& text);

  ArchiveFolder folder;
  ArchivePlan plan;
};

/// A line as heterometaconvert writes it: objects are ids and their left sides.
std::string frame_line(uint64_t time, const std::vector<std::pair<int, int>>& objects = {});

}  // namespace het::archive
