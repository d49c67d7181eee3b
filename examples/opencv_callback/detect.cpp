// Objects in pictures that are cv::Mat, without GStreamer: the pixels are used where they lie, and
// a callback tells of the end. Arguments: a model, its model-proc, pictures.
#include <hetinference/cpp.h>

#include <cstdio>
#include <deque>
#include <exception>
#include <opencv2/imgcodecs.hpp>

namespace {

/// A picture on its way. Stands still while its request runs.
struct Job {
  const hetinference::VisionModel* model;
  hetinference::Request request;
  const char* name;
  int width, height;
};

/// The Mat's pixels, not copied: a reference of our own keeps them until the library lets go.
HetPicture picture_of(const cv::Mat& mat) {
  auto picture = hetinference::make_struct<HetPicture>();
  picture.format = HET_PIXEL_BGR;
  picture.width = mat.cols;
  picture.height = mat.rows;
  picture.planes[0] = mat.data;
  picture.stride_bytes[0] = static_cast<int64_t>(mat.step[0]);
  picture.size_bytes[0] = mat.step[0] * static_cast<size_t>(mat.rows);
  picture.release = [](void* kept) { delete static_cast<cv::Mat*>(kept); };
  picture.user = new cv::Mat(mat);
  return picture;
}

/// On a thread of the device. No exception may leave.
void ended(void* user, HetStatus status, const char* message) noexcept try {
  const Job& job = *static_cast<Job*>(user);
  if (status != HET_OK) {
    std::fprintf(stderr, "%s: %s\n", job.name, message);
    return;
  }
  const auto results = job.model->results(job.request, job.width, job.height);
  for (const HetFoundObject& object : results.objects()) {
    std::printf("%s: %s %.2f at %.0f,%.0f to %.0f,%.0f\n", job.name, object.label,
                object.confidence, object.x_min, object.y_min, object.x_max, object.y_max);
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s MODEL MODEL_PROC PICTURE...\n", argv[0]);
    return 2;
  }
  hetinference::Core core;
  auto settings = hetinference::make_struct<HetVisionSettings>();
  settings.model = argv[1];
  settings.model_proc = argv[2];
  settings.device = "CPU";
  auto model = core.load_vision_model(settings);

  std::deque<Job> jobs;
  for (int i = 3; i < argc; ++i) {
    const cv::Mat mat = cv::imread(argv[i]);
    if (mat.empty()) {
      std::fprintf(stderr, "%s: not a picture that OpenCV reads\n", argv[i]);
      return 1;
    }
    Job& job = jobs.emplace_back(Job{&model, model.create_request(), argv[i], mat.cols, mat.rows});
    const HetPicture picture = picture_of(mat);
    try {
      model.set_picture(job.request, picture);
    } catch (...) {
      picture.release(picture.user);  // the call failed: the pixels never were the library's
      throw;
    }
    job.request.set_callback(ended, &job);
    job.request.start_async();
  }
  for (Job& job : jobs) job.request.wait();  // for the callbacks, too
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
