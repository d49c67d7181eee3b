#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inference/base/visibility.h"

namespace het {

/// What was measured to be the fastest, and the time of everything that was tried.
struct MeasuredChoice {
  std::string name;
  std::map<std::string, double> times_us;
  bool operator==(const MeasuredChoice&) const = default;
};

/// Choices that a device measured on one machine, by what they are about (operator, shapes, types,
/// threads), kept in a file of a folder. The file only saves time: choices are names, which whoever
/// asks compares with what it has, and a file that is missing, damaged, of another version or of
/// another machine counts as empty. Nothing here fails; what goes wrong is a warning. Several
/// processes may share a folder. Thread-safe.
///
/// The file holds a line per choice: the checksum of the rest, then JSON. Its first line has
/// format, version and machine. A new file replaces the old one as a whole.
class HET_API ChoiceStore {
 public:
  static constexpr int kVersion = 1;
  static constexpr size_t kMostChoices = 4096;  ///< the oldest leave first
  static constexpr size_t kMostLineBytes = 4096;
  static constexpr size_t kMostFileBytes = size_t{4} << 20;
  static constexpr size_t kMostFiles = 16;  ///< of one device in a folder

  /// `machine` has everything that makes times or candidates differ: processor, instruction sets,
  /// versions of libraries. Opens no file yet.
  ChoiceStore(std::string folder, std::string device, std::string machine);
  ChoiceStore(const ChoiceStore&) = delete;
  ChoiceStore& operator=(const ChoiceStore&) = delete;

  /// Where the choices are kept.
  const std::string& path() const { return path_; }

  /// Reads the file if it has changed since. What is known already stays as it is, so that two
  /// models compiled by one process agree.
  void refresh();
  std::optional<MeasuredChoice> find(std::string_view key) const;
  /// Keeps a choice in memory. A key that is known keeps its choice; one that would not fit into a
  /// line is not kept.
  void add(std::string_view key, MeasuredChoice choice);
  /// Writes what was added since, together with what other processes wrote meanwhile.
  void save();
  size_t size() const;

 private:
  struct Entry {
    std::string key;
    MeasuredChoice choice;
  };
  struct FileState {
    uint64_t inode = 0;
    int64_t size_bytes = -1;
    int64_t changed_ns = 0;
    bool operator==(const FileState&) const = default;
  };

  void read_file();
  void write_file();
  void parse(std::string_view content);
  bool insert(std::string key, MeasuredChoice choice);
  std::string file_content() const;
  void remove_old_files() const;
  void warn(std::string_view what, std::string_view reason);

  std::string folder_;
  std::string device_;
  std::string machine_;
  std::string path_;
  mutable std::mutex mutex_;                        ///< protects the rest; taken alone
  std::map<uint64_t, Entry> entries_;               ///< by age
  std::unordered_map<std::string, uint64_t> ages_;  ///< key of entries_
  uint64_t next_age_ = 0;
  FileState file_;
  bool changed_ = false;
  bool warned_ = false;
};

}  // namespace het
