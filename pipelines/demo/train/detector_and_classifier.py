"""The two models, of plain convolutions only, and their way to ONNX."""
import onnx
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

STRIDES = (8, 16, 32)


class Block(nn.Module):
    """Convolution, batch normalisation, ReLU."""

    def __init__(self, inputs, outputs, kernel=3, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.squeeze = Block(width, width // 2, 1)
        self.expand = Block(width // 2, width)

    def forward(self, x):
        return x + self.expand(self.squeeze(x))


class Detector(nn.Module):
    """An anchor-free detector with YOLOX's raw output, for BGR pixels of 0..255."""

    def __init__(self, classes):
        super().__init__()
        self.rows = 5 + classes
        self.stem = nn.Sequential(Block(3, 16, 3, 2), Block(16, 24, 3, 2), Residual(24))
        self.stages = nn.ModuleList([
            nn.Sequential(Block(24, 32, 3, 2), Residual(32)),
            nn.Sequential(Block(32, 48, 3, 2), Residual(48)),
            nn.Sequential(Block(48, 48, 3, 2), Residual(48)),
        ])
        self.lateral = nn.ModuleList([Block(32, 32, 1), Block(48, 32, 1), Block(48, 32, 1)])
        self.box_tower = nn.ModuleList([Block(32, 20) for _ in STRIDES])
        self.class_tower = nn.ModuleList([Block(32, 20) for _ in STRIDES])
        self.box = nn.ModuleList([nn.Conv2d(20, 4, 1) for _ in STRIDES])
        self.presence = nn.ModuleList([nn.Conv2d(20, 1, 1) for _ in STRIDES])
        self.label = nn.ModuleList([nn.Conv2d(20, classes, 1) for _ in STRIDES])
        for presence, label in zip(self.presence, self.label):
            nn.init.constant_(presence.bias, -4.6)
            nn.init.constant_(label.bias, -2.0)
        self.final = False

    def forward(self, pixels):
        x = self.stem(pixels if self.final else pixels / 255)
        features = []
        for stage, lateral in zip(self.stages, self.lateral):
            x = stage(x)
            features.append(lateral(x))
        for finer in (1, 0):
            above = nn.functional.interpolate(features[finer + 1], scale_factor=2.0, mode="nearest")
            features[finer] = features[finer] + above
        levels = []
        for level, feature in enumerate(features):
            tower = self.box_tower[level](feature)
            chance = torch.cat([self.presence[level](tower), self.label[level](self.class_tower[level](feature))], 1)
            if self.final:
                chance = torch.sigmoid(chance)
            rows = torch.cat([self.box[level](tower), chance], 1)
            levels.append(rows.reshape(len(pixels), self.rows, -1))
        return torch.cat(levels, 2).transpose(1, 2)


class Classifier(nn.Module):
    """Colour of a 32x32 crop, for BGR pixels of 0..255."""

    def __init__(self, labels):
        super().__init__()
        self.stem = nn.Sequential(Block(3, 16, 3, 2), Block(16, 24, 3, 2), Block(24, 32, 3, 2))
        self.label = nn.Conv2d(32, labels, 4)
        self.final = False

    def forward(self, pixels):
        x = self.label(self.stem(pixels if self.final else pixels / 255)).flatten(1)
        return torch.softmax(x, 1) if self.final else x


def finish(model):
    """Folds the normalisations and the division by 255 into the convolutions."""
    model = model.eval().float()
    for module in list(model.modules()):
        if isinstance(module, Block):
            module.conv = fuse_conv_bn_eval(module.conv, module.norm)
            module.norm = nn.Identity()
    first = model.stem[0].conv
    first.weight.data /= 255
    model.final = True
    return model


def export(model, shape, path, output):
    torch.onnx.export(finish(model), torch.zeros(shape), path, opset_version=13, dynamo=False,
                      input_names=["images"], output_names=[output])
    model = onnx.load(path)
    shapes = {node.input[1] for node in model.graph.node if node.op_type == "Reshape"}
    for node in model.graph.node:
        if node.output[0] in shapes:  # 0 keeps the batch, whatever its size
            shape = onnx.numpy_helper.to_array(node.attribute[0].t).copy()
            shape[0] = 0
            node.attribute[0].t.CopyFrom(onnx.numpy_helper.from_array(shape))
    onnx.checker.check_model(model)
    onnx.save(model, path)
