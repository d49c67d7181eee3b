#include "devices/gpu/programs/program_merging.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace het::gpu {
namespace {

bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}

bool continues_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Walks over a text once; see declared_names().
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  DeclaredNames run() {
    while (at_ < text_.size()) step();
    for (const std::string& macro : found_.macros) found_.names.erase(macro);
    return std::move(found_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\n') {
      line_begins_ = true;
      ++at_;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_, 2) == "/*") {
      const size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else if (c == '#' && line_begins_) {
      directive();
    } else {
      line_begins_ = false;
      if (c == '"' || c == '\'') {
        literal(c);
      } else if (begins_name(c)) {
        if (outside() && !begin_) begin_ = at_;
        name(read_name());
        if (outside() && last_ == "__kernel") kernel_begin_ = begin_;
      } else {
        sign(c);
        ++at_;
      }
    }
  }

  std::string read_name() {
    const size_t begin = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  void literal(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  void directive() {
    const auto skip_blanks = [&] {
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    };
    ++at_;
    skip_blanks();
    if (read_name() == "define") {
      skip_blanks();
      found_.macros.insert(read_name());
    }
    while (at_ < text_.size() && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
  }

  bool outside() const { return braces_ == 0 && others_ == 0; }

  void name(std::string word) {
    if (!outside()) return;
    called_.clear();
    if (word == "typedef") is_typedef_ = true;
    last_ = std::move(word);
  }

  void sign(char c) {
    switch (c) {
      case '(':
        if (outside() && !is_typedef_ && last_ != "__attribute__") called_ = last_;
        ++others_;
        break;
      case '[':
        // An array of constants.
        if (outside() && !is_typedef_) found_.names.insert(last_);
        ++others_;
        break;
      case ')':
      case ']':
        --others_;
        break;
      case '=':
        if (outside()) found_.names.insert(last_);
        break;
      case '{':
        if (outside() && !called_.empty()) found_.names.insert(called_);
        ++braces_;
        break;
      case '}':
        --braces_;
        if (outside() && kernel_begin_) end_kernel();
        if (outside() && !is_typedef_) end_declaration();
        break;
      case ';':
        if (!outside()) break;
        if (is_typedef_) found_.names.insert(last_);
        if (!called_.empty()) found_.names.insert(called_);
        end_declaration();
        break;
      default:
        break;
    }
  }

  void end_kernel() {
    found_.kernels.push_back({called_, *kernel_begin_, at_ + 1});
    kernel_begin_.reset();
  }

  void end_declaration() {
    is_typedef_ = false;
    begin_.reset();
    last_.clear();
    called_.clear();
  }

  std::string_view text_;
  size_t at_ = 0;
  bool line_begins_ = true;
  int braces_ = 0;
  int others_ = 0;  ///< parentheses and brackets
  bool is_typedef_ = false;
  std::string last_;                    ///< name before this place, in this declaration
  std::optional<size_t> begin_;         ///< of this declaration
  std::optional<size_t> kernel_begin_;  ///< of the kernel that is being declared
  std::string called_;  ///< name before the last parentheses, with nothing behind them yet
  DeclaredNames found_;
};

/// "-DNAME" or "-DNAME=VALUE" is one of the options.
bool is_option(std::string_view macro, std::string_view options) {
  const std::string wanted = "-D" + std::string(macro);
  size_t at = 0;
  while ((at = options.find(wanted, at)) != std::string_view::npos) {
    at += wanted.size();
    if (at == options.size() || options[at] == ' ' || options[at] == '=') return true;
  }
  return false;
}

}  // namespace

DeclaredNames declared_names(std::string_view text) {
  return Scanner(text).run();
}

std::string with_one_kernel(std::string_view text, std::string_view kernel) {
  const DeclaredNames declared = declared_names(text);
  const auto is_wanted = [&](const DeclaredNames::Kernel& found) { return found.name == kernel; };
  if (std::ranges::none_of(declared.kernels, is_wanted)) return std::string(text);
  std::string kept;
  size_t from = 0;
  for (const DeclaredNames::Kernel& found : declared.kernels) {
    if (is_wanted(found)) continue;
    kept += text.substr(from, found.begin - from);
    from = found.end;
  }
  kept += text.substr(from);
  return kept;
}

std::string merged_text(std::span<const MergedPiece> pieces, std::string_view options) {
  std::string merged;
  for (const MergedPiece& piece : pieces) {
    DeclaredNames declared = declared_names(piece.text);
    declared.names.erase("");
    for (const std::string& name : declared.names) {
      merged += "#define " + name + " " + name + piece.suffix + "\n";
    }
    merged += piece.text;
    merged += "\n";
    for (const std::string& name : declared.names) merged += "#undef " + name + "\n";
    for (const std::string& macro : declared.macros) {
      if (!is_option(macro, options)) merged += "#undef " + macro + "\n";
    }
  }
  return merged;
}

}  // namespace het::gpu
