"""The best path of CTC (torchaudio's greedy decoding) through the scores of an exported network of pytorch_exports."""

import numpy as np
from PIL import Image
from found import Found
from pytorch_exports import CHARACTERS, SHAPE
from session import Session
from settled import scale_layers

IS_NORMALISED = False


def spread(model, example):
    """Gives the last layer such weights that steps differ in what they read."""
    import torch

    model.eval()
    scale_layers(model, (255 * torch.rand(SHAPE),), [(model.classes, 8.0, torch.tensor([0.0]))])


class Own:
    def __init__(self, export, file, folder):
        self.file = file
        self.is_steps_first, self.is_probability = "steps first" in export.options, export.options.endswith(", softmax")
        self.session = Session(file)
        self.sizes = [SHAPE[:1:-1]] * 3
        self.variants = {"values in 0..1": {"scale": 1 / 255}, "black and white exchanged": {"swap": True}}
        self.mode = "L"  # libraries weigh colours alike, but round them in ways of their own
        self.labels_file = folder / "labels.txt"
        self.labels_file.write_text("\n".join(CHARACTERS) + "\n")

    def find(self, picture, threshold, swap=False, scale=1.0):
        import torch

        grey = np.asarray(Image.fromarray(picture).convert("L").resize(SHAPE[:1:-1], Image.Resampling.BILINEAR), np.float32)
        scores = torch.from_numpy(self.session.run(scale * (255 - grey if swap else grey)[None, None])[0])
        scores = scores[:, 0] if self.is_steps_first else scores[0]
        best, classes = (scores if self.is_probability else scores.softmax(-1)).max(-1)
        kept = [i for i, c in enumerate(classes) if c and (i == 0 or c != classes[i - 1])]
        return Found(classes=[("".join(CHARACTERS[classes[i] - 1] for i in kept), float(best[kept].mean()))])
