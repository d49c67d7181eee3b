"""What devices are, and which of them a composite one uses."""

from hetero.properties._names import PropertyName

__all__ = ["capabilities", "full_name", "priorities", "properties", "thermal", "type"]

capabilities = PropertyName("OPTIMIZATION_CAPABILITIES")
full_name = PropertyName("FULL_DEVICE_NAME")
priorities = PropertyName("MULTI_DEVICE_PRIORITIES")
properties = PropertyName("DEVICE_PROPERTIES")
thermal = PropertyName("HDDL_DEVICE_THERMAL")
type = PropertyName("DEVICE_TYPE")
