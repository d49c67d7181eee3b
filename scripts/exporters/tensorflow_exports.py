"""Keras' applications by tf2onnx."""

from catalogue import Input, add

NAMES = {"MobileNet": 64, "MobileNetV2": 64, "MobileNetV3Small": 64, "ResNet50V2": 64, "DenseNet121": 64, "NASNetMobile": 64, "Xception": 96,
         "EfficientNetB0": 64, "EfficientNetV2B0": 64, "ConvNeXtTiny": 64, "InceptionV3": 96, "VGG16": 32}
OPSET = 18


def settle(model, size):
    """What BatchNormalization holds before training is the mean 0 and the variance 1; a deep network needs its own."""
    import keras
    import numpy as np

    pictures = np.random.default_rng(0).uniform(-1, 1, (8, size, size, 3)).astype(np.float32)
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.5
    for _ in range(4):
        model(pictures, training=True)


def make(name, size):
    def export(folder):
        import keras
        import tensorflow as tf
        import tf2onnx

        keras.utils.set_random_seed(1)
        model = getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=50)
        settle(model, size)
        signature = [tf.TensorSpec((1, size, size, 3), tf.float32, name="images")]
        tf2onnx.convert.from_function(tf.function(lambda x: model(x, training=False)), signature, opset=OPSET,
                                      output_path=str(folder / "model.onnx"))
        return folder / "model.onnx"

    return export


def lstm(folder):
    import keras
    import tensorflow as tf
    import tf2onnx

    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((12, 8)), keras.layers.Bidirectional(keras.layers.LSTM(16, return_sequences=True)),
                              keras.layers.GRU(8), keras.layers.Dense(5, activation="softmax")])
    tf2onnx.convert.from_function(tf.function(lambda x: model(x)), [tf.TensorSpec((1, 12, 8), tf.float32, name="steps")], opset=OPSET,
                                  output_path=str(folder / "model.onnx"))
    return folder / "model.onnx"


def list_exports():
    for name, size in NAMES.items():
        add("tensorflow", "classify", name, "tf2onnx", make(name, size), inputs={"": Input((1, size, size, 3), -1.0, 1.0)},
            is_small=name == "MobileNetV2")
    add("tensorflow", "text", "LSTM and GRU", "tf2onnx", lstm, inputs={"": Input((1, 12, 8), -1.0, 1.0)}, is_small=True)
