#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "../../gst/test_files.h"
#include "serving/metrics/exposition/family.h"

namespace het::metrics {
namespace {

constexpr const char* kBegin = "<!-- families -->\n";
constexpr const char* kEnd = "<!-- end of families -->\n";

/// The table of docs/metrics.md.
std::string family_table() {
  std::string table = "| name | type | labels | unit | meaning | from |\n";
  table += "| --- | --- | --- | --- | --- | --- |\n";
  for (const Family& one : families()) {
    table += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", sample_name(one),
                         to_string(one.kind), one.labels, one.unit, one.meaning, one.origin);
  }
  return table;
}

/// HET_WRITE_METRICS=1 writes it anew.
TEST(MetricsPage, HasEveryFamily) {
  const std::string path = gst_test::source_file("docs/metrics.md");
  const std::string page = gst_test::read_text(path);
  const size_t begin = page.find(kBegin);
  const size_t end = page.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end);
  const size_t from = begin + std::string(kBegin).size();
  if (std::getenv("HET_WRITE_METRICS")) {
    gst_test::write_text(path, page.substr(0, from) + family_table() + page.substr(end));
    return;
  }
  EXPECT_EQ(page.substr(from, end - from), family_table())
      << "docs/metrics.md is stale: run this test with HET_WRITE_METRICS=1";
}

}  // namespace
}  // namespace het::metrics
