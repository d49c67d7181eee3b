#include "inference/model/exported_file.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <streambuf>

#include "inference/base/checksum.h"

namespace het {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string text_of(std::span<const std::byte> content) {
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

Result<ExportedFile> read(const std::string& file, std::string_view device = "CPU",
                          ExportedFile::Checksums checksums = ExportedFile::Checksums::Verify) {
  std::istringstream stream(file);
  return ExportedFile::read(stream, device, checksums);
}

class ExportedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ostringstream stream;
    ASSERT_TRUE(ExportedFile::write(stream, "CPU",
                                    {{"manifest", bytes_of(manifest_)},
                                     {"nothing", {}},
                                     {"packed", bytes_of(packed_)},
                                     {"packed", bytes_of(manifest_)}})
                    .ok());
    file_ = stream.str();
  }

  std::string manifest_ = "{\"threads\":2}";
  std::string packed_ = std::string(1000, 'w');
  std::string file_;
};

/// A file with this table; its checksum is right.
std::string with_table(const std::string& table, const std::string& content = {}) {
  std::string file = fmt::format("gst-hetero compiled model 0001 {:012} {:016x}\n{}", table.size(),
                                 checksum(table), table);
  file.resize((file.size() + kHostAlignment - 1) / kHostAlignment * kHostAlignment, '\0');
  return file + content;
}

TEST_F(ExportedFileTest, SectionsComeBack) {
  const auto file = read(file_);
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_EQ(file->sections().size(), 4u);
  EXPECT_EQ(text_of(*file->section("manifest")), manifest_);
  EXPECT_EQ(text_of(*file->section("nothing")), "");
  EXPECT_EQ(text_of(*file->section("packed")), packed_) << "the first of that name";
  EXPECT_EQ(text_of(file->sections()[3].content), manifest_);
  for (const ExportedSection& section : file->sections()) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(section.content.data()) % kHostAlignment, 0u);
  }
  EXPECT_FALSE(file->section("graph"));
}

TEST_F(ExportedFileTest, IsReadFromTheStreamsPosition) {
  std::stringstream stream;
  stream << "something else" << file_;
  stream.seekg(14);
  EXPECT_TRUE(ExportedFile::read(stream, "CPU"));
}

TEST_F(ExportedFileTest, EveryTruncationIsAnError) {
  for (size_t length = 0; length < file_.size(); ++length) {
    EXPECT_FALSE(read(file_.substr(0, length))) << length;
  }
}

TEST_F(ExportedFileTest, EveryFlippedBitIsAnErrorOrPadding) {
  for (size_t bit = 0; bit < file_.size() * 8; ++bit) {
    std::string changed = file_;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_TRUE(!read(changed) || file_[bit / 8] == '\0') << "bit " << bit;
  }
}

TEST_F(ExportedFileTest, NoContentDoesHarm) {
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    std::string changed = file_;
    for (unsigned k = 0; k <= random() % 5; ++k) {
      changed[random() % 500] = static_cast<char>(random());
    }
    const auto file = read(changed, "CPU", ExportedFile::Checksums::Ignore);
    if (!file) continue;
    for (const ExportedSection& section : file->sections()) (void)checksum(section.content);
  }
}

TEST_F(ExportedFileTest, AnotherDeviceAndAnotherVersionAreNamed) {
  const auto other = read(file_, "GPU");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), StatusCode::NotSupported);
  EXPECT_NE(other.error().message().find("device CPU"), std::string::npos);
  std::string later = file_;
  later.replace(later.find("0001"), 4, "0002");
  const auto version = read(later);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code(), StatusCode::NotSupported);
  EXPECT_NE(version.error().message().find("version 2"), std::string::npos);
  const auto onnx = read(std::string(300, '\x08'));
  ASSERT_FALSE(onnx);
  EXPECT_EQ(onnx.error().code(), StatusCode::ParseError);
}

TEST_F(ExportedFileTest, TablesThatLie) {
  const auto row = [](const std::string& bytes) {
    return R"({"device":"CPU","sections":[{"name":"a","bytes":)" + bytes +
           R"(,"checksum":"0"},{"name":"b","bytes":18446744073709551615,"checksum":"0"}]})";
  };
  for (const std::string& table :
       {std::string("[]"), std::string("{"), std::string("null"),
        std::string(R"({"device":"CPU"})"), std::string(R"({"device":7,"sections":[]})"),
        std::string(R"({"device":"CPU","sections":[7]})"),
        std::string(R"({"device":"CPU","sections":[{"name":"a","bytes":-1,"checksum":"0"}]})"),
        std::string(R"({"device":"CPU","sections":[{"name":"a","bytes":1.5,"checksum":"0"}]})"),
        std::string(R"({"device":"CPU","sections":[{"name":"a","bytes":0,"checksum":"x"}]})"),
        row("0"), row("64"), row("65"), row("18446744073709551615"), row("18446744073709551552")}) {
    EXPECT_FALSE(
        read(with_table(table, std::string(128, 'x')), "CPU", ExportedFile::Checksums::Ignore))
        << table;
  }
  EXPECT_TRUE(read(with_table(R"({"device":"CPU","sections":[]})")));
}

TEST_F(ExportedFileTest, AStreamThatCannotSeekIsAnError) {
  struct Pipe : std::streambuf {
  } pipe;
  std::istream stream(&pipe);
  const auto file = ExportedFile::read(stream, "CPU");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), StatusCode::NotSupported);
}

TEST_F(ExportedFileTest, AStreamThatTakesNothingIsAnError) {
  struct Full : std::streambuf {
  } full;
  std::ostream stream(&full);
  EXPECT_EQ(ExportedFile::write(stream, "CPU", {{"a", bytes_of(packed_)}}).code(),
            StatusCode::Internal);
}

}  // namespace
}  // namespace het
