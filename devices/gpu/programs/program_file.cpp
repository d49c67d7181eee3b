#include "devices/gpu/programs/program_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "inference/base/checksum.h"
#include "inference/base/log.h"
#include "inference/base/new_file.h"
#include "inference/devices/cache_folder.h"

namespace het::gpu {
namespace {

constexpr std::string_view kSuffix = ".clbin";
constexpr uint64_t kMostContentBytes = uint64_t{256} << 20;
constexpr uint64_t kMostKernelBytes = uint64_t{1} << 20;

/// First bytes of a file; the names of kernels, a line each, and the binary follow.
struct FileHeader {
  char magic[8] = {'h', 'e', 't', 'c', 'l', 'b', '0', '2'};
  uint64_t key = 0;      ///< checksum of the key, the other way round than in the name
  uint64_t content = 0;  ///< checksum of what follows
  uint64_t kernel_bytes = 0;
  uint64_t binary_bytes = 0;
};

/// The name has one checksum of the key, the header another: both would have to collide.
uint64_t second_checksum(std::string_view key) {
  return checksum(std::string(key.rbegin(), key.rend()));
}

}  // namespace

std::string program_file_path(const std::string& folder, std::string_view key) {
  return fmt::format("{}/gpu-{:016x}{}", folder, checksum(key), kSuffix);
}

std::optional<StoredProgram> read_program_file(const std::string& path, std::string_view key) {
  std::error_code unknown;
  // Whatever else has that name, such as a FIFO, would block.
  if (!std::filesystem::is_regular_file(path, unknown)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  FileHeader header;
  const FileHeader expected;
  const auto damaged = [&] {
    log(LogLevel::Warning, "'{}' is damaged; its kernels are built again", path);
    return std::nullopt;
  };
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return damaged();
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0) return damaged();
  if (header.key != second_checksum(key)) return std::nullopt;
  if (header.kernel_bytes > kMostKernelBytes || header.binary_bytes > kMostContentBytes) {
    return damaged();
  }
  std::error_code failed;
  const uint64_t bytes = header.kernel_bytes + header.binary_bytes;
  if (std::filesystem::file_size(path, failed) != sizeof header + bytes || failed) return damaged();
  std::string content(bytes, '\0');
  if (!file.read(content.data(), static_cast<std::streamsize>(bytes)) ||
      checksum(content) != header.content) {
    return damaged();
  }
  StoredProgram program;
  size_t begin = 0;
  while (begin < header.kernel_bytes) {
    const size_t end = std::min<size_t>(content.find('\n', begin), header.kernel_bytes);
    program.kernels.insert(content.substr(begin, end - begin));
    begin = end + 1;
  }
  note_use(path);
  program.binary = content.substr(header.kernel_bytes);
  return program;
}

bool write_program_file(const std::string& path, std::string_view key,
                        const StoredProgram& program) {
  std::string content;
  for (const std::string& kernel : program.kernels) content += kernel + "\n";
  FileHeader header;
  header.key = second_checksum(key);
  header.kernel_bytes = content.size();
  header.binary_bytes = program.binary.size();
  if (header.kernel_bytes > kMostKernelBytes || header.binary_bytes > kMostContentBytes) {
    return false;
  }
  content += program.binary;
  header.content = checksum(content);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  make_cache_folder(folder);
  std::error_code unknown;
  const bool is_file = std::filesystem::is_regular_file(path, unknown);
  if (!is_file && std::filesystem::exists(path, unknown)) return false;
  if (sizeof header + content.size() > cache_bound_bytes(folder)) return false;
  const std::string_view start(reinterpret_cast<const char*>(&header), sizeof header);
  return write_new_file(path, std::string(start) + content).ok();
}

void limit_program_files(const std::string& folder, size_t most) {
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() == kSuffix) {
      files.emplace_back(entry.last_write_time(failed), entry.path());
    }
  }
  if (files.size() <= most) return;
  std::sort(files.begin(), files.end());
  for (size_t i = 0; i + most < files.size(); ++i) std::filesystem::remove(files[i].second, failed);
}

}  // namespace het::gpu
