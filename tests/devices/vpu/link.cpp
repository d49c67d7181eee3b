/// The bytes of the link: messages there and back, and what is none.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

#include "devices/vpu/fair_queue.h"
#include "devices/vpu/link_frame.h"
#include "devices/vpu/link_messages.h"
#include "devices/vpu/link_socket.h"
#include "devices/vpu/shared_memory.h"

namespace het::vpu {
namespace {

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(VpuFairQueue, FlowsTakeTurnsHoweverManyItemsTheyHave) {
  FairQueue<int> queue;
  for (int i = 0; i < 6; ++i) queue.add("greedy", i);
  queue.add("a", 100);
  queue.add("b", 200);
  std::vector<int> order;
  // One that comes again each time gets every other turn, not all.
  for (int i = 0; i < 6; ++i) {
    order.push_back(*queue.take());
    if (order.back() >= 100 && order.back() < 200) queue.add("a", order.back() + 1);
  }
  EXPECT_EQ(order, (std::vector<int>{0, 100, 200, 1, 101, 2}));
  EXPECT_TRUE(queue.remove(3));
  EXPECT_FALSE(queue.remove(3));
  EXPECT_EQ(queue.take_if([](int i) { return i < 100; }), 4);
  EXPECT_EQ(queue.take_if([](int i) { return i > 500; }), std::nullopt);
  EXPECT_EQ(queue.take(), 102);
  EXPECT_EQ(queue.take(), 5);
  EXPECT_TRUE(queue.empty());
}

TEST(VpuFrame, HeaderThereAndBack) {
  const Bytes payload = bytes_of({1, 2, 3});
  const auto bytes = header_of(FrameType::Submit, 0x1122334455667788, payload);
  const auto header = parse_header(bytes, kMaxPayloadBytes);
  ASSERT_TRUE(header) << header.error().message();
  EXPECT_EQ(header->type, FrameType::Submit);
  EXPECT_EQ(header->payload_bytes, 3u);
  EXPECT_EQ(header->sequence, 0x1122334455667788u);
  EXPECT_TRUE(check_payload(*header, payload).ok());
  // The bytes of protocol.md.
  EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 8), bytes_of({'H', 'V', 'P', 'U', 1, 0, 12, 0}));
  EXPECT_EQ(bytes[16], std::byte{0x88});
}

TEST(VpuFrame, EveryChangedBitIsSeen) {
  const Bytes payload = bytes_of({7, 8, 9, 10});
  const auto bytes = header_of(FrameType::Hello, 5, payload);
  for (size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
    auto changed = bytes;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(parse_header(changed, kMaxPayloadBytes)) << bit;
  }
  const auto header = parse_header(bytes, kMaxPayloadBytes);
  Bytes other = payload;
  other[2] ^= std::byte{4};
  EXPECT_FALSE(check_payload(*header, other).ok());
  EXPECT_FALSE(check_payload(*header, ByteView(payload).first(3)).ok());
  EXPECT_FALSE(parse_header(bytes, 3)) << "above the limit";
}

/// Decodes what was encoded, every shorter piece of it, a longer one, and many with changed bytes:
/// only the first is a message, the others end in an error or another message, never elsewhere.
template <class T>
void there_and_back(const T& message) {
  const Bytes bytes = message.encode();
  const auto decoded = T::decode(bytes);
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded->encode(), bytes);
  std::mt19937 generator(1);
  for (int i = 0; i < 3000; ++i) {
    Bytes changed = bytes;
    for (int k = 0; k < 3; ++k)
      if (!changed.empty())
        changed[generator() % changed.size()] = static_cast<std::byte>(generator());
    (void)T::decode(changed);
  }
}

template <class T>
void no_other_length(const T& message) {
  const Bytes bytes = message.encode();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(T::decode(ByteView(bytes).first(size))) << size << " of " << bytes.size();
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(T::decode(longer));
}

TEST(VpuMessages, ThereAndBack) {
  const Hello hello{1, 2, "someone"};
  there_and_back(hello);
  no_other_length(hello);
  const Welcome welcome{1,
                        "myriad",
                        "program 1",
                        4,
                        1,
                        512,
                        true,
                        true,
                        {ElementType::Float16},
                        {"Conv", "het.NormalizeL2"}};
  there_and_back(welcome);
  no_other_length(welcome);
  EXPECT_EQ(Welcome::decode(welcome.encode())->operators[1], "het.NormalizeL2");
  there_and_back(Refusal{StatusCode::OutOfMemory, "full"});
  no_other_length(Refusal{StatusCode::OutOfMemory, "full"});
  const LoadBegin begin{3, 1000, 0xabcdef, {"graph", "stream", "device", true, -7, true}};
  there_and_back(begin);
  no_other_length(begin);
  there_and_back(Number{9});
  there_and_back(MapMemory{2, 4096});
  const Telemetry telemetry{true, {{"tag", 41000, 500, 1 << 20, 77, 3}, {}}};
  there_and_back(telemetry);
  no_other_length(telemetry);
  there_and_back(Challenge{*new_nonce()});
  no_other_length(Challenge{*new_nonce()});
  there_and_back(ChallengeResponse{*new_nonce(), *new_nonce()});
  no_other_length(ChallengeResponse{*new_nonce(), *new_nonce()});
  there_and_back(Proof{*new_nonce()});
  const Loaded loaded{{{"x", {ElementType::UInt8, {1, 3, 4, 5}, Layout::Plain}}},
                      {{"y", {ElementType::Float32, {}, Layout::Plain}}},
                      {0, 5}};
  there_and_back(loaded);
  no_other_length(loaded);
  const Bytes content = bytes_of({1, 2, 3, 4});
  const Submit submit{7,
                      true,
                      "stream",
                      {{true, 5, 64, 100, {}}, {false, 0, 0, 4, content}},
                      {{true, 5, 192, 8, {}}}};
  there_and_back(submit);
  no_other_length(submit);
  EXPECT_EQ(Submit::decode(submit.encode())->inputs[1].content.size(), 4u);
  const Completed completed{StatusCode::Ok, "", 2, 5, 10, 20, {{"node", "jit", 5}}, {content}};
  there_and_back(completed);
  no_other_length(completed);
}

TEST(VpuMessages, LimitsAreKept) {
  EXPECT_FALSE(LoadBegin::decode(LoadBegin{1, kMaxModelBytes + 1, 0}.encode()));
  EXPECT_FALSE(LoadBegin::decode(LoadBegin{1, 0, 0}.encode()));
  EXPECT_FALSE(MapMemory::decode(MapMemory{1, kMaxTensorBytes + 1}.encode()));
  EXPECT_FALSE(Refusal::decode(Refusal{StatusCode::Ok, ""}.encode()));
  Welcome welcome{1, "p", "f", 0, 1, 1, true, true, {}, {}};
  EXPECT_FALSE(Welcome::decode(welcome.encode())) << "no credits";
  const Bytes large(kChunkBytes + 1);
  EXPECT_FALSE(LoadChunk::decode(LoadChunk{1, 0, large}.encode()));
}

TEST(VpuAddress, PathsAndTcp) {
  EXPECT_EQ(LinkAddress::parse("/run/a.sock")->path, "/run/a.sock");
  const auto tcp = LinkAddress::parse("tcp://[::1]:7110");
  ASSERT_TRUE(tcp);
  EXPECT_TRUE(tcp->is_tcp());
  EXPECT_EQ(tcp->host, "::1");
  EXPECT_EQ(tcp->port, "7110");
  for (const char* wrong : {"", "tcp://", "tcp://host", "tcp://host:", "tcp://:1", "udp://h:1"}) {
    EXPECT_FALSE(LinkAddress::parse(wrong)) << wrong;
  }
}

/// RFC 4231, test case 2 of HMAC-SHA-256 in two parts.
TEST(VpuSecurity, TheCodeIsHmacSha256) {
  const std::string secret = "Jefe";
  const auto bytes = [](const std::string& text) {
    const auto view = std::as_bytes(std::span(text.data(), text.size()));
    return Bytes(view.begin(), view.end());
  };
  const Mac mac = LinkKey(bytes(secret)).mac("what do ya want ", bytes("for noth"), bytes("ing?"));
  EXPECT_EQ(Bytes(mac.begin(), mac.begin() + 8),
            bytes_of({0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e}));
}

TEST(VpuSecurity, KeyFilesAreChecked) {
  const std::string path = testing::TempDir() + "vpu_key";
  EXPECT_EQ(LinkKey::from_file(path + "_none").error().code(), StatusCode::NotFound);
  std::ofstream(path) << std::string(31, 'k') << "\n";
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(LinkKey::from_file(path).error().code(), StatusCode::InvalidArgument);
  std::ofstream(path) << std::string(32, 'k') << "\n";
  EXPECT_TRUE(LinkKey::from_file(path));
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_EQ(LinkKey::from_file(path).error().code(), StatusCode::InvalidArgument)
      << "for everybody";
  std::filesystem::remove(path);
}

struct Pair {
  Pair() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    raw = File(ends[0]);
    socket.emplace(File(ends[1]));
  }
  File raw;
  std::optional<LinkSocket> socket;
};

constexpr std::chrono::milliseconds kShort{20};

TEST(VpuSocket, FramesComeWholeHoweverTheyAreCut) {
  Pair pair;
  const Bytes payload = bytes_of({1, 2, 3, 4, 5});
  const auto header = header_of(FrameType::Telemetry, 9, payload);
  Bytes wire(header.begin(), header.end());
  wire.insert(wire.end(), payload.begin(), payload.end());
  for (const std::byte byte : wire) {
    auto nothing = pair.socket->receive(std::chrono::milliseconds(0));
    ASSERT_TRUE(nothing);
    EXPECT_FALSE(*nothing);
    ASSERT_EQ(write(pair.raw.number(), &byte, 1), 1);
  }
  auto frame = pair.socket->receive(kShort);
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->payload, payload);
}

TEST(VpuSocket, WhatIsNoFrameAndTheEndAreErrors) {
  Pair pair;
  const Bytes rubbish(64, std::byte{0x41});
  ASSERT_EQ(write(pair.raw.number(), rubbish.data(), rubbish.size()), 64);
  const auto frame = pair.socket->receive(kShort);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code(), StatusCode::ParseError);
  Pair other;
  other.raw = File();
  const auto end = other.socket->receive(kShort);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code(), StatusCode::DeviceLost);
  EXPECT_FALSE(other.socket->send(FrameType::Hello, 0, {}).ok());
}

/// Frames with codes: none can be changed, repeated, left out or come from who has another key.
TEST(VpuSocket, FramesWithCodesComeInTheirOrderOnly) {
  const auto pair_of = [](const Mac& one, const Mac& two) {
    auto pair = std::make_unique<Pair>();
    auto other = std::make_unique<LinkSocket>(std::move(pair->raw));
    other->secure(FrameCodes(one), FrameCodes(two));
    pair->socket->secure(FrameCodes(two), FrameCodes(one));
    return std::pair(std::move(pair), std::move(other));
  };
  const Mac one = *new_nonce();
  const Mac two = *new_nonce();
  const Bytes payload = bytes_of({1, 2, 3});
  auto [pair, other] = pair_of(one, two);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(other->send(FrameType::Unload, 1, payload).ok());
    auto frame = pair->socket->receive(kShort);
    ASSERT_TRUE(frame && *frame);
    EXPECT_EQ((*frame)->payload, payload);
  }
  // As somebody in between would send it again.
  FrameCodes codes(one);
  const auto header = header_of(FrameType::Cancel, 1, payload);
  for (int i = 0; i < 4; ++i) (void)codes.next(header, payload);
  other->secure(codes, FrameCodes(two));
  ASSERT_TRUE(other->send(FrameType::Cancel, 1, payload).ok());
  EXPECT_FALSE(pair->socket->receive(kShort)) << "one is left out";
  auto [wrong_pair, wrong_other] = pair_of(one, two);
  wrong_other->secure(FrameCodes(two), FrameCodes(one));
  ASSERT_TRUE(wrong_other->send(FrameType::Cancel, 1, payload).ok());
  EXPECT_FALSE(wrong_pair->socket->receive(kShort)) << "another key";
}

TEST(VpuSocket, MemoryIsSharedAndCannotShrink) {
  Pair pair;
  LinkSocket other(std::move(pair.raw));
  const auto memory = SharedMemory::create(4096);
  ASSERT_TRUE(memory) << memory.error().message();
  (*memory)->host()[17] = std::byte{5};
  ASSERT_TRUE(
      other.send(FrameType::MapMemory, 1, MapMemory{1, 4096}.encode(), (*memory)->file()).ok());
  auto frame = pair.socket->receive(kShort);
  ASSERT_TRUE(frame && *frame);
  ASSERT_TRUE((*frame)->file);
  EXPECT_NE(ftruncate((*frame)->file.number(), 0), 0) << "sealed";
  EXPECT_FALSE(SharedMemory::open(File(dup((*frame)->file.number())), 8192)) << "another size";
  const auto seen = SharedMemory::open(std::move((*frame)->file), 4096);
  ASSERT_TRUE(seen) << seen.error().message();
  EXPECT_EQ((*seen)->host()[17], std::byte{5});
  FILE* const plain = tmpfile();
  ASSERT_EQ(ftruncate(fileno(plain), 4096), 0);
  EXPECT_FALSE(SharedMemory::open(File(dup(fileno(plain))), 4096)) << "a file may shrink";
  fclose(plain);
}

/// A file that comes with a frame goes with it: who sends many costs nobody his descriptors.
TEST(VpuSocket, FilesThatNobodyTakesAreClosed) {
  Pair pair;
  LinkSocket other(std::move(pair.raw));
  const auto memory = SharedMemory::create(4096);
  ASSERT_TRUE(memory);
  std::optional<int> first;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(
        other.send(FrameType::MapMemory, 1, MapMemory{1, 4096}.encode(), (*memory)->file()).ok());
    auto frame = pair.socket->receive(kShort);
    ASSERT_TRUE(frame && *frame);
    if (!first) first = (*frame)->file.number();
    EXPECT_EQ((*frame)->file.number(), *first) << "the lowest free number";
  }
}

}  // namespace
}  // namespace het::vpu
