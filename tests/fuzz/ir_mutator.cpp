#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

/// Changes IR files so that most stay XML in front of weights: values of attributes and whole tags
/// instead of single bytes. The form of the file is that of openvino_ir.cpp.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using Random = std::minstd_rand;

constexpr size_t kHead = 4;
constexpr size_t kByteBits = 8;
/// Bytes that one change may add to a piece.
constexpr size_t kRoom = 32;

struct Piece {
  size_t begin = 0;
  size_t size = 0;
};

size_t below(Random& random, size_t limit) {
  return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
}

/// What stands between `open` and `close`, without them.
std::vector<Piece> pieces(const std::string& xml, char open, char close) {
  std::vector<Piece> found;
  size_t at = 0;
  while ((at = xml.find(open, at)) != std::string::npos) {
    const size_t end = xml.find(close, at + 1);
    if (end == std::string::npos) break;
    found.push_back({at + 1, end - at - 1});
    at = end + (open == close ? 1 : 0);
  }
  return found;
}

std::string mutated(std::string text) {
  const size_t size = text.size();
  text.resize(size + kRoom);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(text.data()), size, text.size()));
  return text;
}

void change_value(std::string& xml, Random& random) {
  constexpr std::string_view kEdges[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "7",
                                         "",
                                         "-2147483648",
                                         "4294967296",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551615",
                                         "1e30",
                                         "nan",
                                         "true",
                                         "false",
                                         "1,1",
                                         "0,0,0,0",
                                         "f32",
                                         "i64",
                                         "boolean",
                                         "u1",
                                         "..."};
  const std::vector<Piece> values = pieces(xml, '"', '"');
  if (values.empty()) return;
  const Piece piece = values[below(random, values.size())];
  const Piece other = values[below(random, values.size())];
  std::string text;
  switch (below(random, 3)) {
    case 0:
      text = kEdges[below(random, std::size(kEdges))];
      break;
    case 1:
      text = xml.substr(other.begin, other.size);
      break;
    default:
      text = mutated(xml.substr(piece.begin, piece.size));
  }
  xml.replace(piece.begin, piece.size, text);
}

/// Removes, repeats or replaces a run of tags, or changes a number between two tags.
void change_tags(std::string& xml, Random& random) {
  constexpr size_t kMaxRun = 8;
  const std::vector<Piece> tags = pieces(xml, '<', '>');
  if (tags.empty()) return;
  const size_t first = below(random, tags.size());
  const size_t last = std::min(tags.size() - 1, first + below(random, kMaxRun));
  const size_t begin = tags[first].begin - 1;
  const size_t size = tags[last].begin + tags[last].size + 1 - begin;
  const std::string run = xml.substr(begin, size);
  const size_t target = tags[below(random, tags.size())].begin - 1;
  switch (below(random, 4)) {
    case 0:
      xml.erase(begin, size);
      return;
    case 1:
      xml.insert(target, run);
      return;
    case 2:
      xml.replace(begin, size, mutated(run));
      return;
    default: {
      const std::vector<Piece> texts = pieces(xml, '>', '<');
      if (texts.empty()) return;
      const Piece text = texts[below(random, texts.size())];
      xml.replace(text.begin, text.size, std::to_string(below(random, kRoom)));
    }
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  Random random(seed);
  constexpr size_t kPlainShare = 20;
  if (size <= kHead || below(random, kPlainShare) == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  size_t xml_size = 0;
  for (size_t i = 0; i < kHead; ++i) xml_size |= size_t{data[i]} << (kByteBits * i);
  const std::string_view content(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  std::string xml(content.substr(0, xml_size));
  std::string weights(content.substr(xml.size()));
  for (size_t changes = 1 + below(random, 3); changes > 0; --changes) {
    const size_t kind = below(random, 8);
    if (kind < 5) {
      change_value(xml, random);
    } else if (kind < 7) {
      change_tags(xml, random);
    } else {
      weights = mutated(std::move(weights));
    }
  }
  if (kHead + xml.size() + weights.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  for (size_t i = 0; i < kHead; ++i) {
    data[i] = static_cast<uint8_t>(xml.size() >> (kByteBits * i));
  }
  std::copy(xml.begin(), xml.end(), data + kHead);
  std::copy(weights.begin(), weights.end(), data + kHead + xml.size());
  return kHead + xml.size() + weights.size();
}
