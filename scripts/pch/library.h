// Precompiled for the library and, in tests.h, for the tests: the headers of others that most files
// include, since reading them is half of a build. Every file includes what it uses all the same:
// scripts/long/asan.sh builds without (-Db_pch=false).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
