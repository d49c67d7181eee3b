#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "devices/register_devices.h"
#include "inference/core.h"
#include "tests/devices/device_testing.h"

namespace het::hetero {

/// Items of their own, one after the other and as a batch; the outputs are equal, sizes too.
inline void expect_batch_as_alone(const Model& model, const std::string& inner, size_t batch) {
  const std::shared_ptr<Core> shared = core();
  const std::string device = fmt::format("BATCH:{}({})", inner, batch);
  const auto single = shared->compile_model(model, inner, {});
  const auto batched = shared->compile_model(model, device, {{"AUTO_BATCH_TIMEOUT", "20000"}});
  ASSERT_TRUE(single) << single.error().message();
  ASSERT_TRUE(batched) << batched.error().message();
  const auto rows = shared->query_model(model, device, {});
  ASSERT_TRUE(rows);
  for (const NodeSupport& row : *rows) EXPECT_TRUE(row.supported()) << row.reason;
  const auto alone = *(*single)->create_infer_request();
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (size_t i = 0; i < batch; ++i) requests.push_back(*(*batched)->create_infer_request());
  for (unsigned round = 0; round < 2; ++round) {
    std::vector<std::vector<Tensor>> inputs(batch);
    for (size_t i = 0; i < batch; ++i) {
      for (size_t p = 0; p < (*single)->inputs().size(); ++p) {
        inputs[i].push_back(
            device_testing::random_tensor((*single)->inputs()[p].desc.shape,
                                          static_cast<unsigned>(100 * round + 10 * i + p), 2.0f));
        ASSERT_TRUE(requests[i]->set_input(p, inputs[i][p]).ok());
      }
      ASSERT_TRUE(requests[i]->start_async().ok());
    }
    for (size_t i = 0; i < batch; ++i) {
      const Status status = requests[i]->wait();
      ASSERT_TRUE(status.ok()) << status.message();
      for (size_t p = 0; p < inputs[i].size(); ++p) {
        ASSERT_TRUE(alone->set_input(p, inputs[i][p]).ok());
      }
      ASSERT_TRUE(alone->infer().ok());
      for (size_t o = 0; o < alone->outputs().size(); ++o) {
        EXPECT_EQ(to_string(requests[i]->output(o).desc()), to_string(alone->output(o).desc()));
        const auto got = *to_float_vector(requests[i]->output(o));
        const auto wanted = *to_float_vector(alone->output(o));
        ASSERT_EQ(got.size(), wanted.size());
        for (size_t k = 0; k < got.size(); ++k) {
          ASSERT_NEAR(got[k], wanted[k], 1e-4f) << "item " << i << ", output " << o << " at " << k;
        }
      }
    }
  }
}

}  // namespace het::hetero
