/// fill_weights SOURCE TARGET: models of the folder SOURCE as whole files in TARGET.
///
/// Files of tests/exports have no large weights: each says how they are drawn, "drawn MEAN
/// DEVIATION NUMBER", in an ONNX tensor's doc_string or in the attribute `drawn` of a layer's
/// <data>. Element i of them is MEAN + DEVIATION * sqrt(3) * (noise / 127.5 - 1), where noise is
/// the highest byte of the 32-bit number (i + 7919 * NUMBER) * 2654435761;
/// scripts/exporters/strip.py draws the same.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <pugixml.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "inference/readers/onnx/proto.h"
#include "inference/tensors/element_type.h"

namespace {

namespace fs = std::filesystem;

constexpr uint32_t kTensorDocString = 12;  // no reader of ours looks at it
constexpr int64_t kFloat = 1;
constexpr int64_t kFloat16 = 10;
constexpr std::string_view kDrawn = "drawn ";

struct Drawn {
  float mean = 0;
  float deviation = 0;
  uint32_t number = 0;

  explicit Drawn(const std::string& text) {
    std::istringstream words(text.substr(kDrawn.size()));
    if (!(words >> mean >> deviation >> number)) throw std::runtime_error("bad '" + text + "'");
  }
  float at(uint64_t i) const {
    const auto noise = static_cast<uint32_t>((i + 7919ULL * number) * 2654435761ULL) >> 24;
    return mean + deviation * std::sqrt(3.0f) * (static_cast<float>(noise) / 127.5f - 1.0f);
  }
  std::string bytes(uint64_t count, bool is_half) const {
    std::string content;
    for (uint64_t i = 0; i < count; ++i) {
      const float value = at(i);
      if (is_half) {
        const het::Float16 half(value);
        content.append(reinterpret_cast<const char*>(&half), sizeof(half));
      } else {
        content.append(reinterpret_cast<const char*>(&value), sizeof(value));
      }
    }
    return content;
  }
};

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path& path, const std::string& content) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!stream.flush()) throw std::runtime_error("cannot write " + path.string());
}

/// A message with the messages of one field changed.
template <class Change>
std::string with_changed(std::string_view message, uint32_t field, const Change& change) {
  std::string changed;
  protozero::pbf_writer writer(changed);
  protozero::pbf_reader reader(message.data(), message.size());
  const char* begin = message.data();
  while (reader.next()) {
    if (reader.tag() == field) {
      const auto view = reader.get_view();
      writer.add_message(field, change(std::string_view(view.data(), view.size())));
    } else {
      reader.skip();
      changed.append(begin, static_cast<size_t>(reader.data().data() - begin));
    }
    begin = reader.data().data();
  }
  return changed;
}

std::string filled_tensor(std::string_view tensor) {
  protozero::pbf_reader reader(tensor.data(), tensor.size());
  uint64_t count = 1;
  int64_t type = 0;
  std::string text;
  while (reader.next()) {
    if (reader.tag() == het::onnx::tensor_field::kDims &&
        reader.wire_type() == protozero::pbf_wire_type::varint) {
      count *= static_cast<uint64_t>(reader.get_int64());
    } else if (reader.tag() == het::onnx::tensor_field::kDims) {
      for (const int64_t dim : reader.get_packed_int64()) count *= static_cast<uint64_t>(dim);
    } else if (reader.tag() == het::onnx::tensor_field::kDataType) {
      type = reader.get_int64();
    } else if (reader.tag() == kTensorDocString) {
      text = reader.get_string();
    } else {
      reader.skip();
    }
  }
  std::string filled(tensor);
  if (!text.starts_with(kDrawn)) return filled;
  if (type != kFloat && type != kFloat16) throw std::runtime_error("weights of another type");
  protozero::pbf_writer(filled).add_bytes(het::onnx::tensor_field::kRawData,
                                          Drawn(text).bytes(count, type == kFloat16));
  return filled;
}

std::string filled_onnx(const std::string& model) {
  return with_changed(model, het::onnx::model_field::kGraph, [](std::string_view graph) {
    return with_changed(graph, het::onnx::graph_field::kInitializer, filled_tensor);
  });
}

/// The content of an IR's .bin: `small` holds what is not drawn, which comes first.
std::string filled_weights(const std::string& xml, std::string small) {
  pugi::xml_document document;
  if (!document.load_string(xml.c_str())) throw std::runtime_error("no XML");
  for (const pugi::xpath_node& found : document.select_nodes("//data[@drawn]")) {
    const pugi::xml_node data = found.node();
    const bool is_half = std::string_view(data.attribute("element_type").value()) == "f16";
    const uint64_t size = data.attribute("size").as_ullong();
    const uint64_t offset = data.attribute("offset").as_ullong();
    if (small.size() < offset + size) small.resize(offset + size);
    small.replace(offset, size,
                  Drawn(data.attribute("drawn").value()).bytes(size / (is_half ? 2 : 4), is_half));
  }
  return small;
}

void fill(const fs::path& source, const fs::path& target) {
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    const fs::path& path = entry.path();
    const fs::path to = target / fs::relative(path, source);
    const std::string extension = path.extension().string();
    if (entry.is_directory()) {
      fs::create_directories(to);
    } else if (extension == ".onnx") {
      write(to, filled_onnx(read(path)));
    } else if (extension == ".xml") {
      const std::string xml = read(path);
      const fs::path weights = fs::path(path).replace_extension(".bin");
      write(to, xml);
      write(fs::path(to).replace_extension(".bin"), filled_weights(xml, read(weights)));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: fill_weights SOURCE TARGET\n", stderr);
    return 2;
  }
  try {
    fill(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fill_weights: %s\n", error.what());
    return 1;
  }
  return 0;
}
