#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "inference/base/visibility.h"
#include "inference/devices/properties.h"

namespace het {

/// The folder that CACHE_DIR names: the property, else the environment variable
/// GST_HETERO_CACHE_DIR, else gst-hetero below $XDG_CACHE_HOME or ~/.cache. Empty: keep nothing.
HET_API std::string cache_dir(const Properties& properties);

/// Makes the folder, for its owner alone, where it is missing; a failure shows when a file is
/// written.
HET_API void make_cache_folder(const std::string& folder);

/// What files of ours in CACHE_DIR may take together. For this process and the folder that the
/// properties name: CACHE_MAX_MIB where they have it, else the environment variable
/// GST_HETERO_CACHE_MAX_MIB, else 8 GiB, but no more than half of what the file system has free or
/// those files take. Thread-safe.
HET_API void note_cache_bound(const Properties& properties);
HET_API uint64_t cache_bound_bytes(const std::string& folder);

/// True for names that the stores of this library give to their files, also while they are written.
/// The folder may be anybody's: other files are never touched.
HET_API bool is_cache_file(std::string_view name);

/// Notes that a file was used now. File systems are mounted so that reading does not.
HET_API void note_use(const std::string& path);

/// Removes files of ours until they keep the bound, the one that was used longest ago first, and
/// what processes that died have left half written for an hour. Whoever has a removed file open or
/// mapped keeps it. To be called after a file was written. Thread-safe, also between processes.
HET_API void trim_cache(const std::string& folder);

/// The turn of one process, or thread, to do something in CACHE_DIR. It ends with the object, and
/// with the process. Turns at different things do not wait for each other.
class HET_API CacheTurn {
 public:
  /// Waits for others at most this long, then goes on without the turn; so it does in a folder that
  /// cannot be written.
  CacheTurn(const std::string& folder, std::string_view what, std::chrono::milliseconds longest);
  ~CacheTurn();
  CacheTurn(const CacheTurn&) = delete;
  CacheTurn& operator=(const CacheTurn&) = delete;

  bool is_taken() const { return taken_; }
  /// True when others had it first, who may have done what this turn is for.
  bool has_waited() const { return waited_; }

 private:
  int fd_ = -1;
  bool taken_ = false;
  bool waited_ = false;
};

}  // namespace het
