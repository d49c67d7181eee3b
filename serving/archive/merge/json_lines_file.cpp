#include <utility>

#include "inference/base/new_file.h"
#include "serving/archive/merge/merged_file.h"

namespace het::archive {
namespace {

class JsonLinesFile final : public MergedFile {
 public:
  JsonLinesFile(NewFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Status begin_video(const std::string&) override { return {}; }

  Status write(std::string_view line) override {
    file_.stream().write(line.data(), static_cast<std::streamsize>(line.size())).put('\n');
    if (file_.stream()) return {};
    return error(StatusCode::Internal,
                 "cannot write '{}': is the disk full? The file that was there is as it was",
                 path_);
  }

  Status keep() override { return file_.keep(); }

 private:
  NewFile file_;
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<MergedFile>> create_json_lines_file(const std::string& path) {
  HET_ASSIGN(NewFile file, NewFile::create(path));
  return std::make_unique<JsonLinesFile>(std::move(file), path);
}

Result<std::unique_ptr<MergedFile>> create_merged_file(const std::string& path, ParquetRows rows) {
  for (const char* end : {".jsonl", ".json-lines", ".ndjson"}) {
    if (path.ends_with(end)) return create_json_lines_file(path);
  }
  if (path.ends_with(".parquet")) return create_parquet_file(path, rows);
  return error(StatusCode::InvalidArgument,
               "cannot tell from '{}' what to write; name a file that ends in .jsonl or .parquet",
               path);
}

}  // namespace het::archive
