#include "devices/gpu/plan/custom_layers.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <pugixml.hpp>

#include "devices/gpu/plan/plan_builder.h"
#include "inference/readers/mapped_file.h"

namespace het::gpu {
namespace {

constexpr size_t kMostXmlBytes = size_t{1} << 20;
constexpr size_t kMostSourceBytes = size_t{4} << 20;
constexpr size_t kMostLayers = 256;
constexpr size_t kMostArguments = 64;
constexpr size_t kMostDefines = 256;

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// Reads the elements of one file; see read_custom_layers().
class LayerReader {
 public:
  LayerReader(std::string path) : path_(std::move(path)) {}

  Result<std::shared_ptr<const CustomLayers>> run() {
    HET_ASSIGN(const auto file, MappedFile::open(path_));
    if (file->bytes().size() > kMostXmlBytes) {
      return malformed(
          fmt::format("it has {} bytes, {} at most", file->bytes().size(), kMostXmlBytes));
    }
    pugi::xml_document document;
    const auto parsed = document.load_buffer(file->bytes().data(), file->bytes().size());
    if (!parsed) {
      return malformed(fmt::format("{} at byte {}", parsed.description(), parsed.offset));
    }
    auto layers = std::make_shared<CustomLayers>();
    HET_TRY(read_all(document, *layers));
    if (layers->empty()) HET_TRY(read_all(document.first_child(), *layers));
    if (layers->empty()) return malformed("it has no element CustomLayer");
    return std::shared_ptr<const CustomLayers>(std::move(layers));
  }

 private:
  Failure malformed(std::string_view what) const {
    const std::string layer = layer_.empty() ? "" : fmt::format(", CustomLayer '{}'", layer_);
    return error(StatusCode::ParseError, "'{}'{}: {}", path_, layer, what);
  }

  Status read_all(const pugi::xml_node& parent, CustomLayers& layers) {
    for (const pugi::xml_node& element : parent.children("CustomLayer")) {
      if (layers.size() >= kMostLayers) {
        return malformed(fmt::format("more than {} layers", kMostLayers));
      }
      HET_ASSIGN(CustomLayer layer, read_layer(element));
      const std::string name = layer.name;
      if (!layers.emplace(name, std::move(layer)).second) return malformed("it is there twice");
      layer_.clear();
    }
    return {};
  }

  Result<std::string> attribute(const pugi::xml_node& element, const char* name) const {
    const pugi::xml_attribute found = element.attribute(name);
    if (!found || *found.value() == '\0') {
      return malformed(fmt::format("the element {} needs an attribute '{}'", element.name(), name));
    }
    return std::string(found.value());
  }

  Result<size_t> index(const pugi::xml_node& element, const char* name) const {
    HET_ASSIGN(const std::string text, attribute(element, name));
    size_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || value >= kMostArguments) {
      return malformed(fmt::format("{}=\"{}\" of {} is no index below {}", name, text,
                                   element.name(), kMostArguments));
    }
    return value;
  }

  Result<CustomLayer> read_layer(const pugi::xml_node& element) {
    CustomLayer layer;
    HET_ASSIGN(layer.name, attribute(element, "name"));
    layer_ = layer.name;
    HET_ASSIGN(const std::string type, attribute(element, "type"));
    HET_ASSIGN(const std::string version, attribute(element, "version"));
    if (type != "SimpleGPU" || version != "1") {
      return malformed(
          fmt::format("type '{}', version '{}'; only SimpleGPU, 1 is known", type, version));
    }
    if (kernel_registry().find("", layer.name) != nullptr) {
      return error(
          StatusCode::NotSupported,
          "'{}': CustomLayer '{}': the operator has a kernel here, which may be fused with "
          "others; give operators of your own another name",
          path_, layer.name);
    }
    for (const pugi::xml_node& child : element.children()) {
      const std::string_view name = child.name();
      if (child.type() == pugi::node_element && name != "Kernel" && name != "Buffers" &&
          name != "CompilerOptions" && name != "WorkSizes") {
        return malformed(fmt::format("the element {} is not known", name));
      }
    }
    HET_TRY(read_kernel(element.child("Kernel"), layer));
    HET_TRY(read_buffers(element.child("Buffers"), layer));
    for (const pugi::xml_node& options : element.children("CompilerOptions")) {
      HET_ASSIGN(const std::string text, attribute(options, "options"));
      layer.options += (layer.options.empty() ? "" : " ") + text;
    }
    HET_TRY(read_sizes(element.child("WorkSizes"), layer));
    return layer;
  }

  Status read_kernel(const pugi::xml_node& kernel, CustomLayer& layer) const {
    if (!kernel) return malformed("it has no element Kernel");
    HET_ASSIGN(layer.entry, attribute(kernel, "entry"));
    if (!is_identifier(layer.entry)) {
      return malformed(fmt::format("entry=\"{}\" is no name of a kernel", layer.entry));
    }
    for (const pugi::xml_node& source : kernel.children("Source")) {
      HET_ASSIGN(const std::string name, attribute(source, "filename"));
      HET_TRY(add_source(name, layer.source));
    }
    if (layer.source.empty()) return malformed("its Kernel has no Source");
    for (const pugi::xml_node& define : kernel.children("Define")) {
      CustomDefine made;
      HET_ASSIGN(made.name, attribute(define, "name"));
      made.param = define.attribute("param").value();
      made.type = define.attribute("type").value();
      made.standard = define.attribute("default").value();
      constexpr std::string_view kTypes[] = {"", "int", "float", "int[]", "float[]"};
      if (std::ranges::find(kTypes, made.type) == std::end(kTypes)) {
        return malformed(
            fmt::format("type=\"{}\" of Define '{}' is none of int, float, int[] and "
                        "float[]",
                        made.type, made.name));
      }
      if (!is_identifier(std::string_view(made.name).substr(0, made.name.find_first_of(" (")))) {
        return malformed(fmt::format("'{}' is no name of a macro", made.name));
      }
      if ((made.name + made.standard).find_first_of("\r\n") != std::string::npos) {
        return malformed(fmt::format("Define '{}' has several lines", made.name));
      }
      layer.defines.push_back(std::move(made));
      if (layer.defines.size() > kMostDefines) return malformed("it has too many Defines");
    }
    return {};
  }

  Status add_source(const std::string& name, std::string& text) const {
    const std::filesystem::path relative = std::filesystem::path(name).lexically_normal();
    if (relative.is_absolute() || relative.empty() || *relative.begin() == "..") {
      return malformed(fmt::format("the source '{}' is not in the folder of the file", name));
    }
    std::error_code failed;
    const auto folder =
        std::filesystem::weakly_canonical(std::filesystem::path(path_), failed).parent_path();
    const auto file = std::filesystem::weakly_canonical(folder / relative, failed);
    const auto inside = file.lexically_relative(folder);
    if (failed || inside.empty() || *inside.begin() == "..") {
      return malformed(fmt::format("the source '{}' is not in the folder of the file", name));
    }
    const auto opened = MappedFile::open(file.string());
    if (!opened) {
      return opened.error().with_context(fmt::format("'{}', CustomLayer '{}'", path_, layer_));
    }
    const MappedFile* const source = opened->get();
    if (source->bytes().size() + text.size() > kMostSourceBytes) {
      return malformed(fmt::format("its sources have more than {} bytes", kMostSourceBytes));
    }
    text.append(reinterpret_cast<const char*>(source->bytes().data()), source->bytes().size());
    text += '\n';
    return {};
  }

  Status read_buffers(const pugi::xml_node& buffers, CustomLayer& layer) const {
    std::vector<std::optional<CustomArgument>> arguments;
    for (const pugi::xml_node& element : buffers.children()) {
      if (element.type() != pugi::node_element) continue;
      if (std::string_view(element.name()) != "Tensor") {
        return error(StatusCode::NotSupported,
                     "'{}', CustomLayer '{}': Buffers takes Tensor elements only, not {}; weights "
                     "are inputs of a node here",
                     path_, layer_, element.name());
      }
      HET_ASSIGN(const size_t place, index(element, "arg-index"));
      HET_ASSIGN(const std::string type, attribute(element, "type"));
      CustomArgument argument;
      HET_ASSIGN(argument.port, index(element, "port-index"));
      argument.is_output = type == "output";
      if (!argument.is_output && type != "input") {
        return malformed(fmt::format("type=\"{}\" of Tensor is neither input nor output", type));
      }
      std::string format = element.attribute("format").value();
      std::ranges::transform(format, format.begin(),
                             [](char c) { return static_cast<char>(std::toupper(c)); });
      if (format == "BYXF") {
        argument.format = Format::ChannelsLast;
      } else if (!format.empty() && format != "BFYX") {
        return error(StatusCode::NotSupported,
                     "'{}', CustomLayer '{}': format '{}'; tensors are BFYX or BYXF", path_, layer_,
                     format);
      }
      arguments.resize(std::max(arguments.size(), place + 1));
      if (arguments[place]) return malformed(fmt::format("two arguments {}", place));
      arguments[place] = argument;
    }
    bool writes = false;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!arguments[i]) return malformed(fmt::format("nothing is argument {}", i));
      writes = writes || arguments[i]->is_output;
      layer.arguments.push_back(*arguments[i]);
    }
    if (!writes) return malformed("its Buffers have no output");
    return {};
  }

  Status read_sizes(const pugi::xml_node& sizes, CustomLayer& layer) const {
    if (const pugi::xml_attribute text = sizes.attribute("global")) layer.global = text.value();
    layer.local = sizes.attribute("local").value();
    const std::string dim = sizes.attribute("dim").value();
    if (dim.empty() || dim == "output") return {};
    layer.sizes_of_output = false;
    const size_t digit = dim.size() - 1;
    if (dim.substr(0, 5) != "input" || dim.size() < 6 || dim[digit] < '0' || dim[digit] > '9' ||
        dim.find_first_not_of(" ,", 5) != digit) {
      return malformed(fmt::format("dim=\"{}\" is neither output nor input N", dim));
    }
    layer.sizes_port = static_cast<size_t>(dim[digit] - '0');
    return {};
  }

  std::string path_;
  std::string layer_;  ///< that is being read, for messages
};

}  // namespace

Result<std::shared_ptr<const CustomLayers>> read_custom_layers(const std::string& path) {
  return LayerReader(path).run();
}

Result<std::shared_ptr<const CustomLayers>> custom_layers(const Properties& properties) {
  const std::string path = property_text(properties, "CONFIG_FILE");
  if (path.empty()) return std::shared_ptr<const CustomLayers>();
  return read_custom_layers(path);
}

}  // namespace het::gpu
