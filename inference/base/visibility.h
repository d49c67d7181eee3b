#pragma once

/// Marks what libhetinference exports; everything else has hidden visibility.
#define HET_API __attribute__((visibility("default")))
