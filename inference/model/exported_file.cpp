#include "inference/model/exported_file.h"

#include <fmt/format.h>

#include <charconv>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "inference/base/checksum.h"

namespace het {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "gst-hetero compiled model ";
/// Magic, version, length and checksum of the table in digits of fixed number, end of line.
constexpr size_t kVersionDigits = 4;
constexpr size_t kLengthDigits = 12;
constexpr size_t kFileChecksumDigits = 16;
constexpr size_t kHeadBytes =
    kMagic.size() + kVersionDigits + 1 + kLengthDigits + 1 + kFileChecksumDigits + 1;

size_t padding_behind(size_t bytes) {
  return (kHostAlignment - bytes % kHostAlignment) % kHostAlignment;
}

std::string head_text(uint64_t version, uint64_t table_bytes, uint64_t table_checksum) {
  return fmt::format("{}{:0{}} {:0{}} {:0{}x}\n", kMagic, version, kVersionDigits, table_bytes,
                     kLengthDigits, table_checksum, kFileChecksumDigits);
}

std::optional<uint64_t> number(std::string_view text, int base) {
  uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Failure damaged(std::string_view what) {
  return error(StatusCode::ParseError,
               "this is no whole file of an exported model: {}; export the model again", what);
}

/// Fails when the stream ends early.
Status read_exactly(std::istream& stream, char* to, size_t bytes) {
  stream.read(to, static_cast<std::streamsize>(bytes));
  if (static_cast<size_t>(stream.gcount()) == bytes) return {};
  return damaged(
      fmt::format("it ends {} bytes too early", bytes - static_cast<size_t>(stream.gcount())));
}

/// Bytes from here to the end.
Result<uint64_t> remaining(std::istream& stream) {
  const std::streampos here = stream.tellg();
  stream.seekg(0, std::ios::end);
  const std::streampos end = stream.tellg();
  stream.seekg(here);
  if (!stream || here < 0 || end < here) {
    return error(StatusCode::NotSupported,
                 "an exported model is read from a stream that can seek, such as a file");
  }
  return static_cast<uint64_t>(end - here);
}

struct Head {
  uint64_t table_bytes = 0;
  uint64_t table_checksum = 0;
};

Result<Head> parse_head(std::string_view text) {
  std::string_view rest = text;
  if (!rest.starts_with(kMagic)) return damaged("it does not begin as one");
  const auto take = [&rest](size_t count) {
    const std::string_view part = rest.substr(0, count);
    rest.remove_prefix(count + 1);
    return part;
  };
  rest.remove_prefix(kMagic.size());
  const auto version = number(take(kVersionDigits), 10);
  const auto table_bytes = number(take(kLengthDigits), 10);
  const auto table_checksum = number(take(kFileChecksumDigits), 16);
  if (!version || !table_bytes || !table_checksum ||
      head_text(*version, *table_bytes, *table_checksum) != text) {
    return damaged("its first line is malformed");
  }
  if (*version != ExportedFile::kVersion) {
    return error(StatusCode::NotSupported,
                 "the file is of version {}, this library reads version {}; compile the model and "
                 "export it again",
                 *version, ExportedFile::kVersion);
  }
  if (*table_bytes > ExportedFile::kMostTableBytes) {
    return damaged(fmt::format("its table would have {} bytes, at most {} are read", *table_bytes,
                               ExportedFile::kMostTableBytes));
  }
  return Head{*table_bytes, *table_checksum};
}

struct Row {
  std::string name;
  uint64_t bytes = 0;
  uint64_t checksum = 0;
};

/// Where sections begin, counted from the first one.
struct SectionPlaces {
  std::vector<Row> rows;
  std::vector<uint64_t> offsets;
  uint64_t begin = 0;  ///< of the first one in the file
  uint64_t bytes = 0;  ///< of all together
};

Result<std::vector<Row>> parse_table(std::string_view text, std::string_view device) {
  const Json table = Json::parse(text, nullptr, false);
  const Json made_for = table.is_object() ? table.value("device", Json()) : Json();
  const Json sections = table.is_object() ? table.value("sections", Json()) : Json();
  if (!made_for.is_string() || !sections.is_array()) return damaged("its table is malformed");
  if (made_for.get<std::string>() != device) {
    return error(StatusCode::NotSupported,
                 "the file holds a model compiled for device {}; import it for that device, not "
                 "for {}",
                 made_for.get<std::string>().substr(0, 64), device);
  }
  if (sections.size() > ExportedFile::kMostSections) return damaged("it has too many sections");
  std::vector<Row> rows;
  for (const Json& entry : sections) {
    const Json name = entry.is_object() ? entry.value("name", Json()) : Json();
    const Json bytes = entry.is_object() ? entry.value("bytes", Json()) : Json();
    const Json sum = entry.is_object() ? entry.value("checksum", Json()) : Json();
    const auto value =
        sum.is_string() ? number(sum.get_ref<const std::string&>(), 16) : std::nullopt;
    if (!name.is_string() || !bytes.is_number_unsigned() || !value) {
      return damaged("a row of its table is malformed");
    }
    rows.push_back({name.get<std::string>(), bytes.get<uint64_t>(), *value});
  }
  return rows;
}

Status check_table_end(const Head& head, uint64_t all_bytes) {
  const size_t end = kHeadBytes + head.table_bytes;
  if (end + padding_behind(end) > all_bytes) return damaged("it ends within its table");
  return {};
}

/// The table's end is checked.
Result<SectionPlaces> find_sections(const Head& head, std::string_view table, uint64_t all_bytes,
                                    std::string_view device, ExportedFile::Checksums checksums) {
  if (checksums == ExportedFile::Checksums::Verify && checksum(table) != head.table_checksum) {
    return damaged("its table has changed");
  }
  SectionPlaces places;
  HET_ASSIGN(places.rows, parse_table(table, device));
  const size_t table_end = kHeadBytes + head.table_bytes;
  places.begin = table_end + padding_behind(table_end);
  uint64_t free_bytes = all_bytes - places.begin;
  for (const Row& row : places.rows) {
    places.offsets.push_back(all_bytes - places.begin - free_bytes);
    const bool fits =
        row.bytes <= free_bytes && padding_behind(row.bytes) <= free_bytes - row.bytes;
    if (!fits) return damaged(fmt::format("it ends within section '{}'", row.name.substr(0, 64)));
    free_bytes -= row.bytes + padding_behind(row.bytes);
  }
  places.bytes = all_bytes - places.begin - free_bytes;
  return places;
}

/// `begin`: of the first section.
Result<std::vector<ExportedSection>> sections_at(const SectionPlaces& places,
                                                 const std::byte* begin,
                                                 ExportedFile::Checksums checksums) {
  std::vector<ExportedSection> sections;
  for (size_t i = 0; i < places.rows.size(); ++i) {
    const Row& row = places.rows[i];
    const std::span<const std::byte> content(begin + places.offsets[i], row.bytes);
    if (checksums == ExportedFile::Checksums::Verify && checksum(content) != row.checksum) {
      return damaged(fmt::format("section '{}' has changed", row.name.substr(0, 64)));
    }
    sections.push_back({row.name, content});
  }
  return sections;
}

}  // namespace

Status ExportedFile::write(std::ostream& stream, std::string_view device,
                           const std::vector<ExportedSection>& sections) {
  if (sections.size() > kMostSections) {
    return error(StatusCode::NotSupported, "an exported model may have {} sections, not {}",
                 kMostSections, sections.size());
  }
  Json rows = Json::array();
  for (const ExportedSection& section : sections) {
    rows.push_back({{"name", section.name},
                    {"bytes", section.content.size()},
                    {"checksum", fmt::format("{:x}", checksum(section.content))}});
  }
  const Json json{{"device", device}, {"sections", std::move(rows)}};
  const std::string table = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string head = head_text(kVersion, table.size(), checksum(table));
  const std::string padding(kHostAlignment, '\0');
  const auto put = [&stream](const void* bytes, size_t count) {
    stream.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
  };
  put(head.data(), head.size());
  put(table.data(), table.size());
  put(padding.data(), padding_behind(head.size() + table.size()));
  for (const ExportedSection& section : sections) {
    put(section.content.data(), section.content.size());
    put(padding.data(), padding_behind(section.content.size()));
  }
  stream.flush();
  if (stream) return {};
  return error(StatusCode::Internal, "the stream does not take an exported model of {} sections",
               sections.size());
}

Result<ExportedFile> ExportedFile::read(std::istream& stream, std::string_view device,
                                        Checksums checksums) {
  HET_ASSIGN(const uint64_t all_bytes, remaining(stream));
  std::string head_line(kHeadBytes, '\0');
  HET_TRY(read_exactly(stream, head_line.data(), head_line.size()));
  HET_ASSIGN(const Head head, parse_head(head_line));
  HET_TRY(check_table_end(head, all_bytes));
  std::string table(head.table_bytes, '\0');
  HET_TRY(read_exactly(stream, table.data(), table.size()));
  HET_ASSIGN(const SectionPlaces places, find_sections(head, table, all_bytes, device, checksums));
  stream.ignore(static_cast<std::streamsize>(places.begin - kHeadBytes - head.table_bytes));
  // What there is bounds what is allocated.
  ExportedFile file;
  HET_ASSIGN(file.buffer_, allocate_host_buffer(places.bytes));
  HET_TRY(read_exactly(stream, reinterpret_cast<char*>(file.buffer_->host()), places.bytes));
  HET_ASSIGN(file.sections_, sections_at(places, file.buffer_->host(), checksums));
  return file;
}

Result<ExportedFile> ExportedFile::view(BufferPtr content, std::string_view device,
                                        Checksums checksums) {
  const size_t all_bytes = content->size_bytes();
  const std::string_view text(reinterpret_cast<const char*>(content->host()), all_bytes);
  if (all_bytes < kHeadBytes) return damaged(fmt::format("it has {} bytes", all_bytes));
  HET_ASSIGN(const Head head, parse_head(text.substr(0, kHeadBytes)));
  HET_TRY(check_table_end(head, all_bytes));
  const std::string_view table = text.substr(kHeadBytes, head.table_bytes);
  HET_ASSIGN(const SectionPlaces places, find_sections(head, table, all_bytes, device, checksums));
  ExportedFile file;
  file.buffer_ = std::move(content);
  HET_ASSIGN(file.sections_, sections_at(places, file.buffer_->host() + places.begin, checksums));
  return file;
}

Result<std::span<const std::byte>> ExportedFile::section(std::string_view name) const {
  for (const ExportedSection& section : sections_) {
    if (section.name == name) return section.content;
  }
  return damaged(fmt::format("section '{}' is missing", name));
}

}  // namespace het
