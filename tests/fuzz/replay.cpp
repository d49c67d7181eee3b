#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// Runs a target on every file of the folders given, where there is no libFuzzer: in the ordinary
/// tests. Fails when a file takes a minute of processor time, or all together more memory than
/// the fuzzer allows.
int main(int argc, char** argv) {
  // Six times the fuzzer's limit: tests run on machines that are busy with other things, too.
  constexpr double kMaxSeconds = 60;
  constexpr long kMaxKib = 2l << 20;
  std::set<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      files.insert(entry.path());
    }
  }
  double slowest = 0;
  for (const std::filesystem::path& path : files) {
    std::ifstream stream(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    const std::clock_t start = std::clock();
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (seconds > kMaxSeconds) {
      std::printf("%s took %.1f s, %.0f s are allowed\n", path.c_str(), seconds, kMaxSeconds);
      return 1;
    }
    slowest = std::max(slowest, seconds);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%zu files, slowest %.2f s, %ld MiB at most\n", files.size(), slowest,
              usage.ru_maxrss >> 10);
  if (files.empty() || usage.ru_maxrss > kMaxKib) {
    std::printf("no files, or more than %ld MiB\n", kMaxKib >> 10);
    return 1;
  }
  return 0;
}
