/// VPUs over TCP, that come and go, and with operators of one's own.
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "devices/vpu/connection.h"
#include "tests/devices/vpu/vpu_testing.h"

namespace het::device_testing {
namespace {

using testing::HasSubstr;

class VpuRemote : public Vpu {
 protected:
  ~VpuRemote() override {
    EXPECT_TRUE(core_->set_property("VPU", {{"VPU_ADDRESSES", ""}, {"VPU_KEY_FILE", ""}}).ok());
  }
  std::string key_file(const std::string& name, char letter) const {
    const std::string path = daemons_.socket(name) + ".key";
    std::ofstream(path) << std::string(40, letter) << "\n";
    EXPECT_EQ(chmod(path.c_str(), 0600), 0);
    return path;
  }
  void use(const std::string& key) {
    const Status set =
        core_->set_property("VPU", {{"VPU_ADDRESSES", address_}, {"VPU_KEY_FILE", key}});
    EXPECT_TRUE(set.ok()) << set.message();
  }
  Status failure() {
    const auto compiled = core_->compile_model(small_.model(), "VPU");
    return compiled ? Status() : compiled.error();
  }

  VpuRemote() { small_.output(small_.op("Relu", {small_.input({4})})); }

  ModelMaker small_;
  const std::string address_ = "tcp://127.0.0.1:" + std::to_string(free_port());
};

TEST_F(VpuRemote, OverTcpWithTheKeyOnly) {
  const std::string key = key_file("right", 'k');
  daemons_.start("a", {"--listen", address_, "--key-file", key});
  use(key);
  ModelMaker maker;
  add_small_network(maker);
  const Tensor input = random_tensor({1, 3, 24, 24}, 7);
  const auto remote = compile(maker.model());
  ASSERT_NE(remote, nullptr);
  const std::vector<float> far = run(*remote, input);
  EXPECT_EQ(run(*compile(maker.model(), {}, "HETERO:VPU,CPU"), input), far);
  core_.reset();
  core_ = core();
  use("");
  EXPECT_EQ(failure().code(), StatusCode::NotFound);
  EXPECT_THAT(failure().message(), HasSubstr("VPU_KEY_FILE"));
  use(key_file("wrong", 'w'));
  EXPECT_THAT(failure().message(), HasSubstr("the key is another one"));
  EXPECT_TRUE(core_->set_property("VPU", {{"VPU_ADDRESSES", daemons_.socket("a")}}).ok());
  EXPECT_EQ(run(*compile(maker.model()), input), far) << "as beside it";
}

/// Who answers without having asked for a key is not spoken to.
TEST_F(VpuRemote, OverTcpNothingGoesWithoutAKey) {
  const int port = std::stoi(address_.substr(address_.rfind(':') + 1));
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<uint16_t>(port));
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  std::thread device([&] {
    vpu::LinkSocket socket(vpu::File(::accept(listener, nullptr, nullptr)));
    const vpu::Welcome welcome{1, "p", "f", 1, 1, 1, false, true, {}, {}};
    (void)socket.receive(std::chrono::milliseconds(1000));
    (void)socket.send(vpu::FrameType::Welcome, 0, welcome.encode());
    (void)socket.receive(std::chrono::milliseconds(1000));
  });
  use(key_file("right", 'k'));
  EXPECT_THAT(failure().message(), HasSubstr("it asks for no key"));
  device.join();
  ::close(listener);
}

TEST_F(VpuRemote, AddressesThatAreNoneAreRefused) {
  const Status status = core_->set_property("VPU", {{"VPU_ADDRESSES", "tcp://nowhere"}});
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("tcp://HOST:PORT"));
  EXPECT_TRUE(core_->set_property("VPU", {{"VPU_ADDRESSES", "/nowhere/a.sock"}}).ok());
  EXPECT_THAT(failure().message(), HasSubstr("/nowhere/a.sock"));
}

/// A device that comes back under another name is found; a new one has the next number.
TEST_F(VpuRemote, HotPlug) {
  const pid_t first = daemons_.start("a");
  const auto compiled = compile(small_.model());
  const Tensor input = Tensor::from<float>({4}, {-1, 2, -3, 4});
  EXPECT_EQ(run(*compiled, input)[1], 2);
  const auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->infer().ok());
  daemons_.kill(first);
  EXPECT_EQ(request->infer().code(), StatusCode::DeviceLost);
  std::filesystem::remove(daemons_.socket("a"));
  EXPECT_THAT(core_->available_devices(), testing::Not(testing::Contains("VPU")));
  daemons_.start("b");
  EXPECT_TRUE(request->infer().ok()) << "found elsewhere";
  daemons_.start("c", {"--profile", "hddl"});
  EXPECT_THAT(core_->available_devices(), testing::IsSupersetOf({"VPU.0", "VPU.1"}));
  EXPECT_EQ(run(*compile(small_.model(), {}, "HDDL"), input)[3], 4);
}

TEST_F(VpuRemote, OperatorsOfOnesOwn) {
  const std::string library = built_file("examples/custom_operator/channel_scale.so");
  daemons_.start("a", {"--extension", library});
  ASSERT_TRUE(core_->add_extension(library).ok());
  ModelMaker maker;
  Attributes attributes;
  attributes.set("scales", std::vector<float>{2, -1});
  maker.output(maker.op("ChannelScale", {maker.input({1, 2, 1, 2})}, attributes, "example"));
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(run(*compiled, Tensor::from<float>({1, 2, 1, 2}, {1, 2, 3, 4})),
            (std::vector<float>{2, 4, -3, -4}));
  daemons_.start("b");
  const auto refused = core_->compile_model(maker.model(), "VPU.1");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("no operator example.ChannelScale"));
}

/// The program has no rights that it does not need; others than its own may not connect.
TEST_F(VpuRemote, SocketsAreForTheUserOrForTheGroup) {
  daemons_.start("alone");
  daemons_.start("group", {"--group-access"});
  struct stat state {};
  ASSERT_EQ(stat(daemons_.socket("alone").c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777, 0700U);
  ASSERT_EQ(stat(daemons_.socket("group").c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777, 0770U);
}

TEST_F(VpuRemote, TheDeviceProgramIsConfined) {
  const pid_t program = daemons_.start("a");
  // It answers when it is confined; it listens before that.
  EXPECT_EQ(run(*compile(small_.model()), Tensor::from<float>({4}, {-1, 2, -3, 4}))[1], 2);
  std::ifstream status("/proc/" + std::to_string(program) + "/status");
  std::map<std::string, std::string> entries;
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    words >> entries[name];
  }
  EXPECT_EQ(entries["NoNewPrivs:"], "1");
  EXPECT_EQ(entries["Seccomp:"], "2") << "a filter of system calls";
  struct stat socket {};
  ASSERT_EQ(::stat(daemons_.socket("a").c_str(), &socket), 0);
  EXPECT_EQ(socket.st_mode & (S_IRWXG | S_IRWXO), 0u);
}

}  // namespace
}  // namespace het::device_testing
