// Built against the installed tree with pkg-config's flags only. Argument: a detector, its
// model-proc, a PPM picture; prints the labels found.
#include <hetinference/cpp.h>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  std::FILE* file = std::fopen(argv[3], "rb");
  int width = 0;
  int height = 0;
  if (!file || std::fscanf(file, "P6 %d %d 255", &width, &height) != 2) return 3;
  std::fgetc(file);
  std::vector<unsigned char> pixels(static_cast<size_t>(width) * static_cast<size_t>(height) * 3);
  const bool complete = std::fread(pixels.data(), 1, pixels.size(), file) == pixels.size();
  std::fclose(file);
  if (!complete) return 4;

  hetinference::Core core;
  auto settings = hetinference::make_struct<HetVisionSettings>();
  settings.model = argv[1];
  settings.model_proc = argv[2];
  auto model = core.load_vision_model(settings);
  auto request = model.create_request();
  auto picture = hetinference::make_struct<HetPicture>();
  picture.format = HET_PIXEL_RGB;
  picture.width = width;
  picture.height = height;
  picture.planes[0] = pixels.data();
  picture.stride_bytes[0] = width * 3;
  picture.size_bytes[0] = pixels.size();
  model.set_picture(request, picture);
  request.infer();
  const auto results = model.results(request, width, height);
  for (const HetFoundObject& object : results.objects()) std::puts(object.label);

  try {
    core.read_model("/no/such/model.onnx");
    return 5;
  } catch (const hetinference::Error& error) {
    return error.status() == HET_NOT_FOUND ? 0 : 6;
  }
} catch (const hetinference::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
