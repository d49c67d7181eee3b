"""What timm's own code finds with an exported file: its data configuration, and a softmax or the vector itself. Beside the file lies the config.json that timm
writes for a hub."""

import numpy as np
from found import Found
from session import MISTAKES, Session, chw, ranked, softmax
from timm_exports import NAMES, PERSON

IS_NORMALISED = True


class Own:
    def __init__(self, export, file, folder):
        import timm
        from timm.models._hub import save_config_for_hf

        self.file = file
        is_classifier = export.task == "classify"
        self.shape = (NAMES[export.name],) * 2 if is_classifier else PERSON
        model = timm.create_model(export.name, pretrained=False, **({} if is_classifier else {"num_classes": 0}))
        save_config_for_hf(model, folder / "config.json")
        self.has_classes = model.num_classes > 0  # some of its classifiers have none unless they are asked for
        self.config = timm.data.resolve_model_data_config(model) | {"input_size": (3, *self.shape)}
        self.session = Session(file)
        self.sizes = [self.shape[::-1]] * 3
        self.usual = {"mean": self.config["mean"], "deviation": self.config["std"]}
        self.variants = {name: {"how": how} for name, how in MISTAKES.items()}
        self.variants["its colours in the other order"] = {"how": self.usual | {"swap": True}}

    def find(self, picture, threshold, how=None):
        if picture.shape[:2] == self.shape:
            values = chw(picture, **(self.usual if how is None else how))
        else:
            import timm
            from PIL import Image

            values = np.asarray(timm.data.create_transform(**self.config)(Image.fromarray(picture)))[None]
        vector = self.session.run(values)[0][0]
        return Found(classes=ranked(softmax(vector))) if self.has_classes else Found(values=vector)
