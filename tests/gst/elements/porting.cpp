/// docs/porting.md: every property of DL Streamer and every point of OpenVINO's guides, and what
/// became of it here. Made from docs/porting_properties.txt, the live elements and the table of
/// guides; HET_WRITE_PORTING=1 writes the page anew.

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "inference/devices/guide_table.h"
#include "inference/devices/properties.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

struct PortedProperty {
  std::string element;
  std::string property;
  std::string state;
  std::string text;  ///< test or reason
};

std::vector<PortedProperty> read_list() {
  std::vector<PortedProperty> list;
  std::istringstream lines(read_text(source_file("docs/porting_properties.txt")));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string elements;
    PortedProperty ported;
    words >> elements >> ported.property >> ported.state;
    std::getline(words >> std::ws, ported.text);
    std::istringstream names(elements);
    while (std::getline(names, ported.element, ',')) list.push_back(ported);
  }
  return list;
}

/// A row of docs/porting_elements.txt.
struct LeftOut {
  std::vector<std::string> elements;
  std::string names;
  std::string reason;
  std::string instead;
};

std::string without_ends(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::vector<LeftOut> read_left_out() {
  std::vector<LeftOut> list;
  std::istringstream lines(read_text(source_file("docs/porting_elements.txt")));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    LeftOut row;
    std::getline(fields, row.names, '|');
    std::getline(fields, row.reason, '|');
    std::getline(fields, row.instead);
    for (std::string* field : {&row.names, &row.reason, &row.instead})
      *field = without_ends(*field);
    std::istringstream names(row.names);
    for (std::string name; std::getline(names, name, ',');)
      row.elements.push_back(without_ends(name));
    list.push_back(row);
  }
  return list;
}

std::string left_out_part() {
  std::ostringstream text;
  text << "\n## DL Streamer's elements that are not here\n\n"
          "Made from `docs/porting_elements.txt`.\n\n"
          "| element | why not | instead |\n| --- | --- | --- |\n";
  for (const LeftOut& row : read_left_out())
    text << "| " << row.names << " | " << row.reason << " | " << row.instead << " |\n";
  return text.str();
}

bool is_element(const std::string& name) {
  GstElementFactory* factory = gst_element_factory_find(name.c_str());
  if (factory) gst_object_unref(factory);
  return factory != nullptr;
}

/// Type of a property of the live element; empty where it has none of this name.
std::string live_type(const PortedProperty& ported) {
  GstElement* element = gst_element_factory_make(ported.element.c_str(), nullptr);
  if (!element) return "";
  GParamSpec* spec =
      g_object_class_find_property(G_OBJECT_GET_CLASS(element), ported.property.c_str());
  const std::string type = !spec                        ? ""
                           : G_IS_PARAM_SPEC_ENUM(spec) ? "enum"
                                                        : g_type_name(spec->value_type);
  gst_object_unref(element);
  return type;
}

/// The texts of all test files, to look for tests in.
std::string test_sources() {
  std::string text;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source_file("tests/gst"))) {
    if (entry.path().extension() == ".cpp") text += read_text(entry.path().string());
  }
  // Those of heteropython, as a GoogleTest would be written.
  std::istringstream lines(read_text(source_file("tests/python/element.py")));
  std::string suite;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("class ", 0) == 0) suite = line.substr(6, line.find('(') - 6);
    if (line.rfind("    def test_", 0) == 0)
      text += "(" + suite + ", " + line.substr(8, line.find('(') - 8) + ")";
  }
  return text;
}

/// What a guide's row says here: the property and how, or what the property does.
std::string said_here(const GuideRow& row) {
  if (row.property.empty()) return std::string(row.here);
  std::string_view text = row.here;
  for (const PropertyDef& def : property_table()) {
    if (text.empty() && def.name == row.property) text = def.doc;
  }
  std::string here = "`" + std::string(row.property) + "`: ";
  for (const char c : text) here += c == '|' ? std::string("\\|") : std::string(1, c);
  return here;
}

std::string guides_part() {
  std::ostringstream text;
  text
      << "\n## From OpenVINO's guides\n\n"
         "What the guides offer, under the names that they give it, and which property it is here: "
         "those of 2022 and later, and\n"
         "the keys of those of 2019 to 2021. The last column says whether the key is taken as it "
         "is "
         "written. `hetero devices\n"
         "--guides` prints the same, `hetero query MODEL -d DEVICE --guides` what concerns a "
         "device, "
         "with the values; the guides\n"
         "of HDDL and MYRIAD are in [vpu.md](vpu.md). Made from "
         "`inference/devices/guide_table.cpp` "
         "and the table of properties.\n\n"
         "| guide | its name | for | here | as written |\n| --- | --- | --- | --- | --- |\n";
  for (const GuideRow& row : guide_table()) {
    text << "| " << row.guide << " | `" << row.name << "` | " << row.purpose << " | "
         << said_here(row) << " | "
         << (!is_property_key(row.name)    ? "-"
             : is_accepted_as_written(row) ? "yes"
                                           : "no")
         << " |\n";
  }
  return text.str();
}

std::string page() {
  const std::map<std::string, std::string> words{{"same", "same; seen by"},
                                                 {"warning", "accepted with a warning:"},
                                                 {"partly", "partly:"},
                                                 {"absent", "not there:"}};
  std::ostringstream text;
  text << "# From DL Streamer and OpenVINO\n\n"
          "[What OpenVINO's guides offer](#from-openvinos-guides) comes behind DL Streamer's "
          "elements\nand [those that are not "
          "here](#dl-streamers-elements-that-are-not-here).\n\n## From DL Streamer\n\n"
          "Elements and properties are DL Streamer's with `gva` replaced by `hetero`. Made from "
          "`docs/porting_properties.txt` and\n"
          "the live elements by the test `Porting.ThePageIsFresh` of the suite gst_pipelines (with "
          "HET_WRITE_PORTING=1 it writes\n"
          "the page); it fails when this page is stale. A property counts as the same only with a "
          "test that sees its effect.\n"
          "\n"
          "- heterotrack looks at no pixel: zero-term is the same as zero-term-imageless, where "
          "gvatrack compares colours too.\n"
          "- heterotrack's tracking-type has byte-track and oc-sort, too, which take a detector's "
          "low "
          "confidences\n"
          "  (`heterodetect threshold=0.1 ! heterotrack tracking-type=byte-track`) and keys of "
          "their own "
          "in config.\n"
          "- heteroclassify's landmarks, points and segmentations move with the object between "
          "reclassifications.\n"
          "- heterowatermark's `font-type` names fonts of the system where gvawatermark has "
          "OpenCV's: "
          "simplex, plain and duplex are\n"
          "  sans, complex, triplex and complex_small serif, script_simplex and script_complex "
          "cursive.\n"
          "- heterometaaggregate has no properties of its own, as gvametaaggregate.\n"
          "- core-pinning binds the threads that compute the model, where gvadetect's binds the "
          "thread that sets the caps.\n"
          "- A file of mqtt-config that does not speak of ssl_verify and "
          "ssl_enable_server_cert_auth "
          "has the broker's\n"
          "  certificate checked, where gvametapublish's does not; max-connect-attempts is 1 to "
          "10.\n"
          "- read-pipe ends the stream with the last writer only where no source is linked to "
          "heterofpscounter.\n"
          "- custom-preproc-lib and custom-postproc-lib load libraries for the interfaces of "
          "`inference/`, not DL Streamer's.\n"
          "\n"
          "| element | property | type | here |\n| --- | --- | --- | --- |\n";
  for (const PortedProperty& ported : read_list()) {
    const std::string type = live_type(ported);
    text << "| " << ported.element << " | " << ported.property << " | "
         << (type.empty() ? "-" : type) << " | " << words.at(ported.state) << " " << ported.text
         << " |\n";
  }
  return text.str() + left_out_part() + guides_part();
}

/// The page is made where all elements are built.
bool has_heteropython() {
  return is_element("heteropython");
}

TEST(Porting, WhatTheListSaysIsTrue) {
  if (!has_heteropython()) GTEST_SKIP() << "this build has no heteropython";
  const std::string sources = test_sources();
  int warnings = 0;
  int all = 0;
  for (const PortedProperty& ported : read_list()) {
    const std::string name = ported.element + "." + ported.property;
    ++all;
    EXPECT_FALSE(ported.text.empty()) << name;
    EXPECT_EQ(live_type(ported).empty(), ported.state == "absent")
        << name << " is " << ported.state << " in docs/porting_properties.txt";
    warnings += ported.state == "warning" ? 1 : 0;
    if (ported.state != "same") continue;
    const size_t dot = ported.text.find('.');
    ASSERT_NE(dot, std::string::npos) << name;
    const std::string test =
        "(" + ported.text.substr(0, dot) + ", " + ported.text.substr(dot + 1) + ")";
    EXPECT_NE(sources.find(test), std::string::npos) << name << ": no test " << ported.text;
  }
  EXPECT_LE(warnings * 10, all) << "at most a tenth is accepted with a warning";
}

TEST(Porting, EveryElementOfDlStreamerIsHereOrSaysWhyNot) {
  if (!has_heteropython()) GTEST_SKIP() << "this build has no heteropython";
  // What DL Streamer 2026.2 registers.
  const char* const all =
      "gvadetect gvaclassify gvainference gvaaudiodetect gvaaudiotranscribe gvagenai gvatrack "
      "gvawatermark gvawatermarkimpl gvawatermark3d gvametaconvert gvametaaggregate gvadeskew "
      "gvamotiondetect gvafpsthrottle gvaanalytics gvastreammux gvastreamdemux gvafpscounter "
      "gvametapublish gvametapublishfile gvametapublishmqtt gvametapublishkafka gvapython "
      "gvaattachroi gvarealsense realsense g3dlidarsrc g3dlidarparse g3dradarprocess g3dinference "
      "g3dobjectfuser g3drender gvanms gvabboxregression gvainference2 object_detect "
      "object_classify object_track video_inference meta_overlay meta_aggregate meta_smooth "
      "roi_split batch_create batch_split processbin capsrelax gvadrop video_frames_buffer";
  std::map<std::string, LeftOut> left_out;
  for (const LeftOut& row : read_left_out()) {
    EXPECT_FALSE(row.reason.empty() || row.instead.empty()) << row.names;
    for (const std::string& name : row.elements) {
      EXPECT_TRUE(left_out.emplace(name, row).second) << name << " stands there twice";
    }
  }
  std::istringstream names(all);
  for (std::string name; names >> name;) {
    const bool is_here = name.rfind("gva", 0) == 0 && is_element("hetero" + name.substr(3));
    EXPECT_NE(is_here, left_out.erase(name) > 0) << name;
  }
  EXPECT_TRUE(left_out.empty()) << left_out.begin()->first << " is no element of DL Streamer";
}

TEST(Porting, ThePageIsFresh) {
  if (!has_heteropython()) GTEST_SKIP() << "this build has no heteropython";
  const std::string path = source_file("docs/porting.md");
  if (std::getenv("HET_WRITE_PORTING")) write_text(path, page());
  EXPECT_EQ(read_text(path), page()) << "run this test with HET_WRITE_PORTING=1";
}

}  // namespace
}  // namespace het::gst_test
