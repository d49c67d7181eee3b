"""Networks of which no exporter has one, written here: a line of text read by convolutions and a recurrent layer (CRNN, arXiv 1507.05717)."""

from catalogue import Input, add

CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz"  # behind the blank
SHAPE = (1, 1, 32, 128)
FORMS = {"steps first": (True, None), "batch first, softmax": (False, "softmax"), "steps first, log_softmax": (True, "log_softmax")}


def crnn(steps_first, ending):
    import torch
    from torch import nn

    def block(inputs, outputs, pool):
        return [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(pool)]

    class Crnn(nn.Module):
        def __init__(self):
            super().__init__()
            self.pictures = nn.Sequential(*block(1, 16, 2), *block(16, 32, 2), *block(32, 48, (2, 1)), *block(48, 48, (4, 1)))
            self.steps = nn.LSTM(48, 32, bidirectional=True)
            self.classes = nn.Linear(64, 1 + len(CHARACTERS))

        def forward(self, pixels):  # 0..255
            columns = self.pictures((pixels / 255 - 0.5) / 0.5).squeeze(2)
            scores = self.classes(self.steps(columns.permute(2, 0, 1))[0])
            if ending:
                scores = getattr(torch, ending)(scores, dim=-1)
            return scores if steps_first else scores.permute(1, 0, 2)

    return Crnn()


def make(form, how):
    def export(folder):
        import torch
        import torch_export
        import weights

        weights.seed()
        model = crnn(*FORMS[form]).eval()
        example = torch.zeros(SHAPE)
        weights.settle(model, example)
        return torch_export.write(model, [example], ["pixels"], how, folder)

    return export


def list_exports():
    for form in FORMS:
        for how in ("torchscript", "dynamo", "openvino"):
            options = ", ".join(part for part in ({"torchscript": "", "openvino": "IR"}.get(how, how), form) if part)
            add("pytorch", "text", "crnn", options, make(form, how), inputs={"": Input(SHAPE, 0, 255)}, is_small=True)
