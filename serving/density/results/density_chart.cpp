#include "serving/density/results/density_chart.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

namespace het::density {
namespace {

constexpr double kWidth = 960;
constexpr double kHeight = 560;
constexpr double kLeft = 80;
constexpr double kRight = 700;  // of the plot; the legend stands beside it
constexpr double kTop = 84;
constexpr double kBottom = 492;

struct Colour {
  double red;
  double green;
  double blue;
};
/// That the colour-blind tell apart: M. Okabe and K. Ito, "Color Universal Design" (2008).
constexpr std::array<Colour, 6> kColours = {{{0, 0.447, 0.698},
                                             {0.835, 0.369, 0},
                                             {0, 0.620, 0.451},
                                             {0.8, 0.475, 0.655},
                                             {0.902, 0.624, 0},
                                             {0.337, 0.706, 0.914}}};

struct Unref {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};

/// 1, 2 or 5 times a power of ten.
double step_of(double span, int most_steps) {
  const double rough = span / most_steps;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= rough) return power * factor;
  }
  return power * 10;
}

class DensityChart {
 public:
  DensityChart(const DensityResults& results, cairo_t* context)
      : results_(results), cairo_(context) {}

  void draw() {
    choose_axes();
    set_colour({1, 1, 1});
    cairo_paint(cairo_);
    cairo_set_line_width(cairo_, 1);
    draw_frame();
    draw_goal();
    for (size_t i = 0; i < results_.devices.size(); ++i) draw_device(i);
    draw_legend();
  }

 private:
  /// Pass 1. Trials far above the goal are drawn at the top edge.
  void choose_axes() {
    size_t most = 2;
    double top = results_.goal.p99_ms * 1.2;
    for (const DeviceResult& result : results_.devices) {
      for (const TrialRecord& trial : result.trials) {
        most = std::max(most, trial.verdict.streams);
        top = std::max(top, trial.verdict.worst.p99_ms);
      }
    }
    most_streams_ = static_cast<double>(most) + 1;
    most_ms_ = std::min(top * 1.05, results_.goal.p99_ms * 2.5);
  }

  double x_of(double streams) const { return kLeft + streams / most_streams_ * (kRight - kLeft); }
  double y_of(double ms) const {
    return kBottom - std::min(ms, most_ms_) / most_ms_ * (kBottom - kTop);
  }

  void set_colour(const Colour& colour, double alpha = 1) {
    cairo_set_source_rgba(cairo_, colour.red, colour.green, colour.blue, alpha);
  }
  void line(double x0, double y0, double x1, double y1) {
    cairo_move_to(cairo_, x0, y0);
    cairo_line_to(cairo_, x1, y1);
    cairo_stroke(cairo_);
  }
  /// `align`: 0 left, 0.5 centred, 1 right of the point.
  void write(double x, double y, const std::string& words, double size, double align = 0,
             bool is_bold = false) {
    cairo_select_font_face(cairo_, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           is_bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo_, size);
    cairo_text_extents_t extents;
    cairo_text_extents(cairo_, words.c_str(), &extents);
    cairo_move_to(cairo_, x - extents.x_advance * align, y);
    cairo_show_text(cairo_, words.c_str());
  }
  static std::string shortened(const std::string& words, size_t most) {
    return words.size() <= most ? words : words.substr(0, most - 3) + "...";
  }

  /// Pass 2. Title and axes.
  void draw_frame() {
    set_colour({0, 0, 0});
    write(kLeft, 30, fmt::format("Streams at {:g} frames/s", results_.goal.fps), 18, 0, true);
    set_colour({0.27, 0.27, 0.27});
    write(kLeft, 50, shortened(results_.processor, 100), 12);
    write(kLeft, 68, "a mark: the worst stream's p99 in one trial; filled: passed, hollow: failed",
          12);
    for (double ms = 0; ms <= most_ms_; ms += step_of(most_ms_, 8)) {
      set_colour({0.9, 0.9, 0.9});
      line(kLeft, y_of(ms), kRight, y_of(ms));
      set_colour({0, 0, 0});
      write(kLeft - 8, y_of(ms) + 4, fmt::format("{:g}", ms), 12, 1);
    }
    const double step = std::max(1.0, step_of(most_streams_, 12));
    for (double streams = 0; streams <= most_streams_; streams += step) {
      set_colour({0.9, 0.9, 0.9});
      line(x_of(streams), kTop, x_of(streams), kBottom);
      set_colour({0, 0, 0});
      write(x_of(streams), kBottom + 20, fmt::format("{:g}", streams), 12, 0.5);
    }
    line(kLeft, kTop, kLeft, kBottom);
    line(kLeft, kBottom, kRight, kBottom);
    write((kLeft + kRight) / 2, kBottom + 46, "streams", 14, 0.5);
    cairo_save(cairo_);
    cairo_translate(cairo_, 24, (kTop + kBottom) / 2);
    cairo_rotate(cairo_, -M_PI / 2);
    write(0, 0, "p99 of the latency, ms", 14, 0.5);
    cairo_restore(cairo_);
  }

  /// Pass 3.
  void draw_goal() {
    const std::array<double, 2> dashes = {7, 4};
    cairo_set_dash(cairo_, dashes.data(), 2, 0);
    set_colour({0.75, 0, 0});
    line(kLeft, y_of(results_.goal.p99_ms), kRight, y_of(results_.goal.p99_ms));
    cairo_set_dash(cairo_, nullptr, 0, 0);
    write(kLeft + 6, y_of(results_.goal.p99_ms) - 6,
          fmt::format("goal: {:g} ms", results_.goal.p99_ms), 12);
  }

  /// Pass 4. What is above the top is drawn as a triangle there.
  void draw_device(size_t number) {
    const DeviceResult& result = results_.devices[number];
    const Colour& colour = kColours[number % kColours.size()];
    if (result.search.streams > 0) {
      set_colour(colour, 0.35);
      cairo_set_line_width(cairo_, 4);
      const double x = x_of(static_cast<double>(result.search.streams));
      line(x, kTop, x, kBottom);
    }
    cairo_set_line_width(cairo_, 1.6);
    for (const TrialRecord& trial : result.trials) {
      const double x = x_of(static_cast<double>(trial.verdict.streams));
      // Where nothing arrived there is no latency to draw.
      const bool is_above = trial.verdict.worst.p99_ms > most_ms_ || trial.verdict.drop >= 1;
      const double y = is_above ? kTop : y_of(trial.verdict.worst.p99_ms);
      cairo_new_path(cairo_);
      if (is_above) {
        cairo_move_to(cairo_, x, y - 6);
        cairo_line_to(cairo_, x + 5, y + 3);
        cairo_line_to(cairo_, x - 5, y + 3);
        cairo_close_path(cairo_);
      } else {
        cairo_arc(cairo_, x, y, 4.5, 0, 2 * M_PI);
      }
      set_colour(trial.verdict.passes() ? colour : Colour{1, 1, 1});
      cairo_fill_preserve(cairo_);
      set_colour(colour);
      cairo_stroke(cairo_);
    }
    cairo_set_line_width(cairo_, 1);
  }

  /// Pass 5.
  void draw_legend() {
    double y = kTop + 10;
    for (size_t i = 0; i < results_.devices.size(); ++i) {
      const DeviceResult& result = results_.devices[i];
      set_colour(kColours[i % kColours.size()]);
      cairo_rectangle(cairo_, kRight + 24, y - 10, 12, 12);
      cairo_fill(cairo_);
      set_colour({0, 0, 0});
      write(kRight + 44, y, shortened(result.label(), 26), 13, 0, true);
      write(
          kRight + 44, y + 18,
          fmt::format("{} stream{}{}", result.search.streams, result.search.streams == 1 ? "" : "s",
                      result.search.is_confirmed ? ", confirmed" : ""),
          13);
      y += 50;
    }
  }

  const DensityResults& results_;
  cairo_t* cairo_;
  double most_streams_ = 1;
  double most_ms_ = 1;
};

}  // namespace

bool is_chart_file(const std::string& path) {
  return path.ends_with(".svg") || path.ends_with(".png");
}

Status draw_density_chart(const DensityResults& results, const std::string& path) {
  const bool is_svg = path.ends_with(".svg");
  const std::unique_ptr<cairo_surface_t, Unref> surface(
      is_svg ? cairo_svg_surface_create(path.c_str(), kWidth, kHeight)
             : cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(kWidth),
                                          static_cast<int>(kHeight)));
  const std::unique_ptr<cairo_t, Unref> context(cairo_create(surface.get()));
  DensityChart(results, context.get()).draw();
  cairo_status_t status = cairo_status(context.get());
  if (status == CAIRO_STATUS_SUCCESS && is_svg) {
    cairo_surface_finish(surface.get());
    status = cairo_surface_status(surface.get());
  } else if (status == CAIRO_STATUS_SUCCESS) {
    status = cairo_surface_write_to_png(surface.get(), path.c_str());
  }
  if (status == CAIRO_STATUS_SUCCESS) return {};
  return error(StatusCode::Internal, "cannot write the chart {}: {}", path,
               cairo_status_to_string(status));
}

}  // namespace het::density
