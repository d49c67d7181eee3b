/// The plugin as a whole: it loads, gst-inspect-1.0 can show it, and the examples in the elements'
/// documentation run.

#include <gst/gst.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

const std::vector<std::string> kElements{
    "heteroanalytics",       "heterodetect",          "heteroclassify",
    "heteroinference",       "heteroattachroi",       "heterometaaggregate",
    "heterotrack",           "heterowatermark",       "heterometaconvert",
    "heterometapublish",     "heterofpscounter",      "heterofpsthrottle",
    "heterometapublishfile", "heterometapublishmqtt", "heterometapublishkafka",
    "heteromotiondetect"};

struct CommandResult {
  int status = -1;
  std::string output;  ///< stdout and stderr
};

/// Why programs of others cannot be judged in this build; empty where they can.
std::string why_no_commands() {
#if defined(__SANITIZE_THREAD__)
  return "ThreadSanitizer does not know GLib's locks in gst-launch-1.0 (see glib_locks.cpp)";
#else
  return "";
#endif
}

CommandResult run_command(const std::string& command) {
  CommandResult result;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return result;
  char bytes[4096];
  size_t count = 0;
  while ((count = std::fread(bytes, 1, sizeof(bytes), pipe)) > 0)
    result.output.append(bytes, count);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

/// A line of gst-launch-1.0 under GStreamer's leaks tracer.
CommandResult run_traced(const std::string& line) {
  CommandResult result =
      run_command("cd '" + source_file("") +
                  "' && GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 " +
                  "timeout 120 gst-launch-1.0 " + line);
  EXPECT_EQ(result.output.find("object-alive, type-name=(string)Gst"), std::string::npos)
      << line << "\n"
      << result.output;
  EXPECT_EQ(result.output.find("CRITICAL"), std::string::npos) << line << "\n" << result.output;
  return result;
}

/// The examples of the doc block at the head of a source file: what stands between |[ and ]|, with
/// lines joined at backslashes.
std::vector<std::string> example_lines(const std::string& path) {
  std::vector<std::string> examples;
  std::ifstream file(path);
  std::string line;
  bool inside = false;
  while (std::getline(file, line) && line.find("*/") == std::string::npos) {
    line.erase(0, std::min(line.find("* ") + 2, line.size()));
    if (line == "|[") {
      inside = true;
      examples.emplace_back();
    } else if (line == "]|") {
      inside = false;
    } else if (inside) {
      if (!line.empty() && line.back() == '\\') line.pop_back();
      examples.back() += line;
    }
  }
  return examples;
}

TEST(Plugin, Loads) {
  GstPlugin* plugin = gst_plugin_load_by_name("hetero");
  ASSERT_NE(plugin, nullptr) << "GST_PLUGIN_PATH has to name the build folder's gst";
  EXPECT_STREQ(gst_plugin_get_license(plugin), "MIT/X11");
  gst_object_unref(plugin);
}

TEST(Plugin, GstInspectShowsEveryElement) {
  if (!why_no_commands().empty()) GTEST_SKIP() << why_no_commands();
  for (const std::string& name : kElements) {
    const CommandResult result = run_command("gst-inspect-1.0 " + name);
    EXPECT_EQ(result.status, 0) << result.output;
    for (const char* word :
         {"Factory Details", "Long-name", "Pad Templates", "Element Properties"}) {
      EXPECT_NE(result.output.find(word), std::string::npos) << name << ": " << word;
    }
    EXPECT_EQ(result.output.find("CRITICAL"), std::string::npos) << result.output;
  }
}

/// Pipelines beside the examples of the documentation, each with GStreamer's leaks tracer.
TEST(Plugin, NoGStreamerObjectIsLeaked) {
  if (!why_no_commands().empty()) GTEST_SKIP() << why_no_commands();
  const std::string frames =
      "videotestsrc num-buffers=20 pattern=ball ! video/x-raw,width=320,height=192 ! ";
  const std::string detect = "heterodetect threshold=0.01 " + detector_properties();
  const std::string classify =
      "heteroclassify model=" + classifier_model() + " model-proc=" + classifier_proc();
  const std::string tell =
      "heterometaconvert ! heterometapublish file-format=json-lines ! fakesink";
  const CommandResult all =
      run_traced(frames + detect + " ! " + classify +
                 " ! heterotrack ! heterowatermark ! heterofpscounter ! " + tell);
  EXPECT_EQ(all.status, 0) << all.output;
  EXPECT_NE(all.output.find("\"color\""), std::string::npos) << "every element had work";
  for (const std::string& line :
       {frames + "tee name=t ! queue ! heterometaaggregate name=a ! " + tell + " t. ! queue ! " +
            detect + " ! videoscale ! video/x-raw,width=160,height=96 ! a.",
        frames + "heteroattachroi roi=0,0,100,100 ! videoconvert ! video/x-raw,format=BGR ! " +
            "heterodetect inference-region=roi-list inference-interval=3 " + detector_properties() +
            " ! videoscale ! video/x-raw,width=160,height=96 ! " + tell,
        frames + "heteroinference nireq=4 no-block=true " + detector_properties() +
            " ! heterometaconvert add-tensor-data=true ! heterometapublish ! fakesink"}) {
    const CommandResult result = run_traced(line);
    EXPECT_EQ(result.status, 0) << line << "\n" << result.output;
  }
  // What cannot start, or ends with an error, has to let go of everything, too.
  for (const std::string& line :
       {frames + "heterodetect model=absent.onnx ! fakesink",
        frames + "heteroattachroi file-path=absent.json ! fakesink",
        frames + "heterowatermark displ-cfg=thickness=0 ! fakesink",
        frames + detect +
            " ! heterometaconvert ! heterometapublish file-path=/absent/file ! fakesink",
        frames + detect + " ! identity error-after=5 ! fakesink"}) {
    EXPECT_NE(run_traced(line).status, 0) << line;
  }
}

TEST(Plugin, WithoutAFontLabelsAreAnErrorAndBoxesAreNot) {
  if (!why_no_commands().empty()) GTEST_SKIP() << why_no_commands();
  const ScratchFolder folder;
  write_text(folder.file("fonts.conf"), "<fontconfig><dir>" + folder.file("none") +
                                            "</dir><cachedir>" + folder.file("cache") +
                                            "</cachedir></fontconfig>");
  const auto draw = [&](const std::string& config) {
    return run_command("FONTCONFIG_FILE=" + folder.file("fonts.conf") +
                       " timeout 60 gst-launch-1.0 videotestsrc num-buffers=1 ! heteroattachroi ! "
                       "heterowatermark displ-cfg=" +
                       config + " ! fakesink");
  };
  const CommandResult labels = draw("show-labels=true");
  EXPECT_NE(labels.status, 0);
  EXPECT_NE(labels.output.find("fonts-dejavu-core"), std::string::npos) << labels.output;
  EXPECT_EQ(draw("show-labels=false").status, 0);
}

/// The program's own check of GStreamer's leaks tracer (main.cpp) can fail.
TEST(Plugin, ABufferThatIsLeftFailsTheProgram) {
  if (!why_no_commands().empty()) GTEST_SKIP() << why_no_commands();
  constexpr char kLeaver[] = "HET_LEAVE_A_BUFFER";
  if (std::getenv(kLeaver)) {
    EXPECT_NE(gst_buffer_new(), nullptr);
    return;
  }
  const CommandResult result =
      run_command(std::string(kLeaver) + "=1 GST_TRACERS=leaks " +
                  std::filesystem::read_symlink("/proc/self/exe").string() +
                  " --gtest_filter=Plugin.ABufferThatIsLeftFailsTheProgram");
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.output.find("leaks tracer: object-alive, type-name=(string)GstBuffer"),
            std::string::npos)
      << result.output;
}

TEST(Plugin, EveryPropertyHasABlurbAndSaysWhenItMayChange) {
  for (const std::string& name : kElements) {
    GstElement* element = gst_element_factory_make(name.c_str(), nullptr);
    ASSERT_NE(element, nullptr) << name;
    guint count = 0;
    GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
    for (guint i = 0; i < count; ++i) {
      const GParamSpec* spec = specs[i];
      if (std::string(g_type_name(spec->owner_type)).find("Hetero") == std::string::npos) continue;
      const char* blurb = g_param_spec_get_blurb(const_cast<GParamSpec*>(spec));
      EXPECT_TRUE(blurb && std::string(blurb).size() > 15) << name << "." << spec->name;
      const unsigned when =
          GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PAUSED | GST_PARAM_MUTABLE_PLAYING;
      EXPECT_TRUE(!(spec->flags & G_PARAM_WRITABLE) || (spec->flags & when))
          << name << "." << spec->name;
    }
    g_free(specs);
    gst_object_unref(element);
  }
}

TEST(Plugin, ExamplesOfTheDocumentationRun) {
  if (!why_no_commands().empty()) GTEST_SKIP() << why_no_commands();
  for (const std::string& name : kElements) {
    const std::vector<std::string> lines =
        example_lines(source_file("gst/elements/gst" + name + ".cpp"));
    EXPECT_FALSE(lines.empty()) << name << " has no example";
    for (const std::string& line : lines) {
      const std::string command = "gst-launch-1.0 ";
      ASSERT_TRUE(line.starts_with(command)) << line;
      const CommandResult result = run_traced(line.substr(command.size()));
      EXPECT_EQ(result.status, 0) << line << "\n" << result.output;
    }
  }
}

}  // namespace
}  // namespace het::gst_test
