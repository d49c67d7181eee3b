/* Built against the installed tree with pkg-config's flags only. */
#include <hetinference/c.h>
#include <stdio.h>

int main(void) {
  HetCore* core = NULL;
  char* names = NULL;
  if (het_core_open(&core) != HET_OK || het_core_available_devices(core, &names) != HET_OK) {
    fprintf(stderr, "%s\n", het_last_error());
    return 1;
  }
  puts(names);
  het_text_free(names);
  het_core_release(core);
  return 0;
}
