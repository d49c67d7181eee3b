"""Says where hetero.gst is to be had. The package of this name, in the folder gst, goes before this file where it is installed."""

raise ModuleNotFoundError("hetero.gst is not in this installation of hetero: on Debian it is the package gstreamer1.0-hetero-python, of the same "
                          "version as python3-hetero; a build has it that finds GStreamer and PyGObject; wheels do not have it", name=__name__)
