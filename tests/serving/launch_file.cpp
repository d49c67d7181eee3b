#include "serving/launch/plan/launch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include "serving/launch/plan/placeholders.h"

namespace het::serving {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

class LaunchFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "launch_file_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/cameras.yaml";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<LaunchSettings> read(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return read_launch_file(path_);
  }
  /// The message without the file's path.
  std::string refusal(const std::string& text) const {
    const Result<LaunchSettings> settings = read(text);
    if (settings) return "read";
    std::string message = settings.error().message();
    const size_t begin = message.find(path_);
    return begin == std::string::npos ? message : message.replace(begin, path_.size(), "FILE");
  }

  std::string folder_;
  std::string path_;
};

const std::string kWhole = R"(# Cameras of the hall.
name: hall
pipeline: >
  rtspsrc location={url} ! decodebin ! videoconvert
  ! video/x-raw,format={RGB,BGR} ! heterodetect model={model} device=CPU
  ! heterometapublish file-path=out-{name}-{instance}-{node}.json
variables:
  model: models/person.onnx
instances: auto
cpus: 0-3,8
restart: always
back-off: {first: 500ms, longest: 1m, stable: 30s, most: 4}
stop-timeout: 2.5
measure: no
properties:
  CPU: {INFERENCE_PRECISION_HINT: f32, PERF_COUNT: YES}
streams:
- name: door
  url: "rtsp://10.0.0.7/a b"
  cost: 0.75
  node: 1
  decoder-threads: 2
- name: gate
  url: rtsp://10.0.0.8/
  model: other.onnx
- pipeline: videotestsrc num-buffers={frames} is-live={live} ! fakesink name=x{name}
  frames: 30
  live: true
)";

TEST_F(LaunchFile, EveryKey) {
  const Result<LaunchSettings> settings = read(kWhole);
  ASSERT_TRUE(settings) << settings.error().message();
  EXPECT_EQ(settings->name, "hall");
  EXPECT_EQ(settings->instances, "auto");
  EXPECT_EQ(settings->processors, "0-3,8");
  EXPECT_EQ(settings->restart, RestartPolicy::Always);
  EXPECT_EQ(settings->back_off,
            (BackOff{.first_s = 0.5, .longest_s = 60, .stable_s = 30, .most = 4}));
  EXPECT_DOUBLE_EQ(settings->stop_timeout_s, 2.5);
  EXPECT_EQ(settings->measure_s, 0);
  EXPECT_FALSE(settings->replicate);
  EXPECT_THAT(settings->properties.at("CPU"),
              ElementsAre(Pair("INFERENCE_PRECISION_HINT", "f32"), Pair("PERF_COUNT", "YES")));
  ASSERT_EQ(settings->streams.size(), 3u);
  const StreamSettings& door = settings->streams[0];
  EXPECT_EQ(door.name, "door");
  EXPECT_EQ(door.cost, 0.75);
  EXPECT_EQ(door.node, 1u);
  EXPECT_EQ(door.decoder_threads, 2u);
  EXPECT_THAT(door.variables,
              ElementsAre(Pair("model", "models/person.onnx"), Pair("url", "rtsp://10.0.0.7/a b")));
  EXPECT_EQ(settings->streams[1].variables.at("model"), "other.onnx");
  EXPECT_EQ(settings->streams[1].cost, std::nullopt);
  EXPECT_EQ(settings->streams[2].name, "2");
  const auto filled = fill_pipeline(settings->streams[2], false,
                                    placeholder_values(settings->streams[2], "0", "0"));
  ASSERT_TRUE(filled);
  EXPECT_THAT(*filled, ElementsAre("videotestsrc num-buffers=30 is-live=true ! fakesink name=x2"));
  const auto first = fill_pipeline(door, false, placeholder_values(door, "1", "0-1"));
  ASSERT_TRUE(first);
  EXPECT_THAT(first->front(), HasSubstr("location=rtsp://10.0.0.7/a\\ b !"));
  EXPECT_THAT(first->front(), HasSubstr("file-path=out-door-1-0-1.json"));
}

TEST_F(LaunchFile, TheLeast) {
  const Result<LaunchSettings> settings = read("pipeline: fakesrc ! fakesink\nstreams: [{}]\n");
  ASSERT_TRUE(settings) << settings.error().message();
  const LaunchSettings usual;
  EXPECT_EQ(settings->name, "");
  EXPECT_EQ(settings->instances, std::nullopt);
  EXPECT_EQ(settings->back_off, usual.back_off);
  EXPECT_EQ(settings->measure_s, usual.measure_s);
  EXPECT_EQ(settings->stop_timeout_s, usual.stop_timeout_s);
  EXPECT_EQ(settings->streams[0].name, "0");
}

TEST_F(LaunchFile, KeysThatAreNone) {
  EXPECT_EQ(refusal("pipeline: a\npipline: b\nstreams: [{}]\n"),
            "FILE:2: 'pipline' is no key of a launch file; those are pipeline, cpus, measure, "
            "back-off, instances, name, properties, restart, streams, stop-timeout, variables");
  EXPECT_THAT(refusal("pipeline: a\nstreams:\n- name: x\n  decoder_threads: 2\n"),
              StartsWith("FILE:4: 'decoder_threads' is no key of a stream, and its pipeline has no "
                         "placeholder of that name; there are decoder-threads"));
  EXPECT_THAT(refusal("pipeline: a\nback-off: {frist: 1}\nstreams: [{}]\n"),
              StartsWith("FILE:2: 'frist' is no key of 'back-off'; those are first"));
  EXPECT_THAT(refusal("pipeline: a b={url}\nstreams:\n- ulr: x\n"),
              HasSubstr("FILE:3: 'ulr' is no key of a stream, and its pipeline has no placeholder "
                        "of that name; there are url"));
}

TEST_F(LaunchFile, ValuesOfAnotherType) {
  const std::string head = "pipeline: a\nstreams: [{}]\n";
  EXPECT_EQ(refusal(head + "restart: sometimes\n"),
            "FILE:3: 'restart' is 'sometimes'; expected one of always, no, on-failure");
  EXPECT_EQ(refusal(head + "instances: 0\n"),
            "FILE:3: 'instances' is '0'; expected node, auto or a number from 1 to 4096");
  EXPECT_EQ(refusal(head + "instances: [1]\n"),
            "FILE:3: 'instances' is a list; expected a text, number or boolean");
  EXPECT_EQ(refusal(head + "cpus: four\n"),
            "FILE:3: 'cpus' is 'four'; expected a list of processors, as 0-3,8");
  for (const char* time : {"-1", "2h", "s", "1e9", "nan", "inf", "", "[1]", "1 s", "0x10"}) {
    EXPECT_THAT(refusal(head + "stop-timeout: " + time + "\n"), HasSubstr("expected a time, as 2s"))
        << time;
  }
  EXPECT_THAT(refusal(head + "measure: yes\n"), HasSubstr("expected seconds of one measurement"));
  EXPECT_THAT(refusal(head + "name: a/b\n"), HasSubstr("expected letters, digits"));
  EXPECT_THAT(refusal(head + "properties: CPU\n"), HasSubstr("FILE:3: 'properties' is a map"));
  EXPECT_THAT(refusal(head + "back-off: 2s\n"), HasSubstr("FILE:3: 'back-off' is a map"));
  EXPECT_THAT(refusal(head + "back-off: {most: 2.5}\n"), HasSubstr("expected a whole number"));
  EXPECT_THAT(refusal(head + "variables: {a: [x]}\n"), HasSubstr("expected a text, number"));
  EXPECT_THAT(refusal(head + "variables: {a: }\n"), HasSubstr("\"\" for an empty one"));
  for (const char* stream : {"cost: much", "cost: -1", "cost: .inf", "cost: 1e300"}) {
    EXPECT_THAT(refusal("pipeline: a\nstreams:\n- " + std::string(stream) + "\n"),
                HasSubstr("FILE:3: 'cost' is"))
        << stream;
  }
  EXPECT_THAT(refusal("pipeline: a\nstreams:\n- node: -1\n"), HasSubstr("whole number from 0"));
  EXPECT_THAT(refusal("pipeline: a\nstreams:\n- decoder-threads: 0\n"),
              HasSubstr("whole number from 1"));
  EXPECT_THAT(refusal("pipeline: a\nstreams:\n- door\n"),
              HasSubstr("FILE:3: a stream is a map of keys and values, here is 'door'"));
}

TEST_F(LaunchFile, WithoutStreamsOrPipelines) {
  EXPECT_THAT(refusal("pipeline: a\n"), HasSubstr("there are no 'streams'"));
  EXPECT_THAT(refusal("pipeline: a\nstreams: []\n"), HasSubstr("FILE:2: 'streams' is a list;"));
  EXPECT_THAT(refusal("pipeline: a\nstreams:\n"),
              HasSubstr("'streams' is nothing; expected a list"));
  EXPECT_THAT(refusal("pipeline: a\nstreams: {a: b}\n"), HasSubstr("'streams' is a map"));
  EXPECT_THAT(refusal("streams: [{}]\n"), HasSubstr("FILE:1: stream '0' has no pipeline"));
  EXPECT_THAT(refusal("pipeline: ' '\nstreams: [{}]\n"), HasSubstr("expected a pipeline"));
  EXPECT_THAT(refusal(""), HasSubstr("a launch file is a map of keys and values, here is nothing"));
  EXPECT_THAT(refusal("- a\n"), HasSubstr("FILE:1: a launch file is a map"));
}

TEST_F(LaunchFile, NamesAndKeysThatAreThereTwice) {
  EXPECT_EQ(refusal("pipeline: a\npipeline: b\nstreams: [{}]\n"),
            "FILE:2: 'pipeline' is there twice in a launch file");
  EXPECT_EQ(refusal("pipeline: a\nstreams:\n- name: x\n- name: x\n"),
            "FILE:4: there is a stream 'x' already");
  EXPECT_THAT(refusal("pipeline: a\nstreams:\n- name: 1\n- {}\n"), HasSubstr("stream '1' already"));
  EXPECT_THAT(refusal("pipeline: a\nstreams:\n- {name: x, name: y}\n"),
              HasSubstr("'name' is there twice in a stream"));
}

TEST_F(LaunchFile, Variables) {
  EXPECT_THAT(
      refusal("pipeline: a b={url}\nstreams:\n- name: x\n"),
      StartsWith("FILE:1: 'pipeline' of stream 'x': nothing is known for {url}; there are "));
  EXPECT_THAT(refusal("pipeline: a\nvariables: {url: x}\nstreams: [{}]\n"),
              HasSubstr("FILE:2: no pipeline has a placeholder {url} for this variable"));
  EXPECT_THAT(refusal("pipeline: a\nvariables: {node: x}\nstreams: [{}]\n"),
              HasSubstr("'node' has a meaning of its own"));
  EXPECT_THAT(refusal("pipeline: a {instance}\nstreams:\n- instance: 3\n"),
              HasSubstr("FILE:3: 'instance' is where a stream runs"));
  EXPECT_THAT(refusal("pipeline: a\nvariables: {URL: x}\nstreams: [{}]\n"),
              HasSubstr("'URL' cannot be a variable"));
  EXPECT_THAT(refusal("pipeline: a b={url}\nstreams:\n- url: \"a\\nb\"\n"),
              HasSubstr("expected a text on one line"));
  EXPECT_THAT(refusal("pipeline: a b={url}\nstreams:\n- url: '\"x\"'\n"),
              HasSubstr("takes away quotation marks"));
  const Result<LaunchSettings> some =
      read("pipeline: a b={x}\nvariables: {x: '', y: 2}\nstreams: [{}, {pipeline: 'b={y}'}]\n");
  ASSERT_TRUE(some) << some.error().message();
  EXPECT_THAT(some->streams[0].variables, ElementsAre(Pair("x", "")));
  EXPECT_THAT(some->streams[1].variables, ElementsAre(Pair("y", "2")));
}

TEST_F(LaunchFile, Properties) {
  EXPECT_THAT(refusal("pipeline: a\nstreams: [{}]\nproperties:\n  CPU:\n    NUM_STREAM: 2\n"),
              StartsWith("FILE:5: "));
  EXPECT_THAT(refusal("pipeline: a\nstreams: [{}]\nproperties: {CPU: {NUM_STREAMS: many}}\n"),
              StartsWith("FILE:3: "));
  EXPECT_TRUE(read("pipeline: a\nstreams: [{}]\nproperties: {MINE: {OWN: 1}}\n"));
}

TEST_F(LaunchFile, WhatIsNoYaml) {
  EXPECT_THAT(refusal("pipeline: [a\n"), HasSubstr("FILE:2: this is no YAML"));
  EXPECT_THAT(refusal("pipeline: a\n\tstreams: b\n"), HasSubstr("this is no YAML"));
  EXPECT_THAT(refusal("pipeline: *x\n"), HasSubstr("this is no YAML"));
  EXPECT_THAT(refusal("pipeline: a\nstreams: [{}]\n---\nb: c\n"),
              HasSubstr("FILE:3: here the document of the file has ended and another begins"));
  // YAML::LoadAll() would go on for ever.
  for (const char* text : {",a\nb: c\n", "]\n", "}", "a: b\n  c\n]", "? ,", ": ,", "a\n, b"}) {
    EXPECT_THAT(refusal(text), AnyOf(HasSubstr("another begins"), HasSubstr("no YAML"),
                                     HasSubstr("is a map"), HasSubstr("is no key")))
        << text;
  }
  EXPECT_THAT(refusal("pipeline: \xff\n"), HasSubstr("FILE:1: this is no text in UTF-8"));
  EXPECT_THAT(refusal("a: b\n" + std::string(1, '\0')), HasSubstr("FILE:2: this is no text"));
  EXPECT_THAT(refusal("? [a, b]\n: c\n"), HasSubstr("a key of a launch file is a text"));
}

TEST_F(LaunchFile, FilesThatCannotBeRead) {
  EXPECT_EQ(read_launch_file(folder_ + "/none.yaml").error().code(), StatusCode::NotFound);
  const Result<LaunchSettings> folder = read_launch_file(folder_);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message(), HasSubstr(folder_));
  EXPECT_THAT(read_launch_file("/dev/zero").error().message(), HasSubstr("longer than"));
}

/// Seconds that reading takes, whatever comes of it.
template <class Read>
double seconds_of(const Read& read) {
  const auto begin = std::chrono::steady_clock::now();
  read();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST_F(LaunchFile, Limits) {
  EXPECT_THAT(refusal("pipeline: a\n#" + std::string(1 << 20, 'x')), HasSubstr("longer than"));
  std::string many = "pipeline: a\nstreams:\n";
  for (int i = 0; i < 4096; ++i) many += "- {}\n";
  EXPECT_TRUE(read(many));
  EXPECT_THAT(refusal(many + "- {}\n"), HasSubstr("expected at most 4096 streams"));
  EXPECT_THAT(refusal("pipeline: " + std::string(70000, 'x') + "\nstreams: [{}]\n"),
              HasSubstr("expected a text of at most 65536 bytes"));
  EXPECT_THAT(refusal("pipeline: a={x}\nstreams: [{x: " + std::string(5000, 'x') + "}]\n"),
              HasSubstr("expected a text of at most 4096 bytes"));
}

/// What is small in the file and large when it is read: aliases, templates, nesting.
TEST_F(LaunchFile, BombsAreRefusedSoon) {
  std::string aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    aliases += fmt::format("a{0}: &a{0} [{1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}]\n", i, last);
  }
  std::string streams = "pipeline: &p '" + std::string(60000, 'x') + "'\nstreams:\n";
  for (int i = 0; i < 4096; ++i) streams += "- {pipeline: *p}\n";
  std::string filled = "pipeline: '";
  for (int i = 0; i < 10000; ++i) filled += "{v} ";
  filled += "'\nvariables: {v: " + std::string(90, 'x') + "}\nstreams:\n";
  for (int i = 0; i < 4096; ++i) filled += "- {}\n";
  std::string marks = "pipeline: 'a ";
  for (int i = 0; i < 20000; ++i) marks += "=\"a";
  marks += "'\nstreams: [{}]\n";
  std::string variables = "pipeline: a\nvariables: &v {";
  for (int i = 0; i < 40000; ++i) variables += fmt::format("v{}: x, ", i);
  variables += "}\nstreams:\n";
  for (int i = 0; i < 4096; ++i) variables += "- *v\n";
  const std::vector<std::string> texts = {aliases,
                                          "pipeline: a\nstreams: [*a]\n" + aliases,
                                          aliases + "streams: *a39\npipeline: a\n",
                                          aliases + "variables: *a39\n",
                                          std::string(500000, '['),
                                          std::string(500000, '{'),
                                          std::string(300000, '-') + " a",
                                          "a: " + std::string(100000, '&'),
                                          "streams: &s [*s, *s]\npipeline: a\n",
                                          "&s {streams: [*s], pipeline: a}\n",
                                          streams,
                                          filled,
                                          marks,
                                          variables};
  for (const std::string& text : texts) {
    const double seconds = seconds_of([&] { (void)read(text); });
    EXPECT_LT(seconds, 60) << text.substr(0, 60);
  }
  EXPECT_THAT(refusal(streams), HasSubstr("the pipelines of all streams are longer than"));
  EXPECT_THAT(refusal(filled), HasSubstr("the pipelines of all streams are longer than"));
}

/// Ten thousand files that are nearly right: each is read or refused with its name.
TEST_F(LaunchFile, RandomChangesOfAValidOne) {
  std::mt19937 random(17);
  const auto any = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  };
  const std::vector<std::string> pieces = {
      "{",      "}",  "[",        "]",    "- ",    ": ",        "\n",         "\n  ", "&a ", "*a",
      "!!int ", "!",  "|\n",      ">\n",  "'",     "\"",        "\\",         "# ",   "%",   "@",
      "`",      "? ", "<<: ",     "~",    "---\n", "...\n",     "{name}",     "{x}",  "0",   "-1",
      "1e999",  "\t", "\xc3\xa9", "\xff", "\x01",  "name: x\n", "streams:\n", ","};
  size_t read_count = 0;
  for (int round = 0; round < 10000; ++round) {
    std::string text = kWhole;
    for (size_t changes = 1 + any(4); changes > 0; --changes) {
      const size_t at = any(text.size());
      switch (any(4)) {
        case 0:
          text[at] = static_cast<char>(any(256));
          break;
        case 1:
          text.insert(at, pieces[any(pieces.size())]);
          break;
        case 2:
          text.erase(at, 1 + any(20));
          break;
        default:
          text.insert(at, text.substr(any(text.size()), any(60)));
      }
      if (text.empty()) text = "x";
    }
    const Result<LaunchSettings> settings = read(text);
    if (settings) {
      ++read_count;
      for (const StreamSettings& stream : settings->streams) {
        ASSERT_TRUE(is_launch_name(stream.name));
        const auto filled = fill_pipeline(stream, false, placeholder_values(stream, "12", "0-3,8"));
        ASSERT_TRUE(filled) << filled.error().message();
      }
    } else {
      ASSERT_THAT(settings.error().message(), HasSubstr(path_)) << text;
    }
  }
  EXPECT_GT(read_count, 500u);
  EXPECT_LT(read_count, 9500u);
}

}  // namespace
}  // namespace het::serving
