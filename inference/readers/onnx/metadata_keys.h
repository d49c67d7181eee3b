#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Keys of metadata_props in ONNX files for what ONNX itself cannot say. Other programs ignore
/// them.
namespace het::onnx {

inline constexpr std::string_view kOwnPrefix = "het.";

/// Of graph inputs: "NCHW", "NHWC"; the PreprocessDesc as preprocess_text.h writes it.
inline constexpr std::string_view kLayoutKey = "het.layout";
inline constexpr std::string_view kPreprocessKey = "het.preprocess";

/// Of nodes: the device wish; the names that the node stands for besides its own (join_names());
/// why the model could not hold the node as its file had it.
inline constexpr std::string_view kAffinityKey = "het.affinity";
inline constexpr std::string_view kOriginalNamesKey = "het.original_names";
inline constexpr std::string_view kUnsupportedKey = "het.unsupported";
/// Of an Identity that is no node of the model: it gives the graph output that it computes this
/// name, because the value has another one.
inline constexpr std::string_view kOutputKey = "het.output";

/// One name a line; a backslash or line end inside a name is written as "\\" or "\n".
std::string join_names(const std::vector<std::string>& names);
std::vector<std::string> split_names(std::string_view text);

}  // namespace het::onnx
