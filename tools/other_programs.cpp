#include "tools/other_programs.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <vector>

namespace het {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "hetero-";

fs::path own_folder() {
  std::error_code failed;
  return fs::read_symlink("/proc/self/exe", failed).parent_path();
}

bool is_word(std::string_view name) {
  return !name.empty() && name.front() != '-' && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-';
  });
}

}  // namespace

void become_other_program(char** argv) {
  if (argv[0] == nullptr || argv[1] == nullptr || !is_word(argv[1])) return;
  std::string name = std::string(kBegin) + argv[1];
  const std::string beside = (own_folder() / name).string();
  char* const word = argv[1];
  argv[1] = name.data();  // so that lists of processes have its name
  ::execv(beside.c_str(), argv + 1);
  ::execvp(name.c_str(), argv + 1);
  argv[1] = word;
}

std::string other_programs() {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(own_folder(), failed)) {
    const std::string name = entry.path().filename().string();
    const bool is_program =
        name.starts_with(kBegin) && is_word(name) && ::access(entry.path().c_str(), X_OK) == 0;
    if (is_program && entry.is_regular_file(failed)) names.push_back(name.substr(kBegin.size()));
  }
  std::ranges::sort(names);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace het
