/// What devices/vpu/protocol.md asks of a device program, spoken to it frame by frame: hetero-vpud
/// over a socket and over TCP, or the one at HET_VPU_ADDRESS (with the key of HET_VPU_KEY_FILE):
/// ./check.sh --long vpu_conformance.
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>

#include "devices/vpu/greeting.h"
#include "devices/vpu/shared_memory.h"
#include "inference/writers/onnx_writer.h"
#include "tests/devices/device_testing.h"
#include "tests/devices/vpu/vpu_daemon.h"

namespace het::vpu {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10s;

/// The device that is asked, and how.
struct Target {
  LinkAddress address;
  std::optional<LinkKey> key;
};

class Conformance : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    daemons_ = std::make_unique<device_testing::VpuDaemons>();
    if (std::getenv("HET_VPU_ADDRESS") != nullptr) return;
    key_path_ = daemons_->socket("a") + ".key";
    std::ofstream(key_path_) << std::string(32, 'k');
    chmod(key_path_.c_str(), 0600);
    tcp_ = "tcp://127.0.0.1:" + std::to_string(device_testing::free_port());
    daemons_->start("a", {"--listen", tcp_, "--key-file", key_path_});
  }
  static void TearDownTestSuite() { daemons_.reset(); }

  void SetUp() override {
    const char* const given = std::getenv("HET_VPU_ADDRESS");
    const std::string kind = GetParam();
    std::string address = kind == "tcp" ? tcp_ : daemons_->socket("a");
    std::string key = kind == "tcp" ? key_path_ : "";
    if (given != nullptr) {
      address = given;
      key = std::getenv("HET_VPU_KEY_FILE") ? std::getenv("HET_VPU_KEY_FILE") : "";
      if ((kind == "tcp") != address.starts_with("tcp:")) GTEST_SKIP() << "not asked for";
    }
    target_.address = *LinkAddress::parse(address);
    if (!key.empty()) target_.key = *LinkKey::from_file(key);
  }

  LinkSocket connected() const {
    auto socket = LinkSocket::connect(target_.address);
    EXPECT_TRUE(socket) << socket.error().message();
    return std::move(*socket);
  }
  LinkSocket greeted() {
    LinkSocket socket = connected();
    auto welcome = greet_device(socket, "device", target_.key, target_.address.is_tcp(), 5s);
    EXPECT_TRUE(welcome) << welcome.error().message();
    if (welcome) welcome_ = std::move(*welcome);
    return socket;
  }
  static std::optional<Frame> next(LinkSocket& socket) {
    auto frame = socket.receive(kPatience);
    EXPECT_TRUE(frame) << frame.error().message();
    return frame ? std::move(*frame) : std::nullopt;
  }
  static FrameType answer(LinkSocket& socket, FrameType type, uint64_t sequence,
                          const Bytes& payload, int file = -1) {
    EXPECT_TRUE(socket.send(type, sequence, payload, file).ok());
    const auto frame = next(socket);
    if (!frame) return FrameType::Hello;
    EXPECT_EQ(frame->header.sequence, sequence);
    return frame->header.type;
  }
  static void expect_closed(LinkSocket& socket) {
    for (int i = 0; i < 100; ++i) {
      const auto frame = socket.receive(kPatience);
      if (!frame) {
        EXPECT_EQ(frame.error().code(), StatusCode::DeviceLost) << frame.error().message();
        return;
      }
      if (!*frame) break;
    }
    ADD_FAILURE() << "the stream is still open";
  }

  /// y = |x|, or another operator.
  static Bytes file_of(const char* type) {
    device_testing::ModelMaker maker;
    maker.output(maker.op(type, {maker.input({4})}));
    const std::string text = *write_onnx_bytes(maker.model());
    const auto view = std::as_bytes(std::span(text.data(), text.size()));
    return {view.begin(), view.end()};
  }
  FrameType load(LinkSocket& socket, uint32_t model, const Bytes& file, uint32_t crc) {
    EXPECT_EQ(answer(socket, FrameType::LoadBegin, ++sequence_,
                     LoadBegin{model, file.size(), crc, {}}.encode()),
              FrameType::Acknowledged);
    // In two pieces.
    const size_t half = file.size() / 2;
    for (const auto& [from, to] : {std::pair(size_t{0}, half), std::pair(half, file.size())}) {
      EXPECT_EQ(answer(socket, FrameType::LoadChunk, ++sequence_,
                       LoadChunk{model, from, ByteView(file).subspan(from, to - from)}.encode()),
                FrameType::Acknowledged);
    }
    EXPECT_TRUE(socket.send(FrameType::LoadEnd, ++sequence_, Number{model}.encode()).ok());
    const auto frame = next(socket);
    if (!frame) return FrameType::Hello;
    if (frame->header.type == FrameType::Loaded) {
      const auto loaded = Loaded::decode(frame->payload);
      EXPECT_TRUE(loaded);
      EXPECT_EQ(loaded ? loaded->inputs.size() : 0, 1u);
      EXPECT_EQ(loaded ? loaded->outputs.size() : 0, 1u);
    }
    return frame->header.type;
  }
  FrameType load_relu(LinkSocket& socket, uint32_t model = 1) {
    const Bytes file = file_of("Relu");
    return load(socket, model, file, crc32_of(file));
  }
  static Bytes submission(uint32_t model, ByteView input) {
    Submit submit;
    submit.model = model;
    submit.inputs.push_back({false, 0, 0, input.size(), input});
    submit.outputs.push_back({false, 0, 0, 16, {}});
    return submit.encode();
  }
  /// The answers to submits, by sequence, until there are so many.
  static std::map<uint64_t, Frame> completions(LinkSocket& socket, size_t count) {
    std::map<uint64_t, Frame> all;
    while (all.size() < count) {
      auto frame = next(socket);
      if (!frame) break;
      EXPECT_EQ(frame->header.type, FrameType::Completed);
      EXPECT_TRUE(Completed::decode(frame->payload));
      const uint64_t sequence = frame->header.sequence;
      EXPECT_TRUE(all.emplace(sequence, std::move(*frame)).second) << "completed twice";
    }
    return all;
  }
  static StatusCode code_of(const std::map<uint64_t, Frame>& all, uint64_t sequence) {
    const auto found = all.find(sequence);
    if (found == all.end()) return StatusCode::DeviceLost;
    return Completed::decode(found->second.payload)->code;
  }

  static inline std::unique_ptr<device_testing::VpuDaemons> daemons_;
  static inline std::string tcp_;
  static inline std::string key_path_;
  Target target_;
  Welcome welcome_;
  uint64_t sequence_ = 100;
  const float values_[4] = {-1, 2, -3, 4};
  const ByteView input_ = std::as_bytes(std::span(values_));
};

TEST_P(Conformance, Greets) {
  LinkSocket socket = greeted();
  EXPECT_EQ(welcome_.version, kProtocolVersion);
  EXPECT_FALSE(welcome_.profile.empty());
  EXPECT_FALSE(welcome_.types.empty());
  EXPECT_FALSE(welcome_.operators.empty());
  EXPECT_GT(welcome_.memory_bytes, 0u);
}

TEST_P(Conformance, OtherVersionsAreRefused) {
  LinkSocket socket = connected();
  ASSERT_TRUE(socket.send(FrameType::Hello, 7, Hello{99, 100, "later"}.encode()).ok());
  const auto frame = next(socket);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->header.type, FrameType::Refused);
  expect_closed(socket);
}

TEST_P(Conformance, WhatIsNoFrameEndsTheStream) {
  const Bytes hello = Hello{1, 1, "test"}.encode();
  auto header = header_of(FrameType::Hello, 0, hello);
  for (const size_t byte : {0u, 4u, 12u, 24u, 28u}) {
    LinkSocket socket = connected();
    auto wrong = header;
    wrong[byte] ^= std::byte{1};
    ASSERT_TRUE(socket.send(wrong, hello).ok());
    expect_closed(socket);
  }
  LinkSocket early = connected();
  ASSERT_TRUE(early.send(FrameType::GetTelemetry, 1, {}).ok());
  expect_closed(early);
}

TEST_P(Conformance, WithAKeyOnlyWhoHasItComesIn) {
  if (!target_.key) GTEST_SKIP() << "the device asks for no key here";
  LinkSocket socket = connected();
  const LinkKey other({40, std::byte{'x'}});
  const auto refused = greet_device(socket, "device", other, true, 5s);
  EXPECT_FALSE(refused);
  LinkSocket plain = connected();
  ASSERT_TRUE(plain.send(FrameType::Hello, 0, Hello{1, 1, "test"}.encode()).ok());
  const auto challenge = next(plain);
  ASSERT_TRUE(challenge);
  ASSERT_EQ(challenge->header.type, FrameType::Challenge);
  ASSERT_TRUE(plain.send(FrameType::GetTelemetry, 1, {}).ok());
  expect_closed(plain);
  // One frame that was seen before.
  LinkSocket repeated = greeted();
  repeated.secure(FrameCodes(Mac{}), FrameCodes(Mac{}));
  ASSERT_TRUE(repeated.send(FrameType::GetTelemetry, 1, {}).ok());
  const auto nothing = repeated.receive(kPatience);
  EXPECT_FALSE(nothing) << "frames with another code are answered";
}

TEST_P(Conformance, LoadsAndExecutesInItsOwnOrder) {
  LinkSocket socket = greeted();
  ASSERT_EQ(load_relu(socket), FrameType::Loaded);
  const uint32_t count = std::min(welcome_.credits, 32u);
  for (uint32_t i = 0; i < count; ++i) {
    ASSERT_TRUE(socket.send(FrameType::Submit, 1000 + i, submission(1, input_)).ok());
  }
  const auto all = completions(socket, count);
  ASSERT_EQ(all.size(), count);
  for (const auto& [sequence, frame] : all) {
    const Completed completed = *Completed::decode(frame.payload);
    EXPECT_EQ(completed.code, StatusCode::Ok) << completed.text;
    EXPECT_LT(completed.unit, welcome_.units);
    ASSERT_EQ(completed.outputs.size(), 1u);
    ASSERT_EQ(completed.outputs[0].size(), 16u);
    float got[4];
    std::memcpy(got, completed.outputs[0].data(), sizeof got);
    EXPECT_EQ(std::vector<float>(got, got + 4), (std::vector<float>{0, 2, 0, 4}));
  }
}

TEST_P(Conformance, RefusalsCostTheCommandOnly) {
  LinkSocket socket = greeted();
  const Bytes relu = file_of("Relu");
  EXPECT_EQ(load(socket, 1, relu, crc32_of(relu) + 1), FrameType::Refused) << "another checksum";
  const Bytes rubbish(64, std::byte{7});
  EXPECT_EQ(load(socket, 2, rubbish, crc32_of(rubbish)), FrameType::Refused) << "no model";
  EXPECT_EQ(
      answer(socket, FrameType::LoadBegin, ++sequence_,
             LoadBegin{3, kMaxModelBytes, 0, {}}.encode()),
      welcome_.memory_bytes < kMaxModelBytes / 2 ? FrameType::Refused : FrameType::Acknowledged);
  EXPECT_EQ(answer(socket, FrameType::Unload, ++sequence_, Number{77}.encode()),
            FrameType::Acknowledged);
  EXPECT_EQ(answer(socket, FrameType::UnmapMemory, ++sequence_, Number{77}.encode()),
            FrameType::Acknowledged);
  EXPECT_EQ(load_relu(socket, 4), FrameType::Loaded) << "the stream goes on";
}

TEST_P(Conformance, WrongSubmitsAreCompletedWithAReason) {
  LinkSocket socket = greeted();
  ASSERT_EQ(load_relu(socket), FrameType::Loaded);
  ASSERT_TRUE(socket.send(FrameType::Submit, 1, submission(99, input_)).ok());
  EXPECT_EQ(code_of(completions(socket, 1), 1), StatusCode::NotFound);
  ASSERT_TRUE(socket.send(FrameType::Submit, 2, submission(1, input_.first(8))).ok());
  EXPECT_EQ(code_of(completions(socket, 1), 2), StatusCode::InvalidArgument);
  Submit nowhere;
  nowhere.model = 1;
  nowhere.inputs.push_back({true, 55, 0, 16, {}});
  nowhere.outputs.push_back({false, 0, 0, 16, {}});
  ASSERT_TRUE(socket.send(FrameType::Submit, 3, nowhere.encode()).ok());
  EXPECT_NE(code_of(completions(socket, 1), 3), StatusCode::Ok);
  ASSERT_TRUE(socket.send(FrameType::Submit, 4, submission(1, input_)).ok());
  EXPECT_EQ(code_of(completions(socket, 1), 4), StatusCode::Ok) << "credits come back";
}

TEST_P(Conformance, ProtocolErrorsEndTheStream) {
  const auto closes = [this](FrameType type, const Bytes& payload) {
    LinkSocket socket = greeted();
    ASSERT_TRUE(socket.send(type, 1, payload).ok());
    expect_closed(socket);
  };
  closes(FrameType::Loaded, {});
  closes(static_cast<FrameType>(999), {});
  closes(FrameType::Submit, Bytes(3));
  closes(FrameType::LoadEnd, Number{7}.encode());
  closes(FrameType::LoadChunk, LoadChunk{7, 0, {}}.encode());
  closes(FrameType::MapMemory, MapMemory{1, 4096}.encode());
}

TEST_P(Conformance, SharedMemoryIsReadAndWritten) {
  LinkSocket socket = greeted();
  if (!welcome_.takes_shared_memory) GTEST_SKIP() << "the device takes no shared memory here";
  ASSERT_EQ(load_relu(socket), FrameType::Loaded);
  const auto memory = *SharedMemory::create(4096);
  std::memcpy(memory->host(), values_, sizeof values_);
  FILE* const plain = tmpfile();
  ASSERT_EQ(ftruncate(fileno(plain), 4096), 0);
  EXPECT_EQ(
      answer(socket, FrameType::MapMemory, ++sequence_, MapMemory{1, 4096}.encode(), fileno(plain)),
      FrameType::Refused)
      << "it could shrink";
  fclose(plain);
  EXPECT_EQ(answer(socket, FrameType::MapMemory, ++sequence_, MapMemory{2, 4096}.encode(),
                   memory->file()),
            FrameType::Acknowledged);
  Submit submit;
  submit.model = 1;
  submit.inputs.push_back({true, 2, 0, 16, {}});
  submit.outputs.push_back({true, 2, 64, 16, {}});
  ASSERT_TRUE(socket.send(FrameType::Submit, 1, submit.encode()).ok());
  EXPECT_EQ(code_of(completions(socket, 1), 1), StatusCode::Ok);
  const auto* const got = reinterpret_cast<const float*>(memory->host() + 64);
  EXPECT_EQ(std::vector<float>(got, got + 4), (std::vector<float>{0, 2, 0, 4}));
  for (const auto& [offset, why] : {std::pair(uint64_t{4090}, "beyond the end"), {1, "odd"}}) {
    submit.outputs[0].offset = offset;
    ASSERT_TRUE(socket.send(FrameType::Submit, 2, submit.encode()).ok());
    EXPECT_NE(code_of(completions(socket, 1), 2), StatusCode::Ok) << why;
  }
}

/// With one that is known to be slow; others might have answered in time.
TEST_P(Conformance, MoreThanTheCreditsEndsTheStream) {
  if (target_.key || std::getenv("HET_VPU_ADDRESS") != nullptr) GTEST_SKIP() << "not known as slow";
  daemons_->start("slow", {"--execution-us", "300000"});
  target_.address = *LinkAddress::parse(daemons_->socket("slow"));
  LinkSocket socket = greeted();
  ASSERT_EQ(load_relu(socket), FrameType::Loaded);
  for (uint32_t i = 0; i < welcome_.credits; ++i) {
    ASSERT_TRUE(socket.send(FrameType::Submit, 1 + i, submission(1, input_)).ok());
  }
  EXPECT_EQ(completions(socket, welcome_.credits).size(), welcome_.credits);
  for (uint32_t i = 0; i <= welcome_.credits; ++i) {
    ASSERT_TRUE(socket.send(FrameType::Submit, 100 + i, submission(1, input_)).ok());
  }
  expect_closed(socket);
}

TEST_P(Conformance, CancelResetAndTelemetry) {
  LinkSocket socket = greeted();
  ASSERT_EQ(load_relu(socket), FrameType::Loaded);
  ASSERT_TRUE(socket.send(FrameType::Submit, 1, submission(1, input_)).ok());
  ASSERT_TRUE(socket.send(FrameType::Cancel, 1, {}).ok());
  ASSERT_TRUE(socket.send(FrameType::Cancel, 4711, {}).ok());
  const StatusCode code = code_of(completions(socket, 1), 1);
  EXPECT_TRUE(code == StatusCode::Ok || code == StatusCode::Cancelled);
  ASSERT_TRUE(socket.send(FrameType::GetTelemetry, ++sequence_, {}).ok());
  const auto frame = next(socket);
  ASSERT_TRUE(frame && frame->header.type == FrameType::Telemetry);
  const auto telemetry = Telemetry::decode(frame->payload);
  ASSERT_TRUE(telemetry);
  EXPECT_EQ(telemetry->units.size(), welcome_.units);
  EXPECT_EQ(answer(socket, FrameType::Reset, ++sequence_, {}), FrameType::Acknowledged);
  ASSERT_TRUE(socket.send(FrameType::Submit, 2, submission(1, input_)).ok());
  EXPECT_EQ(code_of(completions(socket, 1), 2), StatusCode::NotFound);
}

INSTANTIATE_TEST_SUITE_P(Device, Conformance, testing::Values("unix", "tcp"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace het::vpu
