#include "serving/archive/records/shard_key.h"

#include "inference/base/version.h"
#include "serving/archive/records/pipeline_words.h"
#include "serving/archive/records/sha256.h"

namespace het::archive {
namespace {

/// Changes when what a shard's output depends on is computed in another way.
constexpr std::string_view kKeyFormat = "archive key 1";

}  // namespace

Result<ShardKeys> ShardKeys::create(const std::vector<std::string>& words,
                                    const std::string& version) {
  Sha256 sum;
  sum.add_text(kKeyFormat);
  sum.add_text(version);
  for (const std::string& word : words) sum.add_text(word);
  for (const std::string& file : named_files(words)) {
    HET_ASSIGN(const FileDigest digest, digest_file(file));
    sum.add_text(file);
    sum.add_text(digest.sha256);
  }
  ShardKeys keys;
  keys.pipeline_ = sum.digits();
  const WrittenNames written = written_names(words);
  keys.writes_video_ = written.video;
  keys.writes_uri_ = written.uri;
  keys.writes_name_ = written.name;
  return keys;
}

void ShardKeys::fill(ArchivePlan& plan, size_t video) {
  const PlannedVideo& planned = plan.videos[video];
  Sha256 sum;
  sum.add_text(pipeline_);
  // What cannot be read is known by its name only.
  sum.add_text(planned.content.empty() ? planned.uri : planned.content);
  sum.add_text(writes_video_ ? planned.path : "");
  sum.add_text(writes_uri_ ? unsigned_uri(planned.uri) : "");
  sum.add_text(writes_name_ ? planned.name : "");
  const std::string digest = sum.digits();
  const size_t place = seen_[digest]++;
  for (const size_t index : planned.shards) {
    PlannedShard& shard = plan.shards[index];
    Sha256 key;
    key.add_text(digest);
    key.add_text(std::to_string(place));
    key.add_text(plan.is_whole(shard) ? "whole" : "range");
    key.add_text(std::to_string(shard.start_ns));
    key.add_text(shard.stop_ns ? std::to_string(*shard.stop_ns) : "end");
    key.add_text(std::to_string(shard.from_ns));
    shard.key = key.digits().substr(0, 40);
  }
}

Status check_keys(const ArchivePlan& plan) {
  if (plan.version != version()) {
    return error(StatusCode::InvalidArgument,
                 "the plan was made by version {} and this is {}; plan again with this one",
                 plan.version, version());
  }
  HET_ASSIGN(ShardKeys keys, ShardKeys::create(plan.pipeline, plan.version));
  ArchivePlan now = plan;
  for (size_t i = 0; i < now.videos.size(); ++i) keys.fill(now, i);
  if (now.shards == plan.shards) return {};
  return error(StatusCode::InvalidArgument,
               "the files that the pipeline names (models, descriptors) are not those of the plan: "
               "plan again when they have changed; relative paths count from where it was planned");
}

}  // namespace het::archive
