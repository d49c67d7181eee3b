#include "inference/inspection/inspection.h"

#include <fmt/format.h>

#include <utility>

#include "inference/decoders/descriptors/model_proc_text.h"
#include "inference/decoders/readings/graph_readings.h"

namespace het {
namespace {

/// Sides of pictures where neither the model nor the user says them: what most detectors take.
constexpr int kUnknownSide = 640;

std::vector<std::string> warnings_of(const Inspection& inspection) {
  const ModelReading& reading = inspection.reading;
  std::vector<std::string> warnings;
  if (!reading.choice) {
    const Alternative* const likeliest = inspection.likeliest();
    warnings.push_back(likeliest == nullptr
                           ? std::string("no converter reads such outputs")
                           : "how results are read is not certain; a descriptor that is written "
                             "here names " +
                                 likeliest->converter + ", which fits");
  }
  if (reading.assumed && reading.assumed->is_guess)
    warnings.push_back("how pictures get in is a guess: \"input_preproc\": [" +
                       to_text(reading.picture.preproc) + "]");
  if (inspection.guessed_side > 0)
    warnings.push_back(
        fmt::format("the model leaves the size of pictures open; {0}x{0} is taken where it does, "
                    "--width and --height say another",
                    inspection.guessed_side));
  return warnings;
}

}  // namespace

Result<Inspection> inspect_model(Core& core, const VisionModelSettings& settings) {
  Inspection inspection{.path = settings.model};
  Result<ModelReading> reading = read_vision_model(core, settings);
  if (!reading && settings.unknown_side == 0) {
    VisionModelSettings sized = settings;
    sized.unknown_side = kUnknownSide;
    Result<ModelReading> again = read_vision_model(core, sized);
    if (again) {
      inspection.guessed_side = kUnknownSide;
      reading = std::move(again);
    }
  }
  if (!reading) return Failure(std::move(reading.error()));
  inspection.reading = std::move(*reading);
  const ModelReading& known = inspection.reading;
  inspection.tensors = tensor_group(*known.model, known.metadata, known.choice, known.input_ports,
                                    known.output_ports);
  DecoderConfig entry = known.metadata.output;
  entry.converter.clear();
  if (!known.labels.empty()) entry.labels = known.labels;
  entry = completed_by_graph(entry, *known.model, known.input_ports, known.output_ports);
  inspection.alternatives =
      alternatives_for(entry, known.input_ports, known.output_ports,
                       likely_converters(*known.model, known.input_ports, known.output_ports));
  if (known.choice) {
    std::erase_if(inspection.alternatives, [&](const Alternative& alternative) {
      return alternative.converter == known.choice->configs.front().converter;
    });
  }
  inspection.warnings = warnings_of(inspection);
  return inspection;
}

}  // namespace het
