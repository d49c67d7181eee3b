"""What a device is to aim at."""

import enum

from hetero.properties._names import PropertyName

__all__ = [
    "ExecutionMode", "ModelDistributionPolicy", "PerformanceMode", "Priority", "SchedulingCoreType", "enable_cpu_pinning",
    "enable_hyper_threading", "execution_mode", "inference_precision", "model_distribution_policy", "model_priority", "num_requests",
    "performance_mode", "scheduling_core_type",
]


class PerformanceMode(str, enum.Enum):
    """LATENCY: one answer soon; THROUGHPUT: many in all; CUMULATIVE_THROUGHPUT: many in all, on all devices of AUTO."""
    LATENCY = "LATENCY"
    THROUGHPUT = "THROUGHPUT"
    CUMULATIVE_THROUGHPUT = "CUMULATIVE_THROUGHPUT"


class ExecutionMode(str, enum.Enum):
    """Narrower types where they are faster, or the model's own."""
    PERFORMANCE = "PERFORMANCE"
    ACCURACY = "ACCURACY"


class Priority(str, enum.Enum):
    """Of a model beside others on the device."""
    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    DEFAULT = "DEFAULT"


class SchedulingCoreType(str, enum.Enum):
    """Cores of a hybrid processor."""
    ANY_CORE = "ANY_CORE"
    PCORE_ONLY = "PCORE_ONLY"
    ECORE_ONLY = "ECORE_ONLY"


class ModelDistributionPolicy(str, enum.Enum):
    """How HETERO spreads a model over devices; it refuses TENSOR_PARALLEL."""
    TENSOR_PARALLEL = "TENSOR_PARALLEL"
    PIPELINE_PARALLEL = "PIPELINE_PARALLEL"


enable_cpu_pinning = PropertyName("ENABLE_CPU_PINNING")
enable_hyper_threading = PropertyName("ENABLE_HYPER_THREADING")
execution_mode = PropertyName("EXECUTION_MODE_HINT")
inference_precision = PropertyName("INFERENCE_PRECISION_HINT")
model_distribution_policy = PropertyName("MODEL_DISTRIBUTION_POLICY")
model_priority = PropertyName("MODEL_PRIORITY")
num_requests = PropertyName("PERFORMANCE_HINT_NUM_REQUESTS")
performance_mode = PropertyName("PERFORMANCE_HINT")
scheduling_core_type = PropertyName("SCHEDULING_CORE_TYPE")
