#include "tests/serving/archive/written_archive.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "serving/archive/records/sha256.h"
#include "serving/archive/records/shard_note.h"

namespace het::archive {
namespace {

constexpr uint64_t kFrameNs = 10;

std::filesystem::path new_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "archive-XXXXXX").string();
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
  return path;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

WrittenArchive::WrittenArchive() : folder(new_folder()) {
  EXPECT_TRUE(folder.create().ok());
  plan.pipeline = {"filesrc", "location={video}", "!", "x", "location={output}"};
}

WrittenArchive::~WrittenArchive() {
  std::filesystem::remove_all(folder.path());
}

size_t WrittenArchive::add_video(const std::string& name, uint64_t frames,
                                 const std::vector<uint64_t>& starts, uint64_t overlap_ns) {
  const size_t first = plan.shards.size();
  PlannedVideo& video = plan.videos.emplace_back();
  video.name = name;
  video.uri = "file:///nowhere/" + name;
  video.frames = frames;
  for (size_t i = 0; i < starts.size(); ++i) {
    PlannedShard& shard = plan.shards.emplace_back();
    shard.key = fmt::format("{:08x}", plan.shards.size());
    shard.video = plan.videos.size() - 1;
    shard.start_ns = starts[i];
    shard.from_ns = starts[i] > overlap_ns ? starts[i] - overlap_ns : 0;
    if (i == 0) shard.from_ns = shard.start_ns;
    if (i + 1 < starts.size()) shard.stop_ns = starts[i + 1];
    for (uint64_t k = 0; k < frames; ++k) shard.frames += shard.has(k * kFrameNs) ? 1 : 0;
    video.shards.push_back(first + i);
  }
  return first;
}

void WrittenArchive::finish(size_t shard, const std::vector<std::string>& lines,
                            const std::vector<std::string>& overlap) {
  const PlannedShard& planned = plan.shards[shard];
  const std::string text = text_of(lines);
  write(folder.output(planned.key), text);
  if (planned.from_ns < planned.start_ns) {
    write(folder.overlap_output(planned.key), text_of(overlap));
  }
  ShardNote note;
  note.key = planned.key;
  std::vector<uint64_t> times;
  for (uint64_t k = 0; k < plan.videos[planned.video].frames; ++k) {
    if (planned.has(k * kFrameNs)) times.push_back(k * kFrameNs);
  }
  note.frames = times.size();
  note.timestamps = timestamps_digest(times);
  note.lines = lines.size();
  note.bytes = text.size();
  note.sha256 = sha256_of(text);
  EXPECT_TRUE(write_note(folder, note).ok());
}

void WrittenArchive::write_plan() {
  EXPECT_TRUE(archive::write_plan(folder, plan).ok());
}

std::string WrittenArchive::read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void WrittenArchive::write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string frame_line(uint64_t time, const std::vector<std::pair<int, int>>& objects) {
  std::string text;
  for (const auto& [id, left] : objects) {
    text += fmt::format(R"({}{{"h":10,"id":{},"roi_type":"car","w":10,"x":{},"y":0}})",
                        text.empty() ? "" : ",", id, left);
  }
  return fmt::format(R"({{"objects":[{}],"timestamp":{}}})", text, time);
}

}  // namespace het::archive
