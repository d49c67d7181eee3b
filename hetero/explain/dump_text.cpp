#include "hetero/explain/dump_text.h"

#include <algorithm>
#include <vector>

#include "inference/decoders/labels.h"

namespace het::hetero {
namespace {

constexpr size_t kMaxFileNameBytes = 100;
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

/// Bytes of the UTF-8 character that begins here, by its first byte.
size_t char_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(bytes, text.size());
}

bool is_shown(std::string_view character) {
  if (character.size() == 1) return character[0] >= ' ' && character[0] != '\x7F';
  if (!is_utf8(character)) return false;
  // Control characters of Latin-1, and the two code points that XML does not allow.
  const bool is_control = character[0] == '\xC2' && static_cast<unsigned char>(character[1]) < 0xA0;
  return !is_control && character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF";
}

}  // namespace

std::string printable(std::string_view text, size_t max_chars) {
  std::vector<std::string_view> characters;
  while (!text.empty()) {
    std::string_view character = text.substr(0, char_bytes(text));
    const bool is_good = is_shown(character);
    if (!is_good) character = character.substr(0, 1);
    text.remove_prefix(character.size());
    characters.push_back(is_good ? character : "?");
  }
  std::string result;
  if (characters.size() <= max_chars) {
    for (const std::string_view character : characters) result += character;
    return result;
  }
  const size_t kept = max_chars - std::min<size_t>(max_chars, 1);
  const size_t tail = kept / 2;
  for (size_t i = 0; i < kept - tail; ++i) result += characters[i];
  result += kEllipsis;
  for (size_t i = characters.size() - tail; i < characters.size(); ++i) result += characters[i];
  return result;
}

std::string dot_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string xml_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&apos;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string file_name_part(std::string_view text) {
  std::string result(text.substr(0, kMaxFileNameBytes));
  for (char& c : result) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_letter && !is_digit && c != '-' && c != '.') c = '_';
  }
  if (!result.empty() && result[0] == '.') result[0] = '_';
  return result.empty() ? "model" : result;
}

}  // namespace het::hetero
