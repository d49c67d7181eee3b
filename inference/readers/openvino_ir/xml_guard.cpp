#include "inference/readers/openvino_ir/xml_guard.h"

#include "inference/readers/openvino_ir/limits.h"

namespace het::ir {
namespace {

/// One pass over the markup; counts what a parser would allocate.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Status run() {
    while (true) {
      at_ = text_.find('<', at_);
      if (at_ == std::string_view::npos) break;
      HET_TRY(markup());
    }
    if (depth_ != 0) {
      return error(StatusCode::ParseError,
                   "the XML ends inside {} open elements: the file is truncated", depth_);
    }
    if (elements_ == 0) return error(StatusCode::ParseError, "the file has no XML elements");
    return {};
  }

 private:
  bool starts(std::string_view prefix) const { return text_.substr(at_, prefix.size()) == prefix; }

  Status markup() {
    if (starts("<?")) return skip_behind("?>", "a processing instruction");
    if (starts("<!--")) return skip_behind("-->", "a comment");
    if (starts("<![CDATA[")) return skip_behind("]]>", "a CDATA section");
    if (starts("<!")) {
      return error(
          StatusCode::ParseError,
          "byte {} starts a declaration ('{}'): document types and entities are refused in "
          "model files",
          at_, text_.substr(at_, 12));
    }
    return element();
  }

  Status skip_behind(std::string_view end, std::string_view what) {
    const size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) {
      return error(StatusCode::ParseError, "{} that starts at byte {} does not end", what, at_);
    }
    at_ = found + end.size();
    return {};
  }

  Status element() {
    const size_t start = at_++;
    const bool closes = at_ < text_.size() && text_[at_] == '/';
    size_t attributes = 0;
    char quote = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '=') {
        ++attributes;
      } else if (c == '>') {
        break;
      }
    }
    if (at_ == text_.size()) {
      return error(StatusCode::ParseError, "the XML element at byte {} does not end", start);
    }
    const bool empty = text_[at_ - 1] == '/';
    ++at_;
    return closes ? close(start) : open(start, attributes, empty);
  }

  Status close(size_t start) {
    if (depth_ == 0) {
      return error(StatusCode::ParseError, "byte {} closes an element that is not open", start);
    }
    --depth_;
    return {};
  }

  Status open(size_t start, size_t attributes, bool empty) {
    ++elements_;
    attributes_ += attributes;
    if (attributes > kMaxXmlAttributesPerElement) {
      return error(StatusCode::OutOfMemory,
                   "the XML element at byte {} has {} attributes, the limit is {}", start,
                   attributes, kMaxXmlAttributesPerElement);
    }
    if (elements_ > kMaxElements || attributes_ > kMaxXmlAttributes) {
      return error(StatusCode::OutOfMemory,
                   "the XML has more than {} elements or {} attributes up to byte {}", kMaxElements,
                   kMaxXmlAttributes, start);
    }
    if (empty) return {};
    if (++depth_ > kMaxXmlDepth) {
      return error(StatusCode::OutOfMemory,
                   "the XML element at byte {} is nested {} deep, the limit is {}", start, depth_,
                   kMaxXmlDepth);
    }
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t depth_ = 0;
  size_t elements_ = 0;
  size_t attributes_ = 0;
};

}  // namespace

Status check_xml(std::string_view text) {
  if (text.size() > kMaxXmlBytes) {
    return error(StatusCode::OutOfMemory, "the XML has {} bytes, the limit is {}", text.size(),
                 kMaxXmlBytes);
  }
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return error(StatusCode::ParseError,
                 "byte {} is zero: it is no XML text, or not encoded as UTF-8", zero);
  }
  return Scanner(text).run();
}

}  // namespace het::ir
