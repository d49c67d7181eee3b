#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace het::self_test {

/// A word that tells who runs a machine, and what stands in its place.
struct PrivateWord {
  std::string word;
  std::string instead;
};

/// The names of this host and of this user, and the user's folder.
std::vector<PrivateWord> private_words();

/// The text without the words: where one begins and ends at no letter or digit. Words of less than
/// three characters stay.
std::string without_words(std::string text, const std::vector<PrivateWord>& words);

/// The text with absolute paths reduced to their last part, where they are in none of the system's
/// own folders.
std::string without_folders(const std::string& text);

/// Both for every text in it.
void take_words_out(nlohmann::json& json, const std::vector<PrivateWord>& words);

}  // namespace het::self_test
