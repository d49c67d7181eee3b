#include "devices/vpu/connection.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "devices/vpu/fair_queue.h"
#include "devices/vpu/greeting.h"

namespace het::vpu {
namespace {

using Clock = std::chrono::steady_clock;

/// How often the receiving thread looks whether somebody waits for too long.
constexpr std::chrono::milliseconds kTick{100};

}  // namespace

/// Shared with the thread, which may be the last to use it.
struct Connection::State {
  State(LinkSocket connected, const Options& wanted)
      : socket(std::move(connected)), options(wanted), patience(wanted.patience) {}

  LinkSocket socket;
  const Options options;
  std::atomic<std::chrono::milliseconds> patience;
  Welcome welcome;
  std::atomic<bool> lost{false};
  std::atomic<bool> closing{false};
  std::atomic<uint32_t> numbers{1};
  std::atomic<uint64_t> sequences{1};

  std::mutex send_mutex;  ///< one frame at a time; taken before `mutex` or alone, not by an end()
  std::mutex mutex;       ///< protects what follows
  std::condition_variable answered;
  std::map<uint64_t, std::optional<Frame>> calls;  ///< commands that somebody waits for
  std::vector<Submission*> in_flight;              ///< as many as there are credits at most
  FairQueue<Submission*> waiting;                  ///< for a credit
  Status cause;                                    ///< of the loss
};

Result<std::shared_ptr<Connection>> Connection::open(const std::string& address,
                                                     const Options& options) {
  HET_ASSIGN(const LinkAddress parsed, LinkAddress::parse(address));
  HET_ASSIGN(LinkSocket socket, LinkSocket::connect(parsed));
  return greet(std::move(socket), address, parsed.is_tcp(), options);
}

Result<std::shared_ptr<Connection>> Connection::greet(LinkSocket socket, const std::string& name,
                                                      const Options& options) {
  return greet(std::move(socket), name, false, options);
}

Result<std::shared_ptr<Connection>> Connection::greet(LinkSocket socket, const std::string& name,
                                                      bool is_tcp, const Options& options) {
  HET_ASSIGN(Welcome welcome,
             greet_device(socket, name, options.key, is_tcp, options.greeting_patience));
  auto state = std::make_shared<State>(std::move(socket), options);
  state->welcome = std::move(welcome);
  state->in_flight.reserve(state->welcome.credits);
  return std::shared_ptr<Connection>(new Connection(std::move(state)));
}

Connection::Connection(std::shared_ptr<State> state)
    : state_(std::move(state)), thread_([shared = state_] { work(shared); }), process_(getpid()) {}

Connection::~Connection() {
  if (getpid() != process_) {
    thread_.detach();
    new std::shared_ptr<State>(state_);
    return;
  }
  state_->closing = true;
  state_->socket.close();
  // The last user may let go inside an end(), on that very thread.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

const Welcome& Connection::welcome() const {
  return state_->welcome;
}

bool Connection::is_lost() const {
  return state_->lost;
}

void Connection::set_patience(std::chrono::milliseconds patience) {
  state_->patience = patience;
}

uint32_t Connection::new_number() {
  return state_->numbers++;
}

Result<Frame> Connection::call(FrameType type, ByteView payload, FrameType wanted, int file) {
  const uint64_t sequence = state_->sequences++;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->lost) return Failure(state_->cause);
    state_->calls[sequence] = std::nullopt;
  }
  send(*state_, type, sequence, payload, file);
  std::unique_lock lock(state_->mutex);
  const auto has_come = [&] { return state_->lost || state_->calls[sequence].has_value(); };
  const bool came = state_->answered.wait_for(lock, state_->options.call_patience, has_come);
  std::optional<Frame> answer = std::move(state_->calls[sequence]);
  state_->calls.erase(sequence);
  if (!answer && state_->lost) return Failure(state_->cause);
  lock.unlock();
  if (!came) {
    const Status late(StatusCode::DeviceLost,
                      fmt::format("the device has not answered a {} command for {} ms",
                                  to_string(type), state_->options.call_patience.count()));
    lose(*state_, late);
    return Failure(late);
  }
  if (answer->header.type == FrameType::Refused) {
    HET_ASSIGN(Refusal refusal, Refusal::decode(answer->payload));
    return Failure(Status(refusal.code, std::move(refusal.text)));
  }
  if (answer->header.type != wanted) {
    const Status wrong(StatusCode::DeviceLost,
                       fmt::format("the device answers a {} command with {}", to_string(type),
                                   to_string(answer->header.type)));
    lose(*state_, wrong);
    return Failure(wrong);
  }
  return std::move(*answer);
}

void Connection::tell(FrameType type, ByteView payload) {
  if (!state_->lost) send(*state_, type, state_->sequences++, payload);
}

void Connection::send(State& state, FrameType type, uint64_t sequence, ByteView payload, int file) {
  Status sent;
  {
    std::lock_guard lock(state.send_mutex);
    sent = state.socket.send(type, sequence, payload, file);
  }
  if (!sent.ok()) lose(state, sent);
}

void Connection::submit(Submission& submission) {
  Status cause;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->lost) {
      cause = state_->cause;
    } else if (submission.is_cancelled()) {
      cause = Status(StatusCode::Cancelled, "the request was cancelled");
    } else {
      state_->waiting.add(submission.stream_, &submission);
    }
  }
  if (!cause.ok()) return submission.end(std::move(cause), {});
  send_waiting(*state_);
}

/// Sends while there are credits.
void Connection::send_waiting(State& state) {
  Status sent;
  {
    std::lock_guard sending(state.send_mutex);
    while (sent.ok()) {
      Submission* next = nullptr;
      {
        std::lock_guard lock(state.mutex);
        if (state.lost || state.in_flight.size() >= state.welcome.credits) return;
        const std::optional<Submission*> first = state.waiting.take();
        if (!first) return;
        next = *first;
        next->sequence_ = state.sequences++;
        next->sent_ = Clock::now();
        state.in_flight.push_back(next);
      }
      // Whoever ends it takes send_mutex first: its bytes are not touched afterwards.
      sent = state.socket.send(FrameType::Submit, next->sequence_, next->payload_);
    }
  }
  lose(state, sent);
}

void Connection::cancel(Submission& submission) {
  uint64_t sequence = 0;
  bool waits = false;
  {
    std::lock_guard lock(state_->mutex);
    waits = state_->waiting.remove(&submission);
    if (!waits && std::ranges::find(state_->in_flight, &submission) != state_->in_flight.end()) {
      sequence = submission.sequence_;
    }
  }
  if (waits) {
    submission.end(Status(StatusCode::Cancelled, "the request was cancelled"), {});
  } else if (sequence != 0) {
    send(*state_, FrameType::Cancel, sequence, {});
  }
}

/// Nobody sends what was in flight before this call any more, whatever a device answers too early.
void Connection::wait_for_senders(State& state) {
  std::lock_guard lock(state.send_mutex);
}

void Connection::lose(State& state, const Status& cause) {
  std::vector<Submission*> ended;
  {
    std::lock_guard lock(state.mutex);
    if (state.lost) return;
    state.cause = Status(StatusCode::DeviceLost, cause.message());
    state.lost = true;
    ended.swap(state.in_flight);
    while (const std::optional<Submission*> next = state.waiting.take()) ended.push_back(*next);
  }
  state.socket.close();
  state.answered.notify_all();
  wait_for_senders(state);
  for (Submission* submission : ended) submission->end(state.cause, {});
}

void Connection::take(State& state, Frame frame) {
  const uint64_t sequence = frame.header.sequence;
  if (frame.header.type != FrameType::Completed) {
    {
      std::lock_guard lock(state.mutex);
      const auto call = state.calls.find(sequence);
      // Nobody waits for answers to tell().
      if (call == state.calls.end()) return;
      call->second = std::move(frame);
    }
    state.answered.notify_all();
    return;
  }
  auto completed = Completed::decode(frame.payload);
  if (!completed) return lose(state, completed.error());
  Submission* submission = nullptr;
  {
    std::lock_guard lock(state.mutex);
    const auto found = std::ranges::find_if(
        state.in_flight, [&](const Submission* s) { return s->sequence_ == sequence; });
    if (found != state.in_flight.end()) {
      submission = *found;
      *found = state.in_flight.back();
      state.in_flight.pop_back();
    }
  }
  if (submission == nullptr) {
    return lose(state, error(StatusCode::DeviceLost,
                             "the device completes request {}, which it does not have", sequence));
  }
  Status status(completed->code, completed->text);
  wait_for_senders(state);
  send_waiting(state);
  submission->end(completed->code == StatusCode::Ok ? Status() : std::move(status), *completed);
}

void Connection::work(const std::shared_ptr<State>& state) {
  pthread_setname_np(pthread_self(), "vpu-link");
  while (!state->lost) {
    auto frame = state->socket.receive(kTick);
    if (state->closing) {
      lose(*state, Status(StatusCode::DeviceLost, "the link was closed"));
    } else if (!frame) {
      lose(*state, frame.error());
    } else if (*frame) {
      take(*state, std::move(**frame));
    }
    const auto latest = Clock::now() - state->patience.load();
    bool is_late = false;
    {
      std::lock_guard lock(state->mutex);
      is_late = std::ranges::any_of(state->in_flight,
                                    [&](const Submission* s) { return s->sent_ < latest; });
    }
    if (is_late) {
      lose(*state, Status(StatusCode::DeviceLost,
                          fmt::format("the device has not answered a request for {} ms",
                                      state->patience.load().count())));
    }
  }
}

}  // namespace het::vpu
