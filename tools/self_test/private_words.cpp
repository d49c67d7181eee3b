#include "tools/self_test/private_words.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace het::self_test {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

constexpr std::array<std::string_view, 13> kSystemFolders = {
    "/usr/", "/etc/", "/lib/",  "/lib64/", "/bin/", "/sbin/", "/opt/",
    "/dev/", "/run/", "/proc/", "/sys/",   "/var/", "/snap/"};

bool ends_path(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("'\"(),;:<>|").find(c) != std::string_view::npos;
}

}  // namespace

std::vector<PrivateWord> private_words() {
  std::vector<PrivateWord> words;
  const auto add = [&](const char* word, const char* instead) {
    // "/" and "root" say nothing of anybody.
    if (word == nullptr || std::string(word) == "root" || std::string(word) == "localhost") return;
    words.push_back({word, instead});
  };
  std::array<char, 4096> folder{};
  const char* const home = std::getenv("HOME");
  add(home, "~");
  if (::getcwd(folder.data(), folder.size()) != nullptr) add(folder.data(), ".");
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) add(host.data(), "(host)");
  if (const passwd* const user = ::getpwuid(::getuid()); user != nullptr) {
    add(user->pw_dir, "~");
    add(user->pw_name, "(user)");
  }
  add(std::getenv("USER"), "(user)");
  // The longest first: a folder has the user's name in it.
  std::ranges::sort(words, std::ranges::greater(),
                    [](const PrivateWord& word) { return word.word.size(); });
  return words;
}

std::string without_words(std::string text, const std::vector<PrivateWord>& words) {
  for (const PrivateWord& word : words) {
    if (word.word.size() < 3) continue;
    size_t at = 0;
    while ((at = text.find(word.word, at)) != std::string::npos) {
      const size_t end = at + word.word.size();
      const bool begins = at == 0 || !is_word_character(text[at - 1]);
      if (begins && (end == text.size() || !is_word_character(text[end]))) {
        text.replace(at, word.word.size(), word.instead);
        at += word.instead.size();
      } else {
        at = end;
      }
    }
  }
  return text;
}

std::string without_folders(const std::string& text) {
  std::string result;
  size_t at = 0;
  while (at < text.size()) {
    const bool begins =
        text[at] == '/' && (at == 0 || ends_path(text[at - 1]) || text[at - 1] == '=');
    if (!begins) {
      result += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && !ends_path(text[end])) ++end;
    const std::string path = text.substr(at, end - at);
    const size_t slash = path.rfind('/');
    const bool system = std::ranges::any_of(
        kSystemFolders, [&](std::string_view folder) { return path.starts_with(folder); });
    result += system || slash == 0 ? path : "(folder)" + path.substr(slash);
    at = end;
  }
  return result;
}

void take_words_out(nlohmann::json& json, const std::vector<PrivateWord>& words) {
  if (json.is_string()) {
    json = without_words(without_folders(json.get<std::string>()), words);
  } else if (json.is_structured()) {
    for (nlohmann::json& part : json) take_words_out(part, words);
  }
}

}  // namespace het::self_test
