#include "serving/density/trial/stream_under_test.h"

#include <utility>

namespace het::density {

StreamUnderTest::StreamUnderTest(serving::ElementRef pipeline, double fps, const std::string& sink,
                                 std::string label, std::function<void(GstElement*)> prepare,
                                 std::function<void(std::string)> note)
    : times_(fps),
      pads_(times_, sink),
      waiting_(std::move(pipeline)),
      pipeline_(waiting_.get()),
      label_(std::move(label)),
      prepare_(std::move(prepare)),
      note_(std::move(note)) {}

StreamUnderTest::~StreamUnderTest() {
  pads_.stop();
}

void StreamUnderTest::start() {
  serving::PipelineRun::Listener listener;
  listener.plays = [] {};
  listener.ended = [this] {
    if (failure_.empty()) failure_ = "it ended before the measurement was over";
  };
  listener.failed = [this](const std::string& reason, bool) {
    if (failure_.empty()) failure_ = reason;
  };
  listener.stopped = [this] { is_stopped_ = true; };
  run_ = serving::PipelineRun::start(
      std::move(waiting_), label_,
      [this](GstElement* element) {
        pads_.prepare(element, note_);
        prepare_(element);
      },
      std::move(listener));
}

void StreamUnderTest::stop() {
  pads_.stop();
  if (run_) {
    run_->stop();
  } else {
    is_stopped_ = true;
  }
}

std::string StreamUnderTest::problem() const {
  // The pads know more than "ended".
  const std::string of_pads = pads_.problem();
  return of_pads.empty() ? failure_ : of_pads;
}

}  // namespace het::density
