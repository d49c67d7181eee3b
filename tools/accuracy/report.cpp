#include "tools/accuracy/report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace het {
namespace {

constexpr size_t kMostNames = 8;
constexpr size_t kMostLetters = 32;

/// "a, b, c and 7 more"
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMostNames; ++i) {
    const bool is_long = names[i].size() > kMostLetters;
    text += (i > 0 ? ", " : "") + names[i].substr(0, kMostLetters) + (is_long ? "..." : "");
  }
  if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
  return text;
}

size_t object_count(const Dataset& dataset) {
  size_t count = 0;
  for (const LabelledPicture& picture : dataset.pictures) count += picture.truth.size();
  return count;
}

void print_labels(const std::vector<ColumnResult>& columns) {
  for (size_t c = 0; c < columns.size(); ++c) {
    const ColumnResult& column = columns[c];
    const bool is_told = std::any_of(
        columns.begin(), columns.begin() + static_cast<long>(c), [&](const ColumnResult& other) {
          return other.labels == column.labels &&
                 other.labels_without_category == column.labels_without_category;
        });
    if (column.labels.empty() || is_told) continue;
    std::printf("labels of %s: %s\n", column.column.model.c_str(), column.labels.c_str());
    if (!column.labels_without_category.empty()) {
      std::printf("  not in the dataset: %s\n", listed(column.labels_without_category).c_str());
    }
    if (!column.categories_without_label.empty()) {
      std::printf("  not known to the model: %s\n",
                  listed(column.categories_without_label).c_str());
    }
  }
}

/// Rows of texts in columns as wide as their longest, the first left and the others apart by two.
void print_rows(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += (i > 0 ? "  " : "") + row[i] + std::string(widths[i] - row[i].size(), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

std::string shown_value(const Score& score) {
  return score.value ? fmt::format("{:.4f}", *score.value) : "-";
}

void add_rows(const std::vector<ColumnResult>& columns, std::vector<Score> Scores::*member,
              std::vector<std::vector<std::string>>& rows) {
  const std::vector<Score>& first = columns.front().scores.*member;
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<std::string> row = {first[i].name};
    for (const ColumnResult& column : columns) {
      const std::vector<Score>& scores = column.scores.*member;
      row.push_back(i < scores.size() ? shown_value(scores[i]) : "-");
    }
    rows.push_back(std::move(row));
  }
}

void print_scores(const Evaluation& evaluation, bool per_category) {
  const Dataset& dataset = evaluation.dataset;
  const std::string objects = dataset.kind == DatasetKind::ClassFolders
                                  ? std::string()
                                  : fmt::format(", {} objects", object_count(dataset));
  std::printf("%s '%s': %zu pictures%s, %zu categories\n", to_string(dataset.kind),
              dataset.origin.c_str(), dataset.pictures.size(), objects.c_str(),
              dataset.categories.size());
  print_labels(evaluation.columns);
  std::vector<std::vector<std::string>> rows = {{""}, {""}};
  for (const ColumnResult& column : evaluation.columns) {
    rows[0].push_back(std::filesystem::path(column.column.model).filename().string());
    rows[1].push_back(column.column.type.empty() ? column.precision : column.column.type);
  }
  const bool has_types = std::any_of(rows[1].begin(), rows[1].end(),
                                     [](const std::string& text) { return !text.empty(); });
  if (!has_types) rows.pop_back();
  add_rows(evaluation.columns, &Scores::overall, rows);
  if (per_category) add_rows(evaluation.columns, &Scores::categories, rows);
  std::printf("\n");
  print_rows(rows);
}

nlohmann::json scores_json(const std::vector<Score>& scores) {
  nlohmann::json json = nlohmann::json::object();
  for (const Score& score : scores) {
    json[score.name] = score.value ? nlohmann::json(*score.value) : nlohmann::json();
  }
  return json;
}

nlohmann::json column_json(const ColumnResult& result, const std::string& device) {
  nlohmann::json json = {{"scores", scores_json(result.scores.overall)},
                         {"categories", scores_json(result.scores.categories)}};
  if (result.labels.empty()) {
    json["detections"] = result.column.model;
    return json;
  }
  json["model"] = result.column.model;
  json["device"] = device;
  json["type"] = result.column.type;
  json["precision"] = result.precision;
  json["labels"] = {{"mapping", result.labels},
                    {"without_category", result.labels_without_category},
                    {"categories_without_label", result.categories_without_label}};
  return json;
}

}  // namespace

void print_evaluation(const Evaluation& evaluation, const AccuracyOptions& options) {
  if (!options.json) {
    print_scores(evaluation, options.per_category);
    return;
  }
  nlohmann::json columns = nlohmann::json::array();
  for (const ColumnResult& result : evaluation.columns) {
    columns.push_back(column_json(result, options.device));
  }
  const nlohmann::json json = {{"dataset", evaluation.dataset.origin},
                               {"kind", to_string(evaluation.dataset.kind)},
                               {"pictures", evaluation.dataset.pictures.size()},
                               {"objects", object_count(evaluation.dataset)},
                               {"columns", std::move(columns)}};
  // Names come from files, in whatever encoding.
  std::printf("%s\n", json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

}  // namespace het
