#include "serving/launch/report_writer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>

namespace het::serving {
namespace {

TEST(ReportWriter, ASlowReaderMissesProgressAndNothingElse) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ReportWriter writer(ends[1]);
  constexpr int kReports = 3000;  // far more than a pipe holds
  for (int i = 0; i < kReports; ++i) {
    writer.write(Report{StreamPlays{"stream", static_cast<size_t>(i)}});
    writer.write(Report{Progress{}});
  }
  size_t plays = 0;
  size_t progress = 0;
  std::thread reader([&] {
    std::string text;
    char part[4096];
    for (ssize_t count = 0; (count = read(ends[0], part, sizeof part)) > 0;) {
      text.append(part, static_cast<size_t>(count));
      for (size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
        const auto report = Report::parse(text.substr(0, end));
        ASSERT_TRUE(report) << text.substr(0, end);
        if (const auto* content = std::get_if<StreamPlays>(&report->content)) {
          EXPECT_EQ(content->run, plays++);
        } else {
          ++progress;
        }
      }
    }
  });
  writer.close(10);
  reader.join();
  close(ends[0]);
  EXPECT_EQ(plays, size_t{kReports});
  EXPECT_LT(progress, size_t{kReports});
  EXPECT_GT(progress, 0u);
}

TEST(ReportWriter, AReaderThatIsGoneIsNoFailure) {
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ReportWriter writer(ends[1]);
  writer.write(Report{StreamEnded{"a"}});
  close(ends[0]);
  writer.write(Report{StreamEnded{"a"}});
  writer.write(Report{StreamEnded{"a"}});
  writer.close(10);
}

TEST(ReportWriter, AReaderThatNeverReadsHoldsNothingUp) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    ReportWriter writer(ends[1]);
    const std::string text(100000, 'x');
    for (int i = 0; i < 200; ++i) writer.write(Report{StreamEnded{text}});
    writer.close(0.05);
  }
  close(ends[0]);
}

}  // namespace
}  // namespace het::serving
