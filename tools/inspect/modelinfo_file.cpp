#include "tools/inspect/modelinfo_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace het {
namespace {

constexpr size_t kColorChannels = 3;

/// As a value of a GKeyFile.
std::string escaped(const std::string& text) {
  std::string value;
  for (const char c : text) {
    if (c == '\\')
      value += "\\\\";
    else if (c == '\n')
      value += "\\n";
    else if (c == '\r')
      value += "\\r";
    else if (c == '\t')
      value += "\\t";
    else if (c == ' ' && value.empty())
      value += "\\s";
    else
      value += c;
  }
  return value;
}

/// As the name of a section: others than these are not allowed there.
std::string section_name(const std::string& name) {
  std::string allowed = name == "modelinfo" ? "modelinfo_" : name;
  for (char& c : allowed) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '[' || c == ']' || byte < ' ' || byte == 0x7f) c = '_';
  }
  return allowed;
}

class ModelinfoWriter {
 public:
  ModelinfoWriter(const Model& file, const ModelReading& reading, const TensorGroup& group)
      : file_(file), reading_(reading), group_(group) {}

  ModelinfoFile write() {
    const bool all_known = std::ranges::all_of(group_.tensors, [&](const GroupTensor& tensor) {
      return !tensor.is_known || keeps_id(tensor);
    });
    text_ = fmt::format("[modelinfo]\nversion=1.0\ngroup-id={}\n",
                        escaped(all_known ? group_.id : file_.name() + "-out"));
    note_inputs();
    for (size_t i = 0; i < file_.inputs().size(); ++i) {
      const Value& value = *file_.inputs()[i].value;
      section(value.name(), value.name(), value.desc(), "input");
      if (i == reading_.picture.index) pictures(value.desc());
    }
    for (size_t i = 0; i < file_.outputs().size(); ++i) output(i);
    return {std::move(text_), std::move(notes_)};
  }

 private:
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    notes_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void section(const std::string& name, const std::string& id, const TensorDesc& desc,
               std::string_view direction) {
    const std::string allowed = section_name(name);
    if (allowed != name)
      note("no section can be called '{}', it is '{}': found by type and dims", name, allowed);
    text_ += fmt::format("\n[{}]\nid={}\ntype={}\n", allowed, escaped(id), to_string(desc.type));
    // Without dims a section is found by its name alone; a list cannot be empty.
    if (!desc.shape.empty()) text_ += fmt::format("dims={}\n", fmt::join(desc.shape, ","));
    text_ += fmt::format("dir={}\n", direction);
  }

  void note_inputs() {
    if (file_.inputs().size() != 1)
      note("the model has {} inputs, onnxinference runs models with one", file_.inputs().size());
    const TensorDesc& desc = file_.inputs()[reading_.picture.index].value->desc();
    if (desc.type != ElementType::UInt8 && desc.type != ElementType::Float32)
      note("its pictures are {}, onnxinference fills uint8 and float32", to_string(desc.type));
    if (desc.shape.size() == 4 && desc.shape[0] > 1)
      note("its batch is fixed at {}, onnxinference gives it one picture", desc.shape[0]);
  }

  /// What 0 and 255 of each channel become, in the tensor's order. For each channel, also where all
  /// are alike: 1.28's onnxinference takes one pair for the first channel's alone.
  void pictures(const TensorDesc& desc) {
    const PreprocessDesc& wanted = reading_.picture.preproc.preprocess;
    std::array<std::string, kColorChannels> ranges;
    bool is_byte = true;
    for (size_t c = 0; c < kColorChannels; ++c) {
      const float low = (wanted.range_low - wanted.mean[c]) / wanted.std[c];
      const float high = (wanted.range_high - wanted.mean[c]) / wanted.std[c];
      is_byte = is_byte && low == 0.0f && high == 255.0f;
      ranges[c] = fmt::format("{},{}", low, high);
    }
    const bool is_grey = wanted.color_order == ColorOrder::Gray;
    text_ += "ranges=" + (is_grey ? ranges[0] : fmt::format("{}", fmt::join(ranges, ";"))) + "\n";
    if (desc.type == ElementType::UInt8 && !is_byte)
      note("its input takes bytes, which onnxinference rounds after it has applied the ranges");
    own_keys(wanted);
  }

  void own_keys(const PreprocessDesc& wanted) {
    constexpr std::pair<ResizeMode, std::string_view> kResizes[] = {
        {ResizeMode::Stretch, "standard"},
        {ResizeMode::LetterboxCentre, "fit_to_window_letterbox"},
        {ResizeMode::LetterboxTopLeft, "fit_to_window"},
        {ResizeMode::CentralCrop, "crop"},
    };
    const auto* const resize =
        std::ranges::find(kResizes, wanted.resize, &std::pair<ResizeMode, std::string_view>::first);
    text_ += fmt::format("# What GStreamer passes over:\nresize_type={}\n", resize->second);
    const bool pads = wanted.resize == ResizeMode::LetterboxCentre ||
                      wanted.resize == ResizeMode::LetterboxTopLeft;
    if (pads) {
      text_ += fmt::format("pad_value={}\n", wanted.pad_value[0]);
      note(
          "its pictures keep their aspect ratio, {} on {}; onnxinference takes frames of the "
          "model's size as they are, so what scales them has to do that",
          wanted.resize == ResizeMode::LetterboxCentre ? "in the middle" : "at the top left",
          wanted.pad_value[0]);
    }
    if (wanted.resize == ResizeMode::CentralCrop)
      note(
          "its pictures are the largest middle part of the frame; onnxinference takes frames of "
          "the model's size as they are, so videocrop or aspectratiocrop has to come before");
    if (wanted.color_order == ColorOrder::BGR) {
      text_ += "reverse_input_channels=NO\n";
      const bool is_guess = reading_.assumed && reading_.assumed->is_guess;
      note(
          "its channels are {}; onnxinference gives R, G, B, and no .modelinfo file can say "
          "otherwise",
          is_guess ? "taken for B, G, R, which is a guess" : "B, G, R");
    }
    if (wanted.border_x != 0 || wanted.border_y != 0)
      note("a border of {} columns and {} rows that is always padding cannot be said",
           wanted.border_x, wanted.border_y);
  }

  /// Whether the model's own output is what decoders of this id read.
  static bool keeps_id(const GroupTensor& tensor, size_t rank) {
    return !tensor.is_transposed && tensor.shape.size() == rank;
  }
  bool keeps_id(const GroupTensor& tensor) const {
    const auto same = std::ranges::find(file_.outputs(), tensor.output, &ModelOutput::name);
    return same == file_.outputs().end() || keeps_id(tensor, desc_of(*same).shape.size());
  }

  /// As the file declares it, else as it was inferred, whose sizes may not be those of the file.
  TensorDesc desc_of(const ModelOutput& output) const {
    if (output.declared.type != ElementType::Undefined) return output.declared;
    TensorDesc desc = output.value->desc();
    if (desc.type != ElementType::Undefined && !desc.shape.empty()) return desc;
    const auto inferred = std::ranges::find(reading_.output_ports, output.name, &Port::name);
    if (inferred == reading_.output_ports.end()) return desc;
    desc = inferred->desc;
    std::ranges::fill(desc.shape, kUnknownDim);
    return desc;
  }

  void output(size_t index) {
    const ModelOutput& output = file_.outputs()[index];
    const TensorDesc desc = desc_of(output);
    const auto same = std::ranges::find(group_.tensors, output.name, &GroupTensor::output);
    const bool is_named = same != group_.tensors.end();
    const bool is_kept = is_named && (!same->is_known || keeps_id(*same));
    if (is_named && !is_kept)
      note(
          "output '{}' {} is not as decoders of '{}' read it, so its id is its name; where this "
          "file lies beside the model, it is that for heteroinference, too, which could turn it",
          output.name, to_string(desc), same->id);
    section(output.name, is_kept ? same->id : output.name, desc, "output");
    if (is_kept && same->column_major) text_ += "dims-order=col-major\n";
    if (desc.type != ElementType::Float32 && desc.type != ElementType::Int32)
      note("output '{}' is {}, onnxinference takes float32 and int32", output.name,
           to_string(desc.type));
  }

  const Model& file_;
  const ModelReading& reading_;
  const TensorGroup& group_;
  std::string text_;
  std::vector<std::string> notes_;
};

}  // namespace

ModelinfoFile modelinfo_file(const Model& file, const ModelReading& reading,
                             const TensorGroup& group) {
  return ModelinfoWriter(file, reading, group).write();
}

}  // namespace het
