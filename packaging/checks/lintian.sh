#!/usr/bin/env bash
# lintian of the release, over source and packages: no error and no warning.
# shellcheck source=packaging/checks/begin.sh
. "$(dirname "$0")/begin.sh"
install lintian
inside lintian --version
inside lintian --allow-root --fail-on error,warning --suppress-tags bad-distribution-in-changes-file "$(echo "$packages"/*.changes)"
echo "lintian, Debian $number: nothing to say"
