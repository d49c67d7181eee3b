#include "tools/inspect/modelinfo_file.h"

#include <fmt/format.h>

#include <filesystem>

namespace het {
namespace {

std::string dims_text(const Shape& shape) {
  std::string text;
  for (const int64_t dim : shape) text += fmt::format("{}{}", text.empty() ? "" : ",", dim);
  return text;
}

std::string section(const std::string& name, const std::string& id, const TensorDesc& desc,
                    std::string_view direction) {
  return fmt::format("\n[{}]\nid={}\ntype={}\ndims={}\ndir={}\n", name, id, to_string(desc.type),
                     dims_text(desc.shape), direction);
}

/// What 0 and 255 of each channel become.
std::string ranges_text(const PreprocessDesc& desc) {
  std::string text;
  for (size_t c = 0; c < 3; ++c) {
    text += fmt::format("{}{:.6g},{:.6g}", c == 0 ? "" : ";",
                        (desc.range_low - desc.mean[c]) / desc.std[c],
                        (desc.range_high - desc.mean[c]) / desc.std[c]);
  }
  return text;
}

}  // namespace

std::string modelinfo_text(const ModelReading& reading) {
  const std::string group = reading.model->name().empty() ? "model" : reading.model->name();
  std::string text = fmt::format("[modelinfo]\nversion=1.0\ngroup-id={}-out\n", group);
  for (size_t i = 0; i < reading.input_ports.size(); ++i) {
    const Port& port = reading.input_ports[i];
    text += section(port.name, fmt::format("{}-in-{}", group, i), port.desc, "input");
    if (i == reading.picture.index)
      text += fmt::format("ranges={}\n", ranges_text(reading.picture.preproc.preprocess));
  }
  for (size_t i = 0; i < reading.output_ports.size(); ++i) {
    const Port& port = reading.output_ports[i];
    const auto known = reading.model->metadata().find(port.name);
    const bool has_id = known != reading.model->metadata().end();
    text += section(port.name, has_id ? known->second : fmt::format("{}-out-{}", group, i),
                    port.desc, "output");
  }
  return text;
}

}  // namespace het
