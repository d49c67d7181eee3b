#include "inference/readers/openvino_ir/translate.h"

namespace het::ir {

std::span<const TranslationTable> translation_tables() {
  static constexpr TranslationTable kTables[] = {
      activation_translations,  block_translations,         control_translations,
      convolution_translations, detection_translations,     elementwise_translations,
      embedding_translations,   fourier_translations,       gather_translations,
      matrix_translations,      normalization_translations, picture_translations,
      pooling_translations,     random_translations,        recurrent_translations,
      reduction_translations,   resize_translations,        scatter_translations,
      shape_translations,       slice_translations,         sorting_translations,
      space_translations,
  };
  return kTables;
}

void translate(LayerContext& context) {
  for (const TranslationTable table : translation_tables()) {
    for (const Translation& translation : table()) {
      if (translation.type == context.layer().type) return translation.translate(context);
    }
  }
  context.refuse(fmt::format("operation {} of {} has no translation", context.layer().type,
                             context.layer().opset.empty() ? "no opset" : context.layer().opset));
}

}  // namespace het::ir
