#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "devices/register_devices.h"
#include "inference/ops/op.h"
#include "tests/oracle/operators_page.h"
#include "tests/oracle/random_case.h"

namespace het::oracle {
namespace {

uint64_t number_from(const char* variable, uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

std::string test_name(const Generator& generator) {
  std::string name(generator.domain);
  if (!name.empty()) name += '_';
  name += generator.type;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

/// FNV-1a: operators draw different numbers from the same seed.
uint64_t hash(const std::string& text) {
  uint64_t value = 14695981039346656037u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return value % 1'000'000;
}

/// Follows smaller cases as long as they fail in the same manner.
std::string shrink(Core& core, const Generator& generator, const Choices& first,
                   const std::string& first_failure) {
  constexpr int kTries = 400;
  const auto kind = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  Choices choices = first;
  std::string failure = first_failure;
  int tries = 0;
  for (bool shrunk = true; shrunk && tries < kTries;) {
    shrunk = false;
    for (const Choices& candidate : smaller(choices)) {
      if (++tries > kTries) break;
      const RandomCase random_case(generator, candidate);
      const std::string text = judge(core, random_case).failure;
      if (text.empty() || kind(text) != kind(failure)) continue;
      choices = random_case.choices;
      failure = text;
      shrunk = true;
      break;
    }
  }
  const RandomCase random_case(generator, choices.again());
  return failure + "\n  " + random_case.describe() +
         "\nRepeat with: HET_ORACLE_CASE=" + random_case.choices.text() +
         " build-check/tests/oracle/test_oracle --gtest_filter='*/" + test_name(generator) + "'";
}

class Oracle : public testing::TestWithParam<const Generator*> {};

TEST_P(Oracle, DevicesAgree) {
  const std::shared_ptr<Core> core = het::core();
  const Generator& generator = *GetParam();
  if (const char* text = std::getenv("HET_ORACLE_CASE")) {
    const RandomCase random_case(generator, Choices::parse(text));
    std::cout << random_case.describe() << "\n";
    const std::string failure = judge(*core, random_case).failure;
    if (!failure.empty()) FAIL() << shrink(*core, generator, random_case.choices, failure);
    return;
  }
  const uint64_t seed = number_from("HET_ORACLE_SEED", 1);
  const uint64_t cases = number_from("HET_ORACLE_CASES", 8);
  const uint64_t accelerated_cases = number_from("HET_ORACLE_ACCELERATED_CASES", 2);
  const bool verbose = std::getenv("HET_ORACLE_VERBOSE") != nullptr;
  uint64_t refused = 0;
  std::map<std::string, uint64_t> refusals;
  for (uint64_t i = 0; i < cases; ++i) {
    const RandomCase random_case(generator,
                                 Choices(hash(test_name(generator)) + seed * 1'000'000 + i));
    if (verbose) std::cerr << random_case.choices.text() << " " << random_case.describe() << "\n";
    const Verdict verdict = judge(*core, random_case, i < accelerated_cases);
    refused += verdict.refused ? 1 : 0;
    for (const auto& [device, reason] : verdict.refusals) {
      ++refusals[fmt::format("{} refuses: {}", device, reason)];
    }
    if (verdict.failure.empty()) continue;
    FAIL() << "case " << i << " of seed " << seed << ": "
           << shrink(*core, generator, random_case.choices, verdict.failure);
  }
  for (const auto& [text, count] : refusals)
    std::cout << count << " of " << cases << ": " << text << "\n";
  EXPECT_LE(refused * 2, cases) << "REF refuses most cases of the generator";
}

INSTANTIATE_TEST_SUITE_P(Seeded, Oracle, testing::ValuesIn(all_generators()),
                         [](const auto& parameter) { return test_name(*parameter.param); });

TEST(OracleTables, EveryOperatorHasAGenerator) {
  std::cout << "seed " << number_from("HET_ORACLE_SEED", 1) << ", "
            << number_from("HET_ORACLE_CASES", 8) << " cases an operator\n";
  using Name = std::pair<std::string_view, std::string_view>;
  std::set<Name> listed;
  for (const Generator* generator : all_generators()) {
    EXPECT_TRUE(listed.insert({generator->domain, generator->type}).second)
        << generator->type << " is listed twice";
  }
  for (const OpDef* op : op_registry().all()) {
    EXPECT_EQ(listed.erase({op->domain, op->type}), 1u)
        << "operator '" << op->type << "' of domain '" << op->domain
        << "' has no generator; add a row to a table of tests/oracle";
  }
  for (const Name& name : listed) {
    ADD_FAILURE() << "no operator '" << name.second << "' of domain '" << name.first << "'";
  }
}

TEST(OperatorsPage, IsNotStale) {
  const char* root = std::getenv("HET_SOURCE_ROOT");
  ASSERT_NE(root, nullptr) << "HET_SOURCE_ROOT must name the source tree; meson sets it";
  const std::vector<std::string> devices = het::core()->available_devices();
  if (std::ranges::none_of(devices, [](const std::string& name) { return name == "GPU"; })) {
    GTEST_SKIP() << "the page says what GPU runs, and OpenCL finds no single device here";
  }
  const std::string page = operators_page(*het::core(), root);
  std::ifstream file(std::string(root) + "/docs/operators.md");
  std::ostringstream committed;
  committed << file.rdbuf();
  if (page == committed.str()) return;
  std::istringstream wanted(page), found(committed.str());
  for (std::string a, b; std::getline(wanted, a);) {
    if (!std::getline(found, b)) b.clear();
    ASSERT_EQ(a, b) << "docs/operators.md is stale; write it anew with "
                       "build-check/tests/oracle/print_operators > docs/operators.md";
  }
  FAIL() << "docs/operators.md has more lines than print_operators prints; write it anew";
}

}  // namespace
}  // namespace het::oracle
