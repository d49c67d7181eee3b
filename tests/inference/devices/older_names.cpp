/// Names and values as OpenVINO's guides from 2019 to 2022 print them.

#include "inference/devices/older_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "inference/devices/properties.h"

namespace het {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> entries(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    parts.emplace_back(list.substr(0, list.find('|')));
    list.remove_prefix(std::min(parts.back().size() + 1, list.size()));
  }
  return parts;
}

/// A device that understands the row's property.
std::string device_of(const PropertyDef& def) {
  return std::string(def.devices == "*" ? "CPU" : def.devices.substr(0, def.devices.find(',')));
}

const PropertyDef* table_row(std::string_view name) {
  const auto it = std::ranges::find(property_table(), name, &PropertyDef::name);
  return it == property_table().end() ? nullptr : &*it;
}

TEST(OlderNames, EachStandsForARowOfTheTableOrSaysWhatItWas) {
  const auto rows = older_names();
  for (size_t i = 1; i < rows.size(); ++i) EXPECT_LT(rows[i - 1].old_name, rows[i].old_name);
  for (const OlderName& row : rows) {
    EXPECT_EQ(row.name.empty(), !row.doc.empty()) << row.old_name;
    EXPECT_EQ(without_key_prefix(row.old_name), row.old_name);
    if (row.name.empty()) {
      EXPECT_EQ(table_row(row.old_name), nullptr) << row.old_name << " hides a row of the table";
      continue;
    }
    const PropertyDef* def = table_row(row.name);
    ASSERT_NE(def, nullptr) << row.old_name;
    for (const std::string& entry : entries(row.values)) {
      const size_t equals = entry.find('=');
      ASSERT_NE(equals, std::string::npos) << row.old_name << " has " << entry;
      const std::string device = row.device.empty() ? device_of(*def) : std::string(row.device);
      const auto checked = validate_properties(
          {{"KEY_" + std::string(row.old_name), entry.substr(0, equals)}}, device);
      ASSERT_TRUE(checked) << checked.error().message();
      EXPECT_EQ(*checked, (Properties{{std::string(row.name), entry.substr(equals + 1)}}));
    }
  }
}

TEST(OlderNames, EveryPropertyOfTheTableMayCarryThePrefix) {
  for (const PropertyDef& def : property_table()) {
    const auto found = find_property("KEY_" + std::string(def.name), device_of(def));
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(*found, &def);
  }
  EXPECT_FALSE(find_property("KEY_KEY_PERF_COUNT", "CPU"));
  EXPECT_TRUE(is_preparation_property("KEY_BATCH_SIZE"));
}

struct Meaning {
  std::string device;
  Properties given;
  Properties meant;
};

TEST(OlderNames, MeanWhatTheGuidesSay) {
  const std::vector<Meaning> table = {
      {"CPU", {{"KEY_CPU_THREADS_NUM", "3"}}, {{"INFERENCE_NUM_THREADS", "3"}}},
      {"CPU", {{"KEY_CPU_BIND_THREAD", "NUMA"}}, {{"ENABLE_CPU_PINNING", "NUMA"}}},
      {"CPU", {{"CPU_BIND_THREAD", "HYBRID_AWARE"}}, {{"ENABLE_CPU_PINNING", "YES"}}},
      {"CPU", {{"AFFINITY", "NONE"}}, {{"ENABLE_CPU_PINNING", "NO"}}},
      {"CPU", {{"KEY_EXCLUSIVE_ASYNC_REQUESTS", "YES"}}, {{"EXCLUSIVE_ASYNC_REQUESTS", "YES"}}},
      {"CPU", {{"KEY_PERF_COUNT", "YES"}}, {{"PERF_COUNT", "YES"}}},
      {"CPU", {{"KEY_ENFORCE_BF16", "NO"}}, {{"INFERENCE_PRECISION_HINT", "f32"}}},
      {"CPU", {{"ENFORCE_BF16", "true"}}, {{"INFERENCE_PRECISION_HINT", "bf16"}}},
      {"CPU",
       {{"KEY_CPU_THROUGHPUT_STREAMS", "KEY_CPU_THROUGHPUT_NUMA"}},
       {{"NUM_STREAMS", "NUMA"}}},
      {"GPU", {{"KEY_CLDNN_PLUGIN_THROTTLE", "1"}}, {{"GPU_QUEUE_THROTTLE", "LOW"}}},
      {"GPU", {{"KEY_GPU_PLUGIN_PRIORITY", "0"}}, {{"GPU_QUEUE_PRIORITY", "DEFAULT"}}},
      {"GPU", {{"MODEL_PRIORITY", "MODEL_PRIORITY_MED"}}, {{"MODEL_PRIORITY", "MEDIUM"}}},
      {"HETERO:GPU,CPU",
       {{"KEY_HETERO_DUMP_GRAPH_DOT", "YES"}},
       {{"HETERO_DUMP_GRAPH_DOT", "YES"}}},
      {"HETERO:GPU,CPU", {{"GPU.KEY_PERF_COUNT", "YES"}}, {{"GPU.PERF_COUNT", "YES"}}},
      {"HETERO:GPU,CPU",
       {{"GPU.KEY_CLDNN_PLUGIN_THROTTLE", "2"}},
       {{"GPU.GPU_QUEUE_THROTTLE", "MEDIUM"}}},
      {"MULTI:CPU,GPU",
       {{"KEY_CPU_THROUGHPUT_STREAMS", "4"}, {"KEY_GPU_THROUGHPUT_STREAMS", "GPU_THROUGHPUT_AUTO"}},
       {{"CPU.NUM_STREAMS", "4"}, {"GPU.NUM_STREAMS", "AUTO"}}},
      {"HETERO:GPU,CPU",
       {{"DEVICE_PROPERTIES", "{CPU:{KEY_CPU_THREADS_NUM:2,KEY_DYN_BATCH_ENABLED:NO}}"}},
       {{"CPU.INFERENCE_NUM_THREADS", "2"}}},
      {"BATCH:GPU(8)", {{"GPU_THROUGHPUT_STREAMS", "2"}}, {{"NUM_STREAMS", "2"}}},
      {"VPU", {{"VPU_HDDL_GRAPH_TAG", "a"}}, {{"HDDL_GRAPH_TAG", "a"}}},
      {"VPU",
       {{"MYRIAD_PERF_REPORT_MODE", "MYRIAD_PER_LAYER"}},
       {{"VPU_PERF_REPORT_MODE", "PER_LAYER"}}},
      // Twice the same is no contradiction.
      {"CPU",
       {{"CPU_THREADS_NUM", "3"}, {"INFERENCE_NUM_THREADS", "3"}},
       {{"INFERENCE_NUM_THREADS", "3"}}},
      // What is so here anyway.
      {"CPU", {{"KEY_DYN_BATCH_ENABLED", "NO"}, {"KEY_DYN_BATCH_LIMIT", "-1"}}, {}},
      {"CPU", {{"DYN_BATCH_ENABLED", "false"}, {"DYN_BATCH_LIMIT", "0"}}, {}},
      {"GPU", {{"KEY_TUNING_MODE", "TUNING_DISABLED"}}, {}},
  };
  for (const Meaning& row : table) {
    const auto checked = validate_properties(row.given, row.device);
    ASSERT_TRUE(checked) << checked.error().message();
    EXPECT_EQ(*checked, row.meant);
  }
}

struct Refusal {
  std::string device;
  Properties given;
  std::string part;
};

TEST(OlderNames, WithoutAMeaningHereTheySayWhatToUseInstead) {
  const std::vector<Refusal> table = {
      {"GPU", {{"KEY_TUNING_MODE", "TUNING_CREATE"}}, "CACHE_DIR"},
      {"GPU", {{"KEY_TUNING_FILE", "tuning.json"}}, "CACHE_DIR"},
      {"GPU", {{"CLDNN_GRAPH_DUMPS_DIR", "d"}}, "HETERO_DUMP_GRAPH_DOT"},
      {"CPU", {{"KEY_LOG_LEVEL", "LOG_DEBUG"}}, "GST_DEBUG"},
      {"CPU", {{"KEY_DYN_BATCH_ENABLED", "YES"}}, "BATCH_SIZE"},
      {"GPU", {{"KEY_DEVICE_ID", "1"}}, "GPU.1"},
      {"CPU", {{"KEY_DUMP_EXEC_GRAPH_AS_DOT", "g"}}, "hetero bench -pc"},
      {"CPU", {{"GNA_SCALE_FACTOR_0", "2048"}}, "GNA"},
      {"VPU", {{"MYRIAD_NUMBER_OF_SHAVES", "4"}}, "Myriad"},
      {"HETERO:FPGA,CPU", {{"KEY_DLIA_ARCH_ROOT_DIR", "d"}}, "FPGA"},
      {"HETERO:GPU,CPU", {{"GPU.KEY_TUNING_FILE", "f"}}, "CACHE_DIR"},
      {"HETERO:GPU,CPU", {{"DEVICE_PROPERTIES", "{GPU:{KEY_TUNING_FILE:f}}"}}, "CACHE_DIR"},
      {"GPU", {{"KEY_CPU_THROUGHPUT_STREAMS", "2"}}, "NUM_STREAMS of device CPU"},
      {"MULTI:GPU,REF", {{"CPU_THROUGHPUT_STREAMS", "2"}}, "not in MULTI:GPU,REF"},
      {"CPU", {{"ENFORCE_BF16", "MAYBE"}}, "MAYBE"},
      {"GPU", {{"CLDNN_PLUGIN_THROTTLE", "4"}}, "'4'"},
      {"CPU", {{"KEY_PERF_COUNTS", "YES"}}, "did you mean PERF_COUNT?"},
      {"CPU", {{"CPU_THREADS_NUM", "3"}, {"INFERENCE_NUM_THREADS", "4"}}, "is given twice"},
  };
  for (const Refusal& row : table) {
    const auto checked = validate_properties(row.given, row.device);
    ASSERT_FALSE(checked) << row.given.begin()->first;
    EXPECT_THAT(checked.error().message(), HasSubstr(row.part));
  }
  EXPECT_THAT(find_property("METRIC_NUMBER_OF_EXEC_INFER_REQUESTS", "CPU").error().message(),
              HasSubstr("a count of requests"));
}

TEST(OlderNames, DefaultsAndReplacementsKnowEveryNameOfAProperty) {
  Properties properties{{"KEY_CPU_BIND_THREAD", "YES"}, {"KEY_PERF_COUNT", "NO"}};
  set_default(properties, "ENABLE_CPU_PINNING", "NUMA");
  set_default(properties, "NUM_STREAMS", "2");
  replace_property(properties, "PERF_COUNT", "YES");
  EXPECT_EQ(
      properties,
      (Properties{{"KEY_CPU_BIND_THREAD", "YES"}, {"NUM_STREAMS", "2"}, {"PERF_COUNT", "YES"}}));
}

}  // namespace
}  // namespace het
