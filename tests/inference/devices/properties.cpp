#include "inference/devices/properties.h"

#include <gtest/gtest.h>

namespace het {
namespace {

TEST(Properties, TableIsSortedAndDocumented) {
  const auto table = property_table();
  for (size_t i = 1; i < table.size(); ++i) {
    EXPECT_LT(table[i - 1].name, table[i].name) << "each once";
  }
  for (const PropertyDef& def : table) EXPECT_FALSE(def.doc.empty()) << def.name;
}

TEST(Properties, DefaultsAreValid) {
  for (const PropertyDef& def : property_table()) {
    if (def.read_only || def.devices != "*") continue;
    const Properties one{{std::string(def.name), std::string(def.default_value)}};
    EXPECT_TRUE(validate_properties(one, "CPU")) << def.name;
  }
}

TEST(Properties, AliasesOfOlderGuidesAreAccepted) {
  const auto checked =
      validate_properties({{"CPU_THREADS_NUM", "3"}, {"CPU_THROUGHPUT_STREAMS", "2"}}, "CPU");
  ASSERT_TRUE(checked) << checked.error().message();
  EXPECT_EQ(property_integer(*checked, "INFERENCE_NUM_THREADS"), 3);
  EXPECT_EQ(property_integer(*checked, "NUM_STREAMS"), 2);
}

TEST(Properties, ThoseOfTheDeviceBehindBatchReachIt) {
  const Properties wanted{{"NUM_STREAMS", "3"}};
  EXPECT_EQ(*validate_properties({{"GPU.NUM_STREAMS", "3"}}, "BATCH:GPU(8)"), wanted);
  EXPECT_EQ(*validate_properties({{"GPU.NUM_STREAMS", "3"}, {"NUM_STREAMS", "2"}}, "BATCH:GPU(8)"),
            wanted)
      << "what is said of one device counts more";
  EXPECT_EQ(*validate_properties({{"CPU.NUM_STREAMS", "3"}}, "BATCH:HETERO:GPU,CPU(2)"),
            (Properties{{"CPU.NUM_STREAMS", "3"}}));
}

TEST(Properties, AutoReadsAsMinusOne) {
  const auto checked = validate_properties({{"NUM_STREAMS", "AUTO"}}, "CPU");
  ASSERT_TRUE(checked);
  EXPECT_EQ(property_integer(*checked, "NUM_STREAMS"), -1);
}

TEST(Properties, UnknownNameSuggestsTheNearestAndListsTheValid) {
  const auto checked = validate_properties({{"NUM_STREAM", "1"}}, "CPU");
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message().find("did you mean NUM_STREAMS?"), std::string::npos)
      << checked.error().message();
  EXPECT_NE(checked.error().message().find("PERF_COUNT"), std::string::npos);
}

TEST(Properties, BadValuesNameTheValidOnes) {
  const auto hint = validate_properties({{"PERFORMANCE_HINT", "FAST"}}, "CPU");
  ASSERT_FALSE(hint);
  EXPECT_NE(hint.error().message().find("THROUGHPUT"), std::string::npos);
  EXPECT_FALSE(validate_properties({{"NUM_STREAMS", "-3"}}, "CPU"));
  EXPECT_FALSE(validate_properties({{"NUM_STREAMS", "2x"}}, "CPU"));
  EXPECT_FALSE(validate_properties({{"PERF_COUNT", "MAYBE"}}, "CPU"));
  EXPECT_FALSE(validate_properties({{"NETWORK_NAME", "x"}}, "CPU")) << "read-only";
}

TEST(Properties, ParsesElementStrings) {
  const auto parsed = parse_properties("NUM_STREAMS=2, PERF_COUNT=YES");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->at("NUM_STREAMS"), "2");
  EXPECT_EQ(parsed->at("PERF_COUNT"), "YES");
  EXPECT_TRUE(parse_properties("")->empty());
  EXPECT_FALSE(parse_properties("NUM_STREAMS"));
  EXPECT_FALSE(parse_properties("=2"));
}

}  // namespace
}  // namespace het
