#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "devices/register_devices.h"
#include "inference/requests/infer_request.h"
#include "tests/devices/device_testing.h"

// Where the compiler inlines one of a pair only, it takes malloc and delete for a mistake.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace {
/// Of all threads.
std::atomic<size_t> g_allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++g_allocations;
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++g_allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace het::hetero {
namespace {

/// In 100 rounds in which three requests are in flight.
size_t allocations_of(CompiledModel& compiled) {
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 3; ++i) requests.push_back(*compiled.create_infer_request());
  size_t before = 0;
  for (int round = -10; round < 100; ++round) {
    if (round == 0) before = g_allocations;
    for (auto& request : requests) (void)request->start_async();
    for (auto& request : requests) EXPECT_TRUE(request->wait().ok());
  }
  return g_allocations - before;
}

/// A handle of a tensor has two arrays, of its dimensions and strides; one of the input is copied
/// to the worker, one of the output to and fro, and two placeholders afterwards.
constexpr size_t kHandles = 300 * 5 * 2;

TEST(MultiAllocations, OnlyHandlesOfTensorsAreCopied) {
  device_testing::ModelMaker maker("chain");
  Value* x = maker.input({1, 8, 8, 8});
  // Nothing for oneDNN, whose executions allocate more or less.
  maker.output(maker.op("Tanh", {maker.op("Relu", {x})}));
  const std::shared_ptr<Core> core = het::core();
  const auto alone = core->compile_model(maker.model(), "CPU", {{"NUM_STREAMS", "1"}});
  ASSERT_TRUE(alone) << alone.error().message();
  const size_t wanted = allocations_of(**alone);
  EXPECT_GT(g_allocations, 1000u);
  for (const std::string device : {"MULTI:CPU(1)", "MULTI:CPU(3)", "AUTO:CPU(2)"}) {
    const auto compiled = core->compile_model(maker.model(), device, {{"CPU.NUM_STREAMS", "1"}});
    ASSERT_TRUE(compiled) << compiled.error().message();
    EXPECT_LE(allocations_of(**compiled), wanted + kHandles) << device;
  }
}

}  // namespace
}  // namespace het::hetero
