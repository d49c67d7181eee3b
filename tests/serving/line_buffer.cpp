#include "serving/launch/supervise/line_buffer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace het::serving {
namespace {

struct Lines {
  LineBuffer buffer;
  std::vector<std::string> taken;

  void append(std::string_view bytes) {
    buffer.append(bytes, [this](std::string_view line) { taken.emplace_back(line); });
  }
  void finish() {
    buffer.finish([this](std::string_view line) { taken.emplace_back(line); });
  }
};

TEST(LineBuffer, MakesLinesOfPieces) {
  Lines lines;
  lines.append("on");
  EXPECT_TRUE(lines.taken.empty());
  lines.append("e\n\ntwo\nthr");
  EXPECT_EQ(lines.taken, (std::vector<std::string>{"one", "", "two"}));
  lines.finish();
  EXPECT_EQ(lines.taken.back(), "thr");
  lines.finish();
  EXPECT_EQ(lines.taken.size(), 4u) << "nothing is left";
}

TEST(LineBuffer, CutsALineThatNeverEnds) {
  Lines lines;
  const std::string piece(1000, 'x');
  size_t given = 0;
  for (int i = 0; i < 200; ++i) {
    lines.append(piece);
    given += piece.size();
  }
  lines.finish();
  size_t taken = 0;
  for (const std::string& line : lines.taken) {
    EXPECT_LE(line.size(), LineBuffer::kMostBytes);
    taken += line.size();
  }
  EXPECT_EQ(taken, given);
  EXPECT_EQ(lines.taken.size(), given / LineBuffer::kMostBytes + 1);
}

TEST(LineBuffer, ALineOfTheGreatestLengthIsOneLine) {
  Lines lines;
  lines.append(std::string(LineBuffer::kMostBytes, 'x') + "\nnext\n");
  ASSERT_EQ(lines.taken.size(), 2u);
  EXPECT_EQ(lines.taken[1], "next");
}

}  // namespace
}  // namespace het::serving
