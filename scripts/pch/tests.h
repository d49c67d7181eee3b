#include "library.h"

#include <gtest/gtest.h>
