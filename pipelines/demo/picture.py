#!/usr/bin/env python3
"""Saves the middle frame of a video as a picture: picture.py VIDEO PICTURE."""
import sys

import cv2


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    video = cv2.VideoCapture(sys.argv[1])
    frames = int(video.get(cv2.CAP_PROP_FRAME_COUNT))
    video.set(cv2.CAP_PROP_POS_FRAMES, frames // 2)
    read, picture = video.read()
    if not read or not cv2.imwrite(sys.argv[2], picture):
        sys.exit(f"cannot take a picture of '{sys.argv[1]}'")


if __name__ == "__main__":
    main()
