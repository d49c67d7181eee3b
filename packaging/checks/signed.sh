# Sourced by checks, after begin.sh: a signed repository of all packages that were built, in $place, which the fresh system trusts.
# shellcheck shell=bash

add_repository() {
  export GNUPGHOME=$place/gnupg
  mkdir -m 700 "$GNUPGHOME"
  require repository
  gpg --batch --quiet --passphrase '' --quick-generate-key 'gst-hetero check' ed25519 sign never 2>/dev/null
  "$root/packaging/repository.sh" "$place/repository" 'gst-hetero check' "$(dirname "$packages")" >/dev/null
  gpgconf --kill all
  # apt reads it as another user.
  chmod 755 "$place"
  cp "$place/repository/gst-hetero.asc" "$fresh/etc/apt/keyrings/" 2>/dev/null ||
    { mkdir -p "$fresh/etc/apt/keyrings" && cp "$place/repository/gst-hetero.asc" "$fresh/etc/apt/keyrings/"; }
  echo "deb [signed-by=/etc/apt/keyrings/gst-hetero.asc] file:$place/repository $suite main" >"$fresh/etc/apt/sources.list.d/gst-hetero.list"
}
