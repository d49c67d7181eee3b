#include "inference/readers/onnx/metadata_keys.h"

namespace het::onnx {

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += '\n';
    for (const char c : name) {
      if (c == '\\') text += "\\\\";
      if (c == '\n') text += "\\n";
      if (c != '\\' && c != '\n') text += c;
    }
  }
  return text;
}

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      names.emplace_back();
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      names.back() += text[++i] == 'n' ? '\n' : text[i];
    } else {
      names.back() += text[i];
    }
  }
  return names;
}

}  // namespace het::onnx
