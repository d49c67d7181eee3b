#include "inference/readers/openvino_ir/translate.h"

namespace het::ir {

void translate(LayerContext& context) {
  using Table = std::span<const Translation> (*)();
  constexpr Table kTables[] = {
      elementwise_translations, activation_translations, convolution_translations,
      shape_translations,       pooling_translations,    reduction_translations,
      slice_translations,       gather_translations,     matrix_translations,
      detection_translations,   resize_translations,     normalization_translations,
      space_translations,       sorting_translations,    recurrent_translations,
      block_translations,       control_translations,    embedding_translations,
      fourier_translations,     picture_translations,    random_translations,
      scatter_translations,
  };
  for (const Table table : kTables) {
    for (const Translation& translation : table()) {
      if (translation.type == context.layer().type) return translation.translate(context);
    }
  }
  context.refuse(fmt::format("operation {} of {} has no translation", context.layer().type,
                             context.layer().opset.empty() ? "no opset" : context.layer().opset));
}

}  // namespace het::ir
