/* The VADisplay of the tests: a table of surfaces in host memory. surface_layer.c imports them. */
#ifndef HET_TESTS_SURFACE_TABLE_H
#define HET_TESTS_SURFACE_TABLE_H

#include <stddef.h>

#define HET_TEST_DISPLAY_MAGIC 0x48455456u

typedef struct {
  unsigned width, height; /* in elements */
  unsigned components;    /* bytes of an element: 1, 2 or 4 */
  int is_bgr;             /* blue comes first in an element of 4 */
  const unsigned char* address;
  size_t stride;
} HetTestPlane;

typedef struct {
  unsigned id; /* VASurfaceID */
  unsigned plane_count;
  HetTestPlane planes[3];
} HetTestSurface;

typedef struct {
  unsigned magic;
  int is_foreign; /* a display of another device: none of OpenCL shares its surfaces */
  unsigned surface_count;
  HetTestSurface surfaces[4];
} HetTestDisplay;

#endif
