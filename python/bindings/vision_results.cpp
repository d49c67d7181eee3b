#include "python/bindings/vision_results.h"

#include <pybind11/stl.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "python/bindings/failures.h"
#include "python/bindings/tensors.h"

namespace het::python {
namespace {

/// As the dtype in python/hetero/vision_results.py has it.
struct PackedObject {
  float box[4];
  float score;
  int32_t label_id;
};

py::bytearray objects(const PythonResults& self) {
  std::vector<PackedObject> packed;
  packed.reserve(self.found.detections.size());
  for (const Detection& d : self.found.detections) {
    packed.push_back({{d.x_min, d.y_min, d.x_max, d.y_max}, d.confidence, d.label_id});
  }
  return py::bytearray(reinterpret_cast<const char*>(packed.data()),
                       packed.size() * sizeof(PackedObject));
}

/// Labels come from files, whose bytes may be no UTF-8.
py::str text(const std::string& bytes) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

py::list texts(const std::vector<std::string>& all) {
  py::list list;
  for (const std::string& one : all) list.append(text(one));
  return list;
}

py::list labels(const PythonResults& self) {
  py::list list;
  for (const Detection& d : self.found.detections) list.append(text(d.label));
  return list;
}

py::object landmarks_of(const Landmarks& landmarks) {
  std::vector<float> flat;
  for (const Point& point : landmarks.points) flat.insert(flat.end(), {point.x, point.y});
  const Tensor points =
      Tensor::from<float>({static_cast<int64_t>(landmarks.points.size()), 2}, flat);
  const Tensor scores = Tensor::from<float>({static_cast<int64_t>(landmarks.confidences.size())},
                                            landmarks.confidences);
  return py::module_::import("hetero.vision_results")
      .attr("Landmarks")(array_of(points), texts(landmarks.names), array_of(scores),
                         py::cast(landmarks.connections));
}

py::list landmarks(const PythonResults& self) {
  py::list list;
  for (const Detection& d : self.found.detections) list.append(landmarks_of(d.landmarks));
  return list;
}

py::list masks(const PythonResults& self) {
  py::list list;
  for (const Detection& d : self.found.detections) {
    list.append(d.mask.empty()
                    ? py::object(py::none())
                    : array_of(Tensor::from<float>({d.mask.height, d.mask.width}, d.mask.values)));
  }
  return list;
}

py::list rotations(const PythonResults& self) {
  py::list list;
  for (const Detection& d : self.found.detections) list.append(d.rotation);
  return list;
}

py::object row_class(const char* name) {
  return py::module_::import("hetero.vision_results").attr(name);
}

py::list classifications(const PythonResults& self) {
  const py::object make = row_class("Classification");
  py::list list;
  for (const Classification& c : self.found.classifications) {
    list.append(make(text(c.attribute), text(c.label), c.label_id, c.confidence));
  }
  return list;
}

py::list keypoints(const PythonResults& self) {
  const py::object make = row_class("Keypoints");
  py::list list;
  for (const Keypoints& k : self.found.keypoints) {
    list.append(make(text(k.format), text(k.layer), landmarks_of(k.landmarks), py::cast(k.depths),
                     k.confidence));
  }
  return list;
}

py::list segmentations(const PythonResults& self) {
  const py::object make = row_class("Segmentation");
  py::list list;
  for (const Segmentation& s : self.found.segmentations) {
    list.append(
        make(text(s.attribute), text(s.layer), py::make_tuple(s.x_min, s.y_min, s.x_max, s.y_max),
             array_of(Tensor::from<uint16_t>({s.height, s.width}, s.class_ids)), texts(s.labels)));
  }
  return list;
}

py::list tensors(const PythonResults& self) {
  const py::object make = row_class("NamedTensor");
  py::list list;
  for (const TensorResult& t : self.found.tensors) {
    list.append(make(text(t.attribute), text(t.layer), text(t.format), array_of(t.values)));
  }
  return list;
}

py::object picture_array(const Image& image) {
  const int64_t channels = plane_row_bytes(image.format, 0, 1);
  const Shape shape =
      channels == 1 ? Shape{image.height, image.width} : Shape{image.height, image.width, channels};
  std::vector<int64_t> strides{image.planes[0].stride_bytes, channels};
  if (channels > 1) strides.push_back(1);
  return array_of(take(Tensor::view({ElementType::UInt8, shape}, image.planes[0].buffer,
                                    image.planes[0].offset, strides)));
}

py::list pictures(const PythonResults& self) {
  const py::object make = row_class("Picture");
  py::list list;
  for (const PictureResult& p : self.found.pictures) {
    list.append(
        make(text(p.attribute), std::string(to_string(p.image.format)), picture_array(p.image)));
  }
  return list;
}

}  // namespace

void define_vision_results(py::module_& module) {
  py::class_<PythonResults, std::shared_ptr<PythonResults>>(
      module, "RawResults", "What was found on a picture; hetero.VisionResult shows it.")
      .def_property_readonly("width", [](const PythonResults& self) { return self.width; })
      .def_property_readonly("height", [](const PythonResults& self) { return self.height; })
      .def("objects", &objects)
      .def("labels", &labels)
      .def("landmarks", &landmarks)
      .def("masks", &masks)
      .def("rotations", &rotations)
      .def("classifications", &classifications)
      .def("keypoints", &keypoints)
      .def("segmentations", &segmentations)
      .def("tensors", &tensors)
      .def("pictures", &pictures);
}

}  // namespace het::python
