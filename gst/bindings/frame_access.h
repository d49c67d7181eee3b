#pragma once

#include <gst/video/video.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gst/metadata/region_meta.h"

namespace het::gst {

/// What a region's meta says by itself.
struct RegionContent {
  Rect rect;              ///< empty for what others say of the whole picture
  std::string_view type;  ///< lives as long as the process
  bool is_whole_picture = false;
  std::optional<float> confidence;
  std::optional<TurnedBox> turned;
  std::optional<int> id;
  std::optional<int> parent_id;
};

/// What extensions of other languages do with a frame's metadata, of both forms. The plugin hetero
/// leaves it with its GstPlugin; extensions are built from the same sources, and of another version
/// only `version` may be read. Functions that change something need a writable buffer.
struct FrameAccess {
  const char* version;  ///< of gst-hetero; the first member in every version

  /// All of them, those of the whole picture too. Handles are valid until metadata is removed.
  std::vector<RegionMeta> (*regions)(GstBuffer* buffer);
  RegionContent (*content)(const RegionMeta& region);
  const GList* (*params)(const RegionMeta& region);
  /// See metadata_copy.h; the caller frees them.
  std::vector<GstStructure*> (*params_of_others)(const RegionMeta& region,
                                                 const GstVideoInfo& info);
  std::optional<int> (*object_id)(const RegionMeta& region);

  /// In the form of the frame's last region; `rect` lies inside the picture.
  RegionMeta (*add_region)(GstBuffer* buffer, const Rect& rect, std::string_view type,
                           float confidence);
  RegionMeta (*add_whole_picture)(GstBuffer* buffer, int width, int height);
  /// Takes the structure over.
  void (*add_params)(RegionMeta& region, GstStructure* params);
  void (*set_object_id)(RegionMeta& region, int id);
  void (*set_parent)(GstBuffer* buffer, RegionMeta region, const RegionMeta& parent);
  /// Other handles of the frame are no longer valid afterwards.
  void (*remove_region)(GstBuffer* buffer, RegionMeta region);

  std::vector<std::string> (*messages)(GstBuffer* buffer);
  void (*add_message)(GstBuffer* buffer, const std::string& message);
  /// Removes the first one with this text; false where there is none.
  bool (*remove_message)(GstBuffer* buffer, std::string_view message);
};

/// The name of the table among the data of the GObject.
inline constexpr char kFrameAccess[] = "hetero-frame-access";

/// Leaves the table with the plugin.
void offer_frame_access(GstPlugin* plugin);

}  // namespace het::gst
