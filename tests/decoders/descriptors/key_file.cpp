#include "inference/decoders/descriptors/key_file.h"

#include <gtest/gtest.h>

namespace het {
namespace {

/// What GLib 2.74's g_key_file_load_from_data() and g_key_file_get_string() made of the same texts.
TEST(KeyFile, ReadsWhatGLibReads) {
  const auto sections = parse_key_file(
      "# a remark\n\n  [a/b:0 c] \n k = v\nk=w\nempty=\n k k =x;y\r\n"
      "[b]\n\tj=\\sx\\\\y;z\\;w\\q\\\n[a/b:0 c]\nl=1");
  ASSERT_TRUE(sections) << sections.error().message();
  ASSERT_EQ(sections->size(), 2u);
  const KeyFileSection& first = sections->front();
  EXPECT_EQ(first.name, "a/b:0 c");
  EXPECT_EQ(first.value_of("k"), "w");
  EXPECT_EQ(first.value_of("k k"), "x;y");
  EXPECT_EQ(first.value_of("l"), "1");
  EXPECT_TRUE(first.values.contains("empty"));
  EXPECT_EQ(first.value_of("empty"), "");
  EXPECT_EQ(first.value_of("none"), "");
  EXPECT_EQ(sections->back().name, "b");
  EXPECT_EQ(sections->back().value_of("j"), " x\\y;z\\;w\\q\\");
  for (const char* nothing : {"", "\n", "#", "# a\n#b"}) {
    const auto none = parse_key_file(nothing);
    ASSERT_TRUE(none) << nothing;
    EXPECT_TRUE(none->empty());
  }
}

TEST(KeyFile, RefusesWhatGLibRefuses) {
  const std::pair<const char*, const char*> cases[] = {
      {"k=v\n[a]\n", "line 1 is 'k=v', \"[section]\" before the first key"},
      {"[a]\n;remark\n", "line 2"},
      {"[a]b\n", "line 1"},
      {"[[a]]\n", "line 1"},
      {"[a\n", "line 1"},
      {"[]\n", "line 1"},
      {"[a\tb]\n", "line 1"},
      {"[a]\n=v\n", "line 2"},
      {"[a]\nk=v\n\n#\njunk\n", "line 5 is 'junk'"},
      {"[", "line 1"},
      {"]", "line 1"},
  };
  for (const auto& [text, told] : cases) {
    const auto sections = parse_key_file(text);
    ASSERT_FALSE(sections) << text;
    EXPECT_EQ(sections.error().code(), StatusCode::InvalidArgument);
    EXPECT_NE(sections.error().message().find(told), std::string::npos)
        << sections.error().message();
  }
}

TEST(KeyFile, LooksOnlyAtTheText) {
  const std::string whole = "[modelinfo]\nversion=1.0\n\n[a]\nid=\\x\ndims=1,-1\n#\n[b]\nk=v\\";
  for (size_t length = 0; length <= whole.size(); ++length) {
    const std::vector<char> exact(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
    EXPECT_NO_THROW((void)parse_key_file({exact.data(), exact.size()}));
  }
}

}  // namespace
}  // namespace het
