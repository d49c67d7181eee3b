#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "devices/gpu/opencl/hardware.h"
#include "devices/gpu/opencl/opencl.h"
#include "inference/base/status.h"

namespace het::gpu {

/// What a program is built from: the common text (kernels/values/storage.cl), text that was
/// generated for this use, and a file.
struct ProgramText {
  std::string file;       ///< stem of a file in kernels/; empty when `generated` is all
  std::string options;    ///< "-DROWS=4 -DSTORAGE_HALF"
  std::string generated;  ///< OpenCL C that stands before the file
  std::string kernel;     ///< the only one of the file that is needed; empty: all
  /// What the generated text calls number0, number1 ...: the last arguments of its kernel.
  std::vector<float> numbers;
  /// The text is a user's: it stands alone, without the common text and other texts beside it.
  bool is_foreign = false;
};

/// A program that was built for one device.
struct Program {
  std::string name;  ///< for messages: the file and its options
  std::string key;   ///< all that decides what the binary is
  ProgramHandle handle;
};
using ProgramPtr = std::shared_ptr<const Program>;

/// Where the kernels of a text are.
struct BuiltText {
  ProgramPtr program;
  std::string suffix;  ///< behind the names of the text's kernels
};

/// A kernel of a program with the size of its work-groups.
struct KernelUse {
  ProgramPtr program;
  std::string kernel;  ///< "NAME 16x1x1"
};

/// Builds every text once per context and keeps binaries in CACHE_DIR. Texts that differ in what
/// was generated only become one program. The folder has a file a program, named by the checksum of
/// everything that makes binaries differ (platform, driver, device, text, options); a file that is
/// damaged or that the driver refuses counts as missing and is replaced. Thread-safe.
class ProgramCache {
 public:
  static constexpr int kVersion = 2;
  static constexpr size_t kMostFiles = 1024;  ///< of a folder; the oldest leave first
  static constexpr size_t kMostMerged =
      8;  ///< texts of a program: PoCL generates a kernel from all of it
  static constexpr size_t kMostIdle = 256;   ///< programs that no plan uses
  static constexpr size_t kMostThreads = 4;  ///< that build at a time

  ProgramCache(cl_context context, const Hardware& hardware)
      : context_(context), hardware_(hardware) {}
  ProgramCache(const ProgramCache&) = delete;
  ProgramCache& operator=(const ProgramCache&) = delete;

  /// All texts of a model, in their order. `folder` is where binaries are kept; empty for nowhere.
  /// A program that does not build fails with Internal and the driver's build log.
  Result<std::vector<BuiltText>> get_all(const std::vector<ProgramText>& texts,
                                         const std::string& folder);
  /// One text as a program of its own, which keeps its kernels' names.
  Result<ProgramPtr> get(const ProgramText& text, const std::string& folder);

  /// Those of `uses` that ran neither here nor before their program was saved: some drivers
  /// generate code at the first launch.
  std::vector<KernelUse> not_run(const std::vector<KernelUse>& uses) const;
  /// Notes that they ran, and writes the programs of `uses` that the folder lacks or has with fewer
  /// kernels. What goes wrong is a warning.
  void save(const std::vector<KernelUse>& uses, const std::string& folder);

  /// How many programs were built from source and how many came from files.
  struct Counts {
    size_t built = 0;
    size_t loaded = 0;
  };
  Counts counts() const;

 private:
  /// A program as text.
  struct Source {
    std::string name;
    std::string options;
    std::string text;
    std::string key;
  };
  struct Entry {
    ProgramPtr program;
    std::set<std::string, std::less<>> kernels;  ///< that ran: KernelUse::kernel
    std::set<std::string> folders;               ///< that have all of it
  };
  /// Where a text is, as long as a program has it.
  struct Piece {
    std::weak_ptr<const Program> program;
    std::string suffix;
  };
  struct Group;

  Source source_of(const Group& group, const std::vector<size_t>& members) const;
  Status get_group(Group& group, const std::string& folder);
  bool take_pieces(Group& group, std::vector<size_t>& missing);
  void place(Group& group, const std::vector<size_t>& members, const ProgramPtr& program);
  ProgramPtr find_or_load(const Source& source, const std::string& folder);
  Result<ProgramPtr> get_program(const Source& source, const std::string& folder);
  ProgramPtr add(const Source& source, ProgramHandle handle, Entry entry);
  void forget_idle();
  Result<ProgramHandle> build(const Source& source) const;
  ProgramHandle from_binary(const std::string& path, const std::string& binary) const;

  cl_context context_;
  const Hardware& hardware_;
  std::mutex build_mutex_;    ///< one caller builds at a time; taken before mutex_
  mutable std::mutex mutex_;  ///< protects the rest; never held while something is built
  std::unordered_map<std::string, Entry> programs_;  ///< by key
  std::unordered_map<std::string, Piece> pieces_;    ///< by options and text
  Counts counts_;
};

}  // namespace het::gpu
