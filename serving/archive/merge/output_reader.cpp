#include "serving/archive/merge/output_reader.h"

#include <cerrno>
#include <cstring>

namespace het::archive {

Result<OutputReader> OutputReader::open(const std::string& path) {
  errno = 0;
  OutputReader reader(path);
  // A folder can be opened, too.
  if (!reader.file_ || (reader.file_.peek(), reader.file_.bad())) {
    return error(StatusCode::NotFound, "cannot read '{}': {}", path,
                 errno != 0 ? std::strerror(errno) : "it does not open");
  }
  reader.file_.clear();
  return reader;
}

bool OutputReader::next(std::string& line) {
  if (!std::getline(file_, line)) return false;
  ++number_;
  sum_.add(line);
  bytes_ += line.size();
  if (!file_.eof()) {
    sum_.add("\n");
    ++bytes_;
  }
  return true;
}

Status OutputReader::check(const ShardNote& note) {
  if (file_.bad()) return error(StatusCode::NotFound, "cannot read '{}' to its end", path_);
  if (bytes_ != note.bytes || sum_.digits() != note.sha256) {
    return error(StatusCode::ParseError,
                 "'{}' has {} bytes that are not the {} that its note tells of; `hetero archive "
                 "verify --redo DIR` and another run make it anew",
                 path_, bytes_, note.bytes);
  }
  return {};
}

}  // namespace het::archive
