#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace het::serving {

/// A pipeline in gst-launch-1.0's syntax whose inference elements' properties can be read and set.
/// What is not touched stays as the user wrote it.
class PipelineLine {
 public:
  struct Inference {
    std::string label;    ///< its name, or "heterodetect#1": the first that has none
    std::string factory;  ///< "heterodetect"
    size_t word = 0;      ///< where it stands
  };

  PipelineLine() = default;
  /// `arguments` are the words of a command line, or a single one: a text with its own quotes.
  explicit PipelineLine(std::vector<std::string> arguments);

  /// heterodetect, heteroclassify and heteroinference, in their order.
  const std::vector<Inference>& inferences() const { return inferences_; }
  /// A property as it is given; the last one counts. Upper case: of ie-config.
  std::optional<std::string> value(size_t inference, const std::string& property) const;
  /// No value takes the property away.
  void set(size_t inference, const std::string& property, const std::optional<std::string>& value);
  /// As gst-launch-1.0 takes them, one argument each.
  const std::vector<std::string>& words() const { return words_; }
  /// A command for a shell: `program` and the words, quoted where they have to be.
  std::string command(const std::string& program) const;
  bool operator==(const PipelineLine& other) const { return words_ == other.words_; }

 private:
  void find_inferences();
  size_t end_of_properties(size_t word) const;
  std::optional<std::string> word_value(size_t inference, const std::string& property) const;
  void set_word(size_t inference, const std::string& property,
                const std::optional<std::string>& value);

  std::vector<std::string> words_;
  std::vector<Inference> inferences_;
};

}  // namespace het::serving
