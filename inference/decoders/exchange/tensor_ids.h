#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/base/visibility.h"
#include "inference/decoders/decoder.h"

/// Ids of tensors and groups that GStreamer's tensor decoders know from 1.28 on; the registry:
/// https://github.com/collabora/tensor-id-registry
namespace het {

inline constexpr std::string_view kYoloId = "yolo-v8-out";
inline constexpr std::string_view kYoloTurnedId = "yolo-v8-obb-out";
inline constexpr std::string_view kYoloPoseId = "yolo-v8-pose-out";
inline constexpr std::string_view kYoloMasksGroupId = "yolo-v8-segmentation-out";
inline constexpr std::string_view kYoloMaskedId = "yolo-v8-segmentation-out-detections";
inline constexpr std::string_view kYoloPrototypesId = "yolo-v8-segmentation-out-protos";
inline constexpr std::string_view kYoloEndToEndId = "yolo-26-end2end-out";
inline constexpr std::string_view kSsdGroupId = "ssd-mobilenet-v1-variant-1-out";
inline constexpr std::string_view kSsdBoxesId = "ssd-mobilenet-v1-variant-1-out-boxes";
inline constexpr std::string_view kSsdClassesId = "ssd-mobilenet-v1-variant-1-out-classes";
inline constexpr std::string_view kSsdScoresId = "ssd-mobilenet-v1-variant-1-out-scores";
inline constexpr std::string_view kCountId = "generic-variant-1-out-count";
inline constexpr std::string_view kFacesGroupId =
    "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out";
inline constexpr std::string_view kFaceScoresId =
    "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out-scores";
inline constexpr std::string_view kClassesId = "classification-generic-out";
inline constexpr std::string_view kClassProbabilitiesId = "classification-generic-softmaxed-out";

/// GStreamer 1.26's names of a detector's outputs as 1.28 has them; others come back as they are.
std::string_view newer_tensor_id(std::string_view id);
/// The other way round.
HET_API std::string_view older_tensor_id(std::string_view id);

/// The converter that reads outputs with these ids, with the keys that the ids fix; where they name
/// none, that of the group. Without a converter where they mean none of ours, or several. `outputs`
/// are names and ids of all outputs of a model, an id empty where nobody says it.
HET_API DecoderConfig reader_of_tensors(
    std::string_view group, const std::vector<std::pair<std::string, std::string>>& outputs);

}  // namespace het
