"""Names and values of properties, as OpenVINO's Python API has them.

    config = {properties.hint.performance_mode: properties.hint.PerformanceMode.THROUGHPUT}

All names are texts, and every property may be named by its text too: config = {\"PERFORMANCE_HINT\": \"THROUGHPUT\"}. ./hetero devices lists
those that each device understands.
"""

from hetero.properties import device, hint, streams
from hetero.properties._names import PropertyName

__all__ = [
    "available_devices", "cache_dir", "device", "enable_profiling", "execution_devices", "hint", "inference_num_threads", "model_name",
    "num_streams", "optimal_batch_size", "optimal_number_of_infer_requests", "range_for_streams", "streams", "supported_properties",
    "auto_batch_timeout",
]

auto_batch_timeout = PropertyName("AUTO_BATCH_TIMEOUT")
available_devices = PropertyName("AVAILABLE_DEVICES")
cache_dir = PropertyName("CACHE_DIR")
enable_profiling = PropertyName("PERF_COUNT")
execution_devices = PropertyName("EXECUTION_DEVICES")
inference_num_threads = PropertyName("INFERENCE_NUM_THREADS")
model_name = PropertyName("NETWORK_NAME")
num_streams = PropertyName("NUM_STREAMS")
optimal_batch_size = PropertyName("OPTIMAL_BATCH_SIZE")
optimal_number_of_infer_requests = PropertyName("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
range_for_streams = PropertyName("RANGE_FOR_STREAMS")
supported_properties = PropertyName("SUPPORTED_PROPERTIES")
