#include "serving/metrics/http/connections.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <string>
#include <utility>

namespace het::metrics {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kMostConnections = 64;
constexpr unsigned kMostOfOneAddress = 32;
constexpr size_t kBytesOfConnection = size_t{16} << 10;
constexpr unsigned kQuietSeconds = 10;
/// From a connection, or an answer, to the end of the next request.
constexpr std::chrono::seconds kMostForRequest{10};

void free_text(void* text) {
  delete static_cast<std::string*>(text);
}

MHD_Result send(MHD_Connection* connection, Answer answer) {
  auto* text = new std::string(std::move(answer.text));
  MHD_Response* response = MHD_create_response_from_buffer_with_free_callback_cls(
      text->size(), text->data(), free_text, text);
  if (!response) {
    delete text;
    return MHD_NO;
  }
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.type.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  if (answer.allows_get) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return queued;
}

}  // namespace

struct Connections::Open {
  struct OpenConnection {
    int fd = -1;
    Clock::time_point since;
  };
  explicit Open(const Told& wanted) : told(wanted) {}

  const Told& told;
  std::list<OpenConnection> all;

  static MHD_Result take_request(void* self, MHD_Connection* connection, const char* url,
                                 const char* method, const char*, const char*, size_t* upload_size,
                                 void** state) {
    const bool is_read = std::string_view(method) == "GET" || std::string_view(method) == "HEAD";
    // At the first call there are the headers. What is refused is not read further.
    if (*state == nullptr && is_read) {
      *state = self;
      return MHD_YES;
    }
    if (*upload_size > 0) {
      *upload_size = 0;
      return MHD_YES;
    }
    const char* accept =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    return send(connection,
                answer({method, url, accept ? accept : ""}, static_cast<Open*>(self)->told));
  }

  static void note_connection(void* self, MHD_Connection* connection, void** state,
                              MHD_ConnectionNotificationCode code) {
    auto& open = static_cast<Open*>(self)->all;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
      std::erase_if(open, [&](const OpenConnection& one) { return &one == *state; });
      return;
    }
    const MHD_ConnectionInfo* about =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    open.push_back({about ? about->connect_fd : -1, Clock::now()});
    *state = &open.back();
  }

  static void note_answer(void*, MHD_Connection* connection, void**, MHD_RequestTerminationCode) {
    const MHD_ConnectionInfo* about =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (about && about->socket_context)
      static_cast<OpenConnection*>(about->socket_context)->since = Clock::now();
  }

  /// libmicrohttpd ends quiet ones alone; one byte now and then keeps a request going for ever.
  void close_slow() const {
    const Clock::time_point before = Clock::now() - kMostForRequest;
    for (const OpenConnection& one : all) {
      if (one.since < before && one.fd >= 0) ::shutdown(one.fd, SHUT_RDWR);
    }
  }
};

Connections::Connections(const Told& told) : open_(std::make_unique<Open>(told)) {}

Result<std::unique_ptr<Connections>> Connections::create(int listen_fd, const Told& told) {
  std::unique_ptr<Connections> made(new Connections(told));
  Open* open = made->open_.get();
  unsigned flags = MHD_USE_EPOLL;
  if (listen_fd < 0) flags |= MHD_USE_NO_LISTEN_SOCKET;
  std::vector<MHD_OptionItem> options = {
      {MHD_OPTION_CONNECTION_LIMIT, kMostConnections, nullptr},
      {MHD_OPTION_PER_IP_CONNECTION_LIMIT, kMostOfOneAddress, nullptr},
      {MHD_OPTION_CONNECTION_MEMORY_LIMIT, kBytesOfConnection, nullptr},
      {MHD_OPTION_CONNECTION_TIMEOUT, kQuietSeconds, nullptr},
      {MHD_OPTION_NOTIFY_CONNECTION, reinterpret_cast<intptr_t>(&Open::note_connection), open},
      {MHD_OPTION_NOTIFY_COMPLETED, reinterpret_cast<intptr_t>(&Open::note_answer), open},
  };
  if (listen_fd >= 0) options.push_back({MHD_OPTION_LISTEN_SOCKET, listen_fd, nullptr});
  options.push_back({MHD_OPTION_END, 0, nullptr});
  made->daemon_ = MHD_start_daemon(flags, 0, nullptr, nullptr, &Open::take_request, open,
                                   MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
  if (!made->daemon_) {
    if (listen_fd >= 0) ::close(listen_fd);
    return error(StatusCode::Internal,
                 "libmicrohttpd {} does not start a server; see the limits "
                 "of this process (ulimit -n)",
                 MHD_get_version());
  }
  return made;
}

Connections::~Connections() {
  if (daemon_) MHD_stop_daemon(daemon_);
}

int Connections::fd() const {
  const MHD_DaemonInfo* about = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD);
  return about ? about->epoll_fd : -1;
}

void Connections::run() {
  open_->close_slow();
  MHD_run(daemon_);
}

int Connections::most_wait_ms() const {
  if (open_->all.empty()) return -1;
  constexpr int kLookAgainMs = 1000;
  MHD_UNSIGNED_LONG_LONG wait = 0;
  if (MHD_get_timeout(daemon_, &wait) != MHD_YES) return kLookAgainMs;
  return static_cast<int>(std::min<MHD_UNSIGNED_LONG_LONG>(wait, kLookAgainMs));
}

Status Connections::take(int socket) {
  sockaddr_in6 nowhere{};
  nowhere.sin6_family = AF_INET6;
  if (MHD_add_connection(daemon_, socket, reinterpret_cast<sockaddr*>(&nowhere), sizeof nowhere) ==
      MHD_YES) {
    return {};
  }
  return error(StatusCode::Internal, "the connection is not taken");
}

}  // namespace het::metrics
