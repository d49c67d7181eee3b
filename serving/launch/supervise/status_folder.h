#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/launch/supervise/child_process.h"
#include "serving/launch/supervise/launch_status.h"

namespace het::serving {

/// Where a `hetero launch` says how it is: $RUNTIME_DIRECTORY, as systemd gives it, else
/// hetero-launch in $XDG_RUNTIME_DIR, else /run/hetero-launch-root for root and
/// /tmp/hetero-launch-UID for others.
std::string status_folder();
/// Where those that run are looked for: the same, and the folder of the services.
std::vector<std::string> status_folders();

/// The file in which one `hetero launch` says how it is, under a name that no other one that runs
/// has. Goes with its owner; what a killed one left counts as nothing. Thread-compatible.
class StatusFile {
 public:
  /// Makes the folder where it is missing. Fails with InvalidArgument for a name that is none or is
  /// taken by a running one, with NotSupported when nothing can be written there.
  static Result<std::unique_ptr<StatusFile>> create(const std::string& folder,
                                                    const std::string& name);
  ~StatusFile();
  StatusFile(const StatusFile&) = delete;
  StatusFile& operator=(const StatusFile&) = delete;

  /// Readers see the old content or the new one.
  Status write(const LaunchStatus& status) const;

 private:
  StatusFile(std::string path, OwnedFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  OwnedFd lock_;
};

/// Those of the folders that run, or those of this name. Fails with NotFound when there is none of
/// the name, with ParseError for a file that is none.
Result<std::vector<LaunchStatus>> read_status(const std::vector<std::string>& folders,
                                              const std::string& name);

}  // namespace het::serving
