#include "serving/archive/merge/identity_join.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace het::archive {
namespace {

/// From which overlap on two boxes that are not equal are those of one object.
constexpr double kSameObject = 0.5;

/// What speaks for two ids being one object.
struct Evidence {
  int64_t last_ns = 0;  ///< the last frame that says so
  bool is_exact = false;
  size_t frames = 0;
};

using Pair = std::pair<int64_t, int64_t>;  ///< an id of the overlap, an id of the video
using Votes = std::map<Pair, Evidence>;

void vote(Votes& votes, const TrackedObject& ours, const TrackedObject& theirs, int64_t time,
          bool is_exact) {
  Evidence& evidence = votes[{ours.id, theirs.id}];
  evidence.last_ns = time;
  evidence.is_exact = is_exact;
  ++evidence.frames;
}

/// Objects of equal boxes all vote for each other: other frames decide between them.
void compare_frames(const TrackedLine& ours, const TrackedLine& theirs, Votes& votes) {
  std::vector<bool> ours_found(ours.objects.size());
  std::vector<bool> theirs_found(theirs.objects.size());
  for (size_t i = 0; i < ours.objects.size(); ++i) {
    for (size_t j = 0; j < theirs.objects.size(); ++j) {
      const TrackedObject& a = ours.objects[i];
      const TrackedObject& b = theirs.objects[j];
      if (a.label != b.label || a.box != b.box) continue;
      vote(votes, a, b, ours.timestamp_ns, true);
      ours_found[i] = theirs_found[j] = true;
    }
  }
  std::vector<std::tuple<double, size_t, size_t>> near;
  for (size_t i = 0; i < ours.objects.size(); ++i) {
    for (size_t j = 0; j < theirs.objects.size(); ++j) {
      if (ours_found[i] || theirs_found[j]) continue;
      if (ours.objects[i].label != theirs.objects[j].label) continue;
      const double share = overlap(ours.objects[i].box, theirs.objects[j].box);
      if (share >= kSameObject) near.emplace_back(-share, i, j);
    }
  }
  std::ranges::sort(near);
  for (const auto& [share, i, j] : near) {
    if (ours_found[i] || theirs_found[j]) continue;
    vote(votes, ours.objects[i], theirs.objects[j], ours.timestamp_ns, false);
    ours_found[i] = theirs_found[j] = true;
  }
}

}  // namespace

std::map<int64_t, int64_t> join_identities(const std::deque<TrackedLine>& before,
                                           const std::vector<TrackedLine>& overlap) {
  std::map<int64_t, const TrackedLine*> frames;
  for (const TrackedLine& line : before) frames.emplace(line.timestamp_ns, &line);
  Votes votes;
  for (const TrackedLine& line : overlap) {
    const auto same = frames.find(line.timestamp_ns);
    if (same != frames.end()) compare_frames(line, *same->second, votes);
  }
  std::vector<std::pair<Pair, Evidence>> ranked(votes.begin(), votes.end());
  // What goes on is what both see in the last frames; before that, ids may have been exchanged.
  std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) {
    const auto rank = [](const Evidence& evidence) {
      return std::tuple(evidence.last_ns, evidence.is_exact, evidence.frames);
    };
    return rank(a.second) > rank(b.second);
  });
  std::map<int64_t, int64_t> joined;
  std::set<int64_t> taken;
  for (const auto& [pair, evidence] : ranked) {
    if (joined.contains(pair.first) || taken.contains(pair.second)) continue;
    joined.emplace(pair.first, pair.second);
    taken.insert(pair.second);
  }
  return joined;
}

}  // namespace het::archive
