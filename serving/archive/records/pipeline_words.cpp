#include "serving/archive/records/pipeline_words.h"

#include <glib.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "inference/readers/onnx_reader.h"
#include "serving/launch/plan/placeholders.h"

namespace het::archive {
namespace {

namespace fs = std::filesystem;
using serving::PlaceholderValues;

constexpr std::string_view kModelFiles[] = {".onnx", ".xml", ".bin", ".pb", ".tflite"};
/// Read beside a model, whatever its name is.
constexpr std::string_view kBesideModels[] = {"preprocessor_config.json", "config.json"};

/// As gst_parse_launchv() makes one text of the words of a command line.
std::string escaped(std::string_view word) {
  std::string text;
  bool is_quoted = false;
  for (size_t i = 0; i < word.size(); ++i) {
    const bool is_mark = word[i] == '"' && (!is_quoted || i == 0 || word[i - 1] != '\\');
    if (is_mark) is_quoted = !is_quoted;
    if (word[i] == ' ' && !is_quoted) text += '\\';
    text += word[i];
  }
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  // A single one is the text of a whole pipeline already.
  if (words.size() == 1) return words.front();
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + escaped(word);
  return text;
}

/// The words of a pipeline that was given as one text; quotation marks may hold blanks together.
std::vector<std::string> split(const std::vector<std::string>& words) {
  if (words.size() != 1) return words;
  std::vector<std::string> parts(1);
  char mark = '\0';
  for (const char c : words.front()) {
    if (mark == '\0' && (c == ' ' || c == '\n' || c == '\t')) {
      parts.emplace_back();
      continue;
    }
    if (c == mark) {
      mark = '\0';
    } else if (mark == '\0' && (c == '"' || c == '\'')) {
      mark = c;
    }
    parts.back() += c;
  }
  return parts;
}

struct Assignment {
  std::string property;
  std::string value;
};

Assignment assignment(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos) return {"", word};
  std::string value = word.substr(equals + 1);
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
      value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  }
  return {word.substr(0, equals), std::move(value)};
}

void add_beside_model(const fs::path& model, std::set<std::string>& files) {
  const std::string extension = model.extension().string();
  if (std::ranges::find(kModelFiles, extension) == std::end(kModelFiles)) return;
  const std::string stem = model.stem().string() + ".";
  const std::string whole = model.filename().string();
  std::error_code failed;
  const fs::path folder = model.has_parent_path() ? model.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    const bool belongs = name.starts_with(stem) || name.starts_with(whole) ||
                         std::ranges::find(kBesideModels, name) != std::end(kBesideModels);
    if (belongs && entry.is_regular_file(failed)) {
      files.insert((model.parent_path() / name).string());
    }
  }
  if (extension != ".onnx") return;
  // What is no model fails in the pipeline, with its own message.
  const auto external = onnx_external_files(model.string());
  if (external) files.insert(external->begin(), external->end());
}

}  // namespace

Status check_pipeline(const std::vector<std::string>& words) {
  if (words.empty()) {
    return error(StatusCode::InvalidArgument,
                 "there is no pipeline; give one behind --, with {{video}} (or {{uri}}) and "
                 "{{output}}");
  }
  for (const std::string& word : words) {
    if (g_utf8_validate(word.data(), static_cast<gssize>(word.size()), nullptr)) continue;
    return error(StatusCode::InvalidArgument, "the word '{}' of the pipeline is no UTF-8", word);
  }
  const auto names = serving::placeholder_names(joined(words));
  const auto has = [&](const char* name) { return names.contains(name); };
  if (!has("output")) {
    return error(StatusCode::InvalidArgument,
                 "the pipeline has no {{output}}; let it write its lines there: "
                 "heterometapublish file-path={{output}} file-format=json-lines");
  }
  if (!has("video") && !has("uri")) {
    return error(StatusCode::InvalidArgument,
                 "the pipeline has neither {{video}} nor {{uri}}; let it read: "
                 "filesrc location={{video}} ! decodebin");
  }
  for (const std::string& name : names) {
    if (name == "output" || name == "video" || name == "uri" || name == "name") continue;
    return error(StatusCode::InvalidArgument,
                 "nothing is known for {{{}}}; there are {{video}}, {{uri}}, {{name}} and "
                 "{{output}}",
                 name);
  }
  return {};
}

Result<std::string> shard_pipeline(const std::vector<std::string>& words,
                                   const ShardValues& values) {
  PlaceholderValues filled = {
      {"uri", values.uri}, {"name", values.name}, {"output", values.output}};
  if (!values.video.empty()) filled["video"] = values.video;
  const std::string text = joined(words);
  if (values.video.empty() && serving::placeholder_names(text).contains("video")) {
    return error(StatusCode::InvalidArgument,
                 "'{}' is no file, and the pipeline reads {{video}}; let it read {{uri}} "
                 "(uridecodebin uri={{uri}})",
                 values.uri);
  }
  return serving::fill_template(text, filled);
}

WrittenNames written_names(const std::vector<std::string>& words) {
  WrittenNames written;
  for (const std::string& word : split(words)) {
    const Assignment part = assignment(word);
    if (part.property == "location" || part.property == "uri") continue;
    const auto names = serving::placeholder_names(part.value);
    written.video = written.video || names.contains("video");
    written.uri = written.uri || names.contains("uri");
    written.name = written.name || names.contains("name");
  }
  return written;
}

std::vector<std::string> named_files(const std::vector<std::string>& words) {
  std::set<std::string> files;
  for (const std::string& word : split(words)) {
    const Assignment part = assignment(word);
    std::error_code failed;
    if (part.property.empty() || !fs::is_regular_file(part.value, failed)) continue;
    files.insert(part.value);
    add_beside_model(part.value, files);
  }
  return {files.begin(), files.end()};
}

std::string unsigned_uri(const std::string& uri) {
  if (uri.starts_with("file:")) return uri;
  return uri.substr(0, uri.find_first_of("?#"));
}

}  // namespace het::archive
