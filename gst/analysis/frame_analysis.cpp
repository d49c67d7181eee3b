#include "frame_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "devices/register_devices.h"
#include "gst/metadata/analysis_mark.h"
#include "inference/base/log.h"
#include "shared_models.h"

namespace het::gst {
namespace {

/// While a frame is decoded and one is preprocessed, another one should run.
constexpr size_t kMinRequests = 2;
/// Frames between two analysed ones wait in the queue too; more than these are not buffered.
constexpr guint kMaxIntervalInQueue = 8;
/// With no-block: frames in the queue before the element blocks after all.
constexpr size_t kMaxPassingFrames = 16;

Result<size_t> request_count(const CompiledModel& model, guint wanted) {
  if (wanted > 0) return static_cast<size_t>(wanted);
  HET_ASSIGN(const std::string text, model.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"));
  size_t optimal = 0;
  std::from_chars(text.data(), text.data() + text.size(), optimal);
  return std::max(optimal, kMinRequests);
}

}  // namespace

Result<std::unique_ptr<FrameAnalysis>> FrameAnalysis::start(std::string element,
                                                            const InferenceSettings& settings,
                                                            const InferenceSettings& model_settings,
                                                            const SharedDisplay& display) {
  std::unique_ptr<FrameAnalysis> analysis(new FrameAnalysis(std::move(element)));
  analysis->core_ = core();
  const std::string& library = model_settings.device_library;
  if (!library.empty()) HET_TRY(analysis->core_->add_device_library(library));
  HET_ASSIGN(VisionModelSettings wanted,
             vision_model_settings(model_settings,
                                   analysis->core_->default_properties(model_settings.device)));
  if (display.display) {
    analysis->display_.reset(GST_OBJECT(gst_object_ref(display.display)), gst_object_unref);
    // BATCH and HETERO hand it on to their GPU; MULTI and AUTO take none.
    const std::string kind = parse_device_name(model_settings.device).kind;
    if (kind == "GPU" || kind == "BATCH" || kind == "HETERO") {
      wanted.context["VADisplay"] = display.va_display;
    }
  }
  HET_ASSIGN(SharedModel shared,
             shared_model(*analysis->core_, settings.model_instance_id, wanted));
  analysis->model_ = std::move(shared.model);
  HET_ASSIGN(analysis->metadata_form_, metadata_form(settings));
  analysis->tells_tensors_ =
      settings.copy_outputs && analysis->metadata_form_ == MetadataForm::Analytics;
  HET_ASSIGN(analysis->class_thresholds_,
             ClassThresholds::parse(settings.threshold_per_class, *analysis->model_));
  CompiledModel& compiled = analysis->model_->compiled();
  HET_ASSIGN(analysis->pictures_,
             PictureSource::create(settings.pre_process, *analysis->model_, settings.scale_method));
  const guint items = std::max(settings.batch_size, 1u);
  HET_ASSIGN(const size_t requests, gst::request_count(compiled, settings.nireq * items));
  std::unique_ptr<StreamShare> share;
  if (shared.shares) {
    HET_ASSIGN(const size_t optimal, gst::request_count(compiled, 0));
    share = shared.shares->join(settings.stream_weight, optimal,
                                settings.scheduling_policy == kSchedulingLatency
                                    ? TurnOrder::PresentationTime
                                    : TurnOrder::Shares);
  }
  // This element among the users of a shared model.
  const std::string stream = fmt::format("element-{}", fmt::ptr(analysis.get()));
  analysis->memories_ = std::make_unique<StreamMemories>(stream);
  HET_ASSIGN(analysis->pool_, RequestPool::create(compiled, requests, stream, std::move(share)));
  const size_t interval = std::min(settings.inference_interval, kMaxIntervalInQueue);
  analysis->queue_ = std::make_unique<OutputQueue>(std::max(requests, kMinRequests) * interval);
  // Frames that pass while all requests are busy wait for those before them.
  if (settings.no_block) analysis->queue_->raise_frame_limit(kMaxPassingFrames);
  log(LogLevel::Info, "model '{}' on {}: {} requests in flight", compiled.name(), settings.device,
      requests);
  return analysis;
}

GstStructure* FrameAnalysis::statistics() {
  GstStructure* structure = stats_.to_structure(request_count(), pool_->busy(), queue_->frames());
  pictures_->add_statistics(structure);
  const CompiledModel& compiled = model_->compiled();
  if (const auto devices = compiled.get_property("EXECUTION_DEVICES")) {
    gst_structure_set(structure, "execution-devices", G_TYPE_STRING, devices->c_str(), nullptr);
  }
  // Only models that HETERO has split answer.
  const auto text = compiled.get_property("HETERO_NUMBER_OF_SUBMODELS");
  guint64 subgraphs = 1;
  if (text) std::from_chars(text->data(), text->data() + text->size(), subgraphs);
  gst_structure_set(structure, "subgraphs", G_TYPE_UINT64, subgraphs, nullptr);
  return structure;
}

FrameAnalysis::~FrameAnalysis() {
  // Not all members exist when start() failed on the way.
  if (queue_) clear(nullptr);
}

void FrameAnalysis::open() {
  pool_->open();
  queue_->open();
}

void FrameAnalysis::close(GstFlowReturn reason) {
  queue_->close(reason);
  pool_->close();
  if (reason == GST_FLOW_FLUSHING) queue_->cancel_jobs();
}

void FrameAnalysis::clear(GstPad* source_pad) {
  queue_->clear(*pool_, source_pad);
  for (StreamMemory* stream : memories_->all()) {
    stream->history.clear();
    stream->carried.forget();
    reset_state(*stream);
  }
}

void FrameAnalysis::forget_results() {
  for (StreamMemory* stream : memories_->all()) stream->carried.forget();
}

void FrameAnalysis::forget_objects() {
  for (StreamMemory* stream : memories_->all()) stream->history.clear();
}

void FrameAnalysis::restart_stream(size_t stream) {
  forget_objects(stream);
  reset_state(memories_->of(stream));
}

void FrameAnalysis::reset_state(const StreamMemory& stream) {
  const Status status = model_->compiled().reset_state(stream.model_state);
  if (!status.ok()) log(LogLevel::Warning, "{}", status.message());
}

Status FrameAnalysis::take(GstBuffer* buffer, const GstVideoInfo& info, const FramePlan& plan,
                           BatchPlace place) {
  StreamMemory& stream = memories_->of(plan.stream);
  const bool is_discontinuity = GST_BUFFER_IS_DISCONT(buffer);
  if (is_discontinuity) reset_state(stream);
  if (plan.after_gap && !is_discontinuity) {
    buffer = gst_buffer_make_writable(buffer);
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  }
  if (!plan.analyse && plan.finds_objects) {
    buffer = gst_buffer_make_writable(buffer);
    mark_not_analysed(buffer);
  }
  ++frame_number_;
  ++stream.frames;
  stats_.frame_came();
  regions_.clear();
  if (plan.analyse) find_regions(buffer, info, plan, stream);
  const std::shared_ptr<QueuedFrame> frame = queue_->begin_frame(buffer, info);
  if (!frame) return {};
  frame->threshold = plan.threshold;
  frame->number = frame_number_;
  frame->stream = &stream;
  frame->stream_number = stream.frames;
  frame->reclassify_every =
      plan.reclassify_interval == 1 || plan.region == kInferenceRegionFullFrame;
  frame->skip_raw_tensors = plan.skip_raw_tensors;
  frame->is_analysed = plan.analyse;
  frame->carries_results = !plan.analyse && (plan.carry_results || plan.is_still);
  frame->is_still = plan.is_still;
  frame->is_discontinuity = is_discontinuity;
  frame->started = std::chrono::steady_clock::now();
  if (place.batch) frame->arrived = frame->started = place.batch->arrived();
  frame->place = std::move(place);
  Status status = regions_.empty() ? Status() : start_jobs(*frame, plan);
  queue_->end_frame(*frame);
  return status;
}

void FrameAnalysis::find_regions(GstBuffer* buffer, const GstVideoInfo& info, const FramePlan& plan,
                                 StreamMemory& stream) {
  const int width = GST_VIDEO_INFO_WIDTH(&info);
  const int height = GST_VIDEO_INFO_HEIGHT(&info);
  if (plan.region == kInferenceRegionFullFrame) {
    regions_.push_back({{0, 0, width, height}, -1});
    return;
  }
  for (const FrameRegion& region : frame_regions(buffer)) {
    const auto& classes = plan.object_classes;
    if (!classes.empty() && std::find(classes.begin(), classes.end(), region.type) == classes.end())
      continue;
    const Rect rect = clip(region.rect, width, height);
    if (rect.width > 0 && rect.height > 0) {
      if (plan.reclassify_interval != 1 && region.object_id &&
          !stream.history.is_due(*region.object_id, stream.frames, plan.reclassify_interval))
        continue;
      regions_.push_back({rect, region.index});
      continue;
    }
    stats_.region_skipped();
    if (!warned_of_empty_region_.exchange(true)) {
      log(LogLevel::Warning,
          "region '{}' of {}x{} at ({},{}) has no pixel in a picture of {}x{} and is not analysed; "
          "further ones are only counted (regions-skipped in the property stats)",
          region.type, region.rect.width, region.rect.height, region.rect.x, region.rect.y, width,
          height);
    }
  }
}

Status FrameAnalysis::start_jobs(QueuedFrame& frame, const FramePlan& plan) {
  HET_ASSIGN(const FramePicture picture, pictures_->open(frame.buffer, frame.info));
  SpanTime waits_since = frame.arrived;
  for (const Region& region : regions_) {
    TimedRequest* request = pool_->acquire();
    if (!request) return {};
    const VisionModel& model = model_->for_region(region.rect);
    if (Status status = request->use(model.compiled(), frame.stream->model_state); !status.ok()) {
      pool_->release(request);
      return status;
    }
    request->request().set_frame(traced_number(frame));
    request->request().set_deadline(plan.latency_budget ? frame.arrived + *plan.latency_budget
                                                        : SpanTime::max());
    auto shown = pictures_->region(picture, region.rect);
    const Status status =
        shown ? model.set_picture(request->request(), shown->image, shown->roi) : shown.error();
    shown = ImageRegion();  // the request has it
    const Result<bool> started = status.ok() ? request->start(plan.running_time) : Failure(status);
    if (!started || !*started) {
      pool_->replace(request);
      return started ? Status() : started.error();
    }
    if (frame_spans_wanted()) {
      report_frame_span({FramePart::Wait, worker_.name(), traced_number(frame), waits_since,
                         request->submitted()});
      waits_since = std::chrono::steady_clock::now();
    }
    queue_->add_job(frame, {request, &model, region.rect, region.index});
  }
  return {};
}

Result<Results> FrameAnalysis::read_results(const RegionJob& job, const QueuedFrame& frame) {
  const auto read = [&](float threshold) {
    return job.model->results(job.request->request(), GST_VIDEO_INFO_WIDTH(&frame.info),
                              GST_VIDEO_INFO_HEIGHT(&frame.info), job.roi, 0, threshold);
  };
  HET_ASSIGN(Results results, class_thresholds_.apply(std::cref(read), frame.threshold));
  if (frame.skip_raw_tensors) results.tensors.clear();
  return results;
}

/// What was found is kept for the frames to come; tracked objects that were not analysed get what
/// was found last.
void FrameAnalysis::keep_or_carry(const QueuedFrame& frame, std::vector<RegionResults>& found) {
  ClassificationHistory& history = frame.stream->history;
  for (const FrameRegion& region : frame_regions(frame.buffer)) {
    if (!region.object_id) continue;
    const auto analysed = std::find_if(found.begin(), found.end(), [&](const RegionResults& part) {
      return part.index == region.index;
    });
    if (analysed != found.end()) {
      history.store(*region.object_id, frame.stream_number, region.rect, analysed->results);
    } else if (auto last = history.last(*region.object_id, frame.stream_number, region.rect)) {
      found.push_back({region.index, std::move(*last)});
    }
  }
}

Result<std::vector<ExchangedTensor>> FrameAnalysis::exchanged_tensors(
    const RegionJob& job, const QueuedFrame& frame, const Results& results) const {
  if (!tells_tensors_) return std::vector<ExchangedTensor>{};
  return job.model->exchanged_tensors(results.tensors, GST_VIDEO_INFO_WIDTH(&frame.info),
                                      GST_VIDEO_INFO_HEIGHT(&frame.info), job.roi);
}

Result<bool> FrameAnalysis::finish(QueuedFrame& frame) {
  std::vector<RegionResults>& found = found_;
  found.clear();
  std::chrono::nanoseconds time{0};
  while (const auto job = queue_->next_job(frame)) {
    TimedRequest* request = job->request;
    const Status status = request->wait();
    queue_->job_done();
    if (status.ok() && frame_spans_wanted()) {
      const SpanTime now = std::chrono::steady_clock::now();
      report_frame_span(
          {FramePart::Order, worker_.name(), traced_number(frame), request->ended(), now});
    }
    if (!status.ok()) {
      pool_->replace(request);
      if (queue_->flow() != GST_FLOW_OK) return false;  // we cancelled it
      return Failure(status);
    }
    auto results = [&] {
      const FrameSpanScope scope = span(FramePart::Decode, frame);
      return read_results(*job, frame);
    }();
    stats_.region_analysed(request->run_time());
    time = std::max<std::chrono::nanoseconds>(time, request->ended() - frame.started);
    pool_->release(request);
    if (!results) return Failure(std::move(results.error()));
    HET_ASSIGN(std::vector<ExchangedTensor> tensors, exchanged_tensors(*job, frame, *results));
    found.push_back({job->index, std::move(*results), std::move(tensors)});
  }
  if (queue_->flow() != GST_FLOW_OK) return false;

  const bool analysed = !found.empty();
  if (!frame.reclassify_every) keep_or_carry(frame, found);
  int objects = 0;
  CarriedResults& memory = frame.stream->carried;
  if (frame.is_discontinuity) memory.forget();
  if (!found.empty()) {
    const FrameSpanScope scope = span(FramePart::Attach, frame);
    frame.buffer = gst_buffer_make_writable(frame.buffer);
    objects = attach_results(frame.buffer, frame.info, model_->compiled().name(), metadata_form_,
                             found, nullptr, &stats_.classes());
    latency_grew_ = latency_.measure(static_cast<GstClockTime>(time.count())) || latency_grew_;
  }
  if (frame.is_analysed) {
    memory.keep(frame.buffer, frame.info, found);
  } else if (frame.carries_results) {
    const int carried =
        memory.attach(&frame.buffer, frame.info, model_->compiled().name(), metadata_form_,
                      frame.is_still ? &found : nullptr, &stats_.classes());
    if (carried >= 0) stats_.frame_carried();
    objects += std::max(carried, 0);
  }
  found.clear();
  stats_.frame_passed(analysed, std::chrono::steady_clock::now() - frame.arrived, objects);
  return true;
}

}  // namespace het::gst
