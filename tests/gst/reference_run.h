#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/decoders/match_reference.h"

/// Whole pipelines on the shared pictures and videos, compared with reference results.
namespace het::gst_test {

/// One analysed frame.
struct Analysed {
  int width = 0;
  int height = 0;
  std::vector<test::ReferenceObject> objects;
};

/// What the reference calls the class of an object.
enum class ReferenceLabels { Names, Ids };

/// Analyses the frames of a file with these numbers (ascending, each once; none: all) by a detector
/// (a part of a pipeline description), in one pass. Problems are the test's.
std::map<int, Analysed> analyse(const std::string& file, const std::string& detector,
                                const std::vector<int>& frames,
                                ReferenceLabels labels = ReferenceLabels::Names);

/// Compares a frame with its reference, which is clipped to the picture as elements clip what they
/// report.
test::MatchCounts compare(const std::string& where,
                          const std::vector<test::ReferenceObject>& reference,
                          const Analysed& frame, float found_iou = test::kFoundIou);

/// Pictures or videos of the shared data against their reference.
test::MatchCounts compare_pictures(const std::string& model, const std::string& detector,
                                   const test::PictureObjects& reference,
                                   ReferenceLabels labels = ReferenceLabels::Names,
                                   float found_iou = test::kFoundIou);
test::MatchCounts compare_videos(const std::string& model, const std::string& detector,
                                 const test::VideoObjects& reference,
                                 ReferenceLabels labels = ReferenceLabels::Names,
                                 float found_iou = test::kFoundIou);

/// One line, and one for each object that is missing or too many.
void print(const std::string& title, const test::MatchCounts& counts);

}  // namespace het::gst_test
