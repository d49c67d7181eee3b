# Sourced by package.sh: the source package of a commit, and what an earlier build has left. Needs environment.sh and $root, a clone.
# shellcheck shell=bash

# project_version: the version that meson.build names, where it is written.
project_version() {
  sed -n "s/^  version: '\(.*\)',$/\1/p" "$root/meson.build"
}

# package_version NUMBER: that of Debian's packages for a release. The commit that the tag vVERSION names has the version itself, others
# one that sorts before it and after earlier commits.
package_version() {
  local version
  version=$(project_version)
  [ -n "$version" ] || fail "meson.build names no version"
  [ "$(commit rev-parse -q --verify "v$version^{commit}" 2>/dev/null)" = "$(commit rev-parse HEAD)" ] ||
    version=$version~$(TZ=UTC commit log -1 --date=format-local:%Y%m%d.%H%M%S --format=%cd)
  echo "$version-1~deb$1"
}

commit() {
  git -C "$root" -c "safe.directory=$root" "$@"
}

# make_source FOLDER VERSION SUITE: writes the source package of HEAD into FOLDER, the same bytes each time.
make_source() {
  local folder=$1 version=$2 suite=$3 upstream=${2%-*} name date tree
  commit rev-parse -q --verify HEAD >/dev/null || fail "$root is no git clone; packages are made of a commit"
  [ -z "$(commit status --porcelain --untracked-files=no)" ] ||
    echo "Changes that are not committed are left out: $(commit status --porcelain --untracked-files=no | wc -l) file(s)" >&2
  name=gst-hetero-$upstream
  tree=$folder/$name
  mkdir -p "$tree"
  commit archive --prefix="$name/" HEAD | xz -T1 >"$folder/gst-hetero_$upstream.orig.tar.xz"
  tar -x -C "$folder" -f "$folder/gst-hetero_$upstream.orig.tar.xz"
  cp -r "$tree/packaging/debian" "$tree/debian"
  sed -i "s/@VERSION@/$(project_version)/g" "$tree"/debian/control "$tree"/debian/*.symbols
  date=$(commit log -1 --format=%ct)
  cat >"$tree/debian/changelog" <<END
gst-hetero ($version) $suite; urgency=medium

  * Commit $(commit rev-parse HEAD) of gst-hetero; CHANGELOG.md
    says what has changed.

 -- $(sed -n 's/^Maintainer: //p' "$tree/debian/control")  $(LC_ALL=C date -u -R -d "@$date")
END
  find "$tree" -exec touch -h -d "@$date" {} +
  (cd "$folder" && SOURCE_DATE_EPOCH=$date dpkg-source --build "$name" >/dev/null)
  rm -r "$tree"
}

# remove_packages FOLDER: the files of earlier builds, and no others.
remove_packages() {
  local changes
  for changes in "$1"/gst-hetero_*.changes; do
    [ -e "$changes" ] || continue
    awk '/^Files:/ { inside = 1; next } /^[^ ]/ { inside = 0 } inside { print $5 }' "$changes" | (cd "$1" && xargs -r rm -f)
    rm "$changes"
  done
  rm -f "$1/build.log"
}
