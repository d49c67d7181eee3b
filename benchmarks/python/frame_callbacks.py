"""What frames.py measures: empty callbacks that read every region, and nothing else."""


def process_frame(frame):
    for region in frame.regions():
        region.rect()
        region.label()
        region.confidence()
    return True
