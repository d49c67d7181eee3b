#include "element_error.h"

namespace het::gst {
namespace {

struct ErrorKind {
  GQuark domain;
  gint code;
};

ErrorKind kind_of(StatusCode code) {
  switch (code) {
    case StatusCode::NotFound:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND};
    case StatusCode::ParseError:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ};
    case StatusCode::OutOfMemory:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT};
    case StatusCode::InvalidArgument:
    case StatusCode::NotSupported:
      return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS};
    default:
      return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED};
  }
}

}  // namespace

void post_error(GstElement* element, const Status& status) {
  const ErrorKind kind = kind_of(status.code());
  gst_element_message_full(element, GST_MESSAGE_ERROR, kind.domain, kind.code,
                           g_strdup(status.message().c_str()),
                           g_strdup(fmt::format("{}", to_string(status.code())).c_str()), __FILE__,
                           GST_FUNCTION, __LINE__);
}

}  // namespace het::gst
