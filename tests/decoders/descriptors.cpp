#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "inference/model_proc.h"

namespace het {
namespace {

TEST(Descriptors, AllOfThemParse) {
  const char* root = std::getenv("HET_SOURCE_ROOT");
  if (root == nullptr) GTEST_SKIP() << "HET_SOURCE_ROOT does not name the source tree";
  size_t parsed = 0;
  for (const char* folder : {"pipelines/models", "pipelines/demo/models"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(root) / folder)) {
      if (entry.path().extension() != ".json") continue;
      const auto model_proc = read_model_proc(entry.path().string());
      EXPECT_TRUE(model_proc) << model_proc.error().message();
      ++parsed;
    }
  }
  EXPECT_GE(parsed, 13u);
}

}  // namespace
}  // namespace het
