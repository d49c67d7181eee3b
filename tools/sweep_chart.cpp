#include "tools/sweep_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include "tools/axis_ticks.h"

namespace het {
namespace {

constexpr double kWidth = 1040;
constexpr double kHeight = 620;
constexpr double kLeft = 84;
constexpr double kRight = 770;  // of the plot; the legend stands beside it
constexpr double kTop = 84;
constexpr double kBottom = 552;
constexpr double kFontWidth = 0.62;  // of a character over the font's size, rather more than less
constexpr double kLogSpan = 12;

/// Colours that the colour-blind tell apart: M. Okabe and K. Ito, "Color Universal Design" (2008).
constexpr std::array kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                "#56b4e9", "#e69f00", "#555555"};
constexpr std::array kDashes = {"none", "7 3", "2 3"};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (static_cast<unsigned char>(c) < 32) {
      result += ' ';
    } else {
      result += c;
    }
  }
  return result;
}

std::string shortened(const std::string& text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

struct Place {
  double x = 0;
  double y = 0;
};

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// What a line of the chart connects: one compiled model, by requests.
struct Series {
  std::string name;
  std::vector<size_t> settings;
};

class SweepChart {
 public:
  SweepChart(const BenchOptions& options, const SweepResult& result)
      : options_(options), result_(result) {
    for (size_t i = 0; i < result.settings.size(); ++i) {
      const SweepSetting& setting = result.settings[i];
      latencies_.push_back(latency_spread(setting.rounds));
      throughputs_.push_back(throughput_spread(setting.rounds));
      const std::string name = fmt::format("{} stream{}, batch {}", setting.streams,
                                           setting.streams == "1" ? "" : "s", setting.batch);
      if (series_.empty() || series_.back().name != name) series_.push_back({name, {}});
      series_.back().settings.push_back(i);
    }
    for (Series& series : series_) {
      std::ranges::sort(series.settings, {}, [&](size_t i) { return result.settings[i].requests; });
    }
  }

  std::string run() {
    choose_axes();
    draw_frame();
    draw_front();
    for (size_t i = 0; i < series_.size(); ++i) draw_series(i);
    draw_knee();
    for (const Series& series : series_) label_points(series);
    draw_legend();
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"DejaVu Sans, sans-serif\" "
        "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{2}</svg>\n",
        kWidth, kHeight, text_);
  }

 private:
  /// Pass 1. From 0, or from a power where latencies span too much to be told apart.
  void choose_axes() {
    double least = latencies_.front().least;
    double most = 0;
    double top = 0;
    for (size_t i = 0; i < latencies_.size(); ++i) {
      least = std::min(least, latencies_[i].least);
      most = std::max(most, latencies_[i].most);
      top = std::max(top, throughputs_[i].most);
    }
    is_log_ = least > 0 && most > kLogSpan * least;
    x_ticks_ = is_log_ ? log_ticks(least, most) : linear_ticks(std::max(most, 1e-6));
    y_ticks_ = linear_ticks(std::max(top, 1e-6));
  }

  double x_of(double latency) const {
    const auto scale = [this](double value) { return is_log_ ? std::log(value) : value; };
    const double first = scale(x_ticks_.front());
    return kLeft + (scale(latency) - first) / (scale(x_ticks_.back()) - first) * (kRight - kLeft);
  }
  double y_of(double throughput) const {
    return kBottom - throughput / y_ticks_.back() * (kBottom - kTop);
  }
  Place place_of(size_t setting) const {
    return {x_of(latencies_[setting].median), y_of(throughputs_[setting].median)};
  }

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void line(Place from, Place to, std::string_view color, double width) {
    add("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-width=\"{}\"/>\n",
        from.x, from.y, to.x, to.y, color, width);
  }

  /// Pass 2. Title, axes with their ticks.
  void draw_frame() {
    const std::string model = std::filesystem::path(options_.models.front()).filename().string();
    add("<text x=\"{}\" y=\"30\" font-size=\"18\" font-weight=\"bold\">{}</text>\n", kLeft,
        escaped(shortened(fmt::format("{} on {}", model, options_.device), 80)));
    add("<text x=\"{}\" y=\"52\" fill=\"#444444\">{}</text>\n", kLeft,
        escaped(shortened(result_.device_name, 110)));
    add("<text x=\"{}\" y=\"70\" fill=\"#444444\" font-size=\"12\">medians of {} rounds of {:.2g} "
        "s; "
        "thin crosses: least and most of the rounds</text>\n",
        kLeft, result_.settings.front().rounds.size(), result_.round_seconds);
    for (const double tick : x_ticks_) {
      const double x = x_of(tick);
      line({x, kTop}, {x, kBottom}, "#e4e4e4", 1);
      add("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x, kBottom + 20,
          tick_text(tick));
    }
    for (const double tick : y_ticks_) {
      const double y = y_of(tick);
      line({kLeft, y}, {kRight, y}, "#e4e4e4", 1);
      add("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y + 4,
          tick_text(tick));
    }
    line({kLeft, kBottom}, {kRight, kBottom}, "#000000", 1.2);
    line({kLeft, kTop}, {kLeft, kBottom}, "#000000", 1.2);
    add("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"14\">median latency of a "
        "request, ms{}</text>\n",
        (kLeft + kRight) / 2, kBottom + 46, is_log_ ? " (logarithmic)" : "");
    add("<text transform=\"translate(22 {}) rotate(-90)\" text-anchor=\"middle\" "
        "font-size=\"14\">throughput, items/s</text>\n",
        (kTop + kBottom) / 2);
  }

  void polyline(const std::vector<size_t>& settings, std::string_view style) {
    std::string points;
    for (const size_t i : settings) {
      const Place place = place_of(i);
      fmt::format_to(std::back_inserter(points), "{:.1f},{:.1f} ", place.x, place.y);
    }
    add("<polyline points=\"{}\" fill=\"none\" {}/>\n", points, style);
  }

  /// Pass 3. Below the lines: what is best.
  void draw_front() {
    polyline(result_.front,
             "stroke=\"#f0c000\" stroke-width=\"9\" stroke-opacity=\"0.45\" "
             "stroke-linejoin=\"round\" stroke-linecap=\"round\"");
  }

  static std::string_view color_of(size_t series) { return kColors[series % kColors.size()]; }
  static std::string_view dash_of(size_t series) {
    return kDashes[series / kColors.size() % kDashes.size()];
  }

  /// Pass 4.
  void draw_series(size_t number) {
    const Series& series = series_[number];
    const std::string_view color = color_of(number);
    polyline(series.settings,
             fmt::format("stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"", color,
                         dash_of(number)));
    for (size_t i = 1; i < series.settings.size(); ++i) {
      remember_line(place_of(series.settings[i - 1]), place_of(series.settings[i]));
    }
    for (const size_t i : series.settings) {
      const Place place = place_of(i);
      line({x_of(latencies_[i].least), place.y}, {x_of(latencies_[i].most), place.y}, color, 0.8);
      line({place.x, y_of(throughputs_[i].least)}, {place.x, y_of(throughputs_[i].most)}, color,
           0.8);
      add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{}: {:.2f} ms, {:.1f} "
          "items/s</title></circle>\n",
          place.x, place.y, color, describe(result_.settings[i]), latencies_[i].median,
          throughputs_[i].median);
      taken_.push_back({place.x - 5, place.y - 5, place.x + 5, place.y + 5});
    }
  }

  /// The places along a line, for texts that are not to cross it.
  void remember_line(Place from, Place to) {
    constexpr double kStep = 5;
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    for (double at = 0; at <= length; at += kStep) {
      const Place place{from.x + (to.x - from.x) * at / std::max(length, 1.0),
                        from.y + (to.y - from.y) * at / std::max(length, 1.0)};
      lines_.push_back({place.x - 3, place.y - 3, place.x + 3, place.y + 3});
    }
  }

  /// A text in the first of the places around a point where nothing stands; false where all are
  /// taken.
  bool write_beside(Place point, double distance, double size, std::string_view style,
                    const std::string& text, bool avoids_lines = false) {
    const double width = kFontWidth * size * static_cast<double>(text.size());
    const double d = distance;
    const std::array<Place, 8> corners = {{{point.x - width / 2, point.y - d - size},
                                           {point.x + d, point.y - d - size},
                                           {point.x + d, point.y - size / 2},
                                           {point.x + d, point.y + d},
                                           {point.x - width / 2, point.y + d},
                                           {point.x - d - width, point.y - d - size},
                                           {point.x - d - width, point.y - size / 2},
                                           {point.x - d - width, point.y + d}}};
    for (const Place& corner : corners) {
      const Box box{corner.x, corner.y, corner.x + width, corner.y + size};
      const bool is_inside =
          box.left > kLeft && box.right < kRight + 6 && box.top > kTop - 14 && box.bottom < kBottom;
      const auto meets = [&](const Box& other) { return other.meets(box); };
      if (!is_inside || std::ranges::any_of(taken_, meets) ||
          (avoids_lines && std::ranges::any_of(lines_, meets))) {
        continue;
      }
      taken_.push_back(box);
      add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"{}\" {}>{}</text>\n",
          (box.left + box.right) / 2, box.bottom - size * 0.18, size, style, escaped(text));
      return true;
    }
    return false;
  }

  /// Pass 5. Before the other labels, so that it finds room.
  void draw_knee() {
    if (result_.knee < 0) return;
    const auto knee = static_cast<size_t>(result_.knee);
    const Place place = place_of(knee);
    add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"10\" fill=\"none\" stroke=\"#000000\" "
        "stroke-width=\"2\"/>\n",
        place.x, place.y);
    taken_.push_back({place.x - 11, place.y - 11, place.x + 11, place.y + 11});
    const std::string text = "knee: " + describe(result_.settings[knee]);
    // Away from the lines, else over one: it has to be said.
    for (const auto& [distance, avoids_lines] : {std::pair(14.0, true),
                                                 {26.0, true},
                                                 {40.0, true},
                                                 {60.0, true},
                                                 {90.0, true},
                                                 {14.0, false},
                                                 {40.0, false},
                                                 {90.0, false}}) {
      const size_t before = taken_.size();
      if (!write_beside(place, distance, 13, "font-weight=\"bold\"", text, avoids_lines)) continue;
      const Box& box = taken_[before];
      const Place near{std::clamp(place.x, box.left, box.right),
                       std::clamp(place.y, box.top, box.bottom)};
      const double length = std::hypot(near.x - place.x, near.y - place.y);
      if (length > 16) {
        line({place.x + (near.x - place.x) * 10 / length,
              place.y + (near.y - place.y) * 10 / length},
             near, "#000000", 1);
      }
      return;
    }
  }

  /// Pass 6. Numbers of requests, where there is room.
  void label_points(const Series& series) {
    for (const size_t i : series.settings) {
      write_beside(place_of(i), 6, 11, "fill=\"#222222\"",
                   std::to_string(result_.settings[i].requests));
    }
  }

  /// Pass 7.
  void draw_legend() {
    double y = kTop + 8;
    const double x = kRight + 26;
    add("<text x=\"{}\" y=\"{:.0f}\" font-weight=\"bold\">numbers: requests in flight</text>\n", x,
        y);
    const size_t shown = std::min<size_t>(series_.size(), 20);
    for (size_t i = 0; i < shown; ++i) {
      y += 22;
      add("<line x1=\"{0}\" y1=\"{1:.0f}\" x2=\"{2}\" y2=\"{1:.0f}\" stroke=\"{3}\" "
          "stroke-width=\"2\" stroke-dasharray=\"{4}\"/>\n<circle cx=\"{5}\" cy=\"{1:.0f}\" "
          "r=\"4\" "
          "fill=\"{3}\"/>\n",
          x, y - 4, x + 30, color_of(i), dash_of(i), x + 15);
      add("<text x=\"{}\" y=\"{:.0f}\">{}</text>\n", x + 38, y, escaped(series_[i].name));
    }
    if (shown < series_.size()) {
      y += 22;
      add("<text x=\"{}\" y=\"{:.0f}\">and {} more</text>\n", x + 38, y, series_.size() - shown);
    }
    y += 30;
    add("<line x1=\"{0}\" y1=\"{1:.0f}\" x2=\"{2}\" y2=\"{1:.0f}\" stroke=\"#f0c000\" "
        "stroke-width=\"9\" stroke-opacity=\"0.45\" stroke-linecap=\"round\"/>\n",
        x + 3, y - 4, x + 27);
    add("<text x=\"{}\" y=\"{:.0f}\">front: nothing is better</text>\n", x + 38, y);
    add("<text x=\"{}\" y=\"{:.0f}\">in both</text>\n", x + 38, y + 16);
  }

  const BenchOptions& options_;
  const SweepResult& result_;
  std::vector<Spread> latencies_;
  std::vector<Spread> throughputs_;
  std::vector<Series> series_;
  bool is_log_ = false;
  std::vector<double> x_ticks_;
  std::vector<double> y_ticks_;
  std::vector<Box> taken_;
  std::vector<Box> lines_;
  std::string text_;
};

}  // namespace

std::string describe(const SweepSetting& setting) {
  return fmt::format("{} stream{}, {} request{}, batch {}", setting.streams,
                     setting.streams == "1" ? "" : "s", setting.requests,
                     setting.requests == 1 ? "" : "s", setting.batch);
}

std::string sweep_chart(const BenchOptions& options, const SweepResult& result) {
  return SweepChart(options, result).run();
}

}  // namespace het
