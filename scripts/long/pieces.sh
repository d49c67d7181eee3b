# Sourced, after environment.sh, by long checks of more than 40 minutes. They are cut into pieces; what has ended is kept in a file, and
# the next run goes on behind it. HET_PIECES_MINUTES (30): no piece begins later. Ends with status 75 while pieces are left.
# shellcheck shell=bash

# pieces_begin FOLDER WHAT...: progress in FOLDER/progress. It belongs to this state of the sources and to WHAT (arguments, say): with
# another one all pieces are to do again.
pieces_begin() {
  pieces_folder=$1
  local state
  shift
  mkdir -p "$pieces_folder"
  state="$(git -C "$root" rev-parse HEAD) $(git -C "$root" diff HEAD | sha256sum | cut -c1-16) $*"
  if [ "$(head -n 1 "$pieces_folder/progress" 2>/dev/null)" != "$state" ]; then
    [ ! -e "$pieces_folder/progress" ] || echo "Beginning anew: sources or arguments have changed since the last run"
    echo "$state" >"$pieces_folder/progress"
  fi
  pieces_until=$((SECONDS + 60 * ${HET_PIECES_MINUTES:-30}))
  pieces_left=()
}

# piece_result NAME: passed, failed or nothing.
piece_result() {
  awk -v name="$1" 'NR > 1 && $2 == name { print $1 }' "$pieces_folder/progress"
}

# piece NAME COMMAND...: runs it unless it has ended before. NAME has no blanks.
piece() {
  local name=$1
  shift
  [ -z "$(piece_result "$name")" ] || return 0
  if [ "$SECONDS" -ge "$pieces_until" ]; then
    pieces_left+=("$name")
    return 0
  fi
  piece_run "$name" "$@"
}

# piece_run NAME COMMAND...: runs it, whatever the time.
piece_run() {
  local name=$1 result=passed
  shift
  "$@" || result=failed
  echo "$result $name" >>"$pieces_folder/progress"
}

# piece_beside NAME COMMAND...: as piece, while others run, one for a processor. Begins when one of them has ended; what it prints comes
# when it ends itself.
piece_beside() {
  local name=$1
  [ -z "$(piece_result "$name")" ] || return 0
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
  if [ "$SECONDS" -ge "$pieces_until" ]; then
    pieces_left+=("$name")
    return 0
  fi
  {
    local output
    output=$(piece_run "$@" 2>&1)
    printf '%s\n' "$output"
  } &
}

# piece_build DIR TARGET...: a build, which goes on where it was stopped.
piece_build() {
  local status=0
  [ -z "$(piece_result build)" ] || return 0
  # shellcheck disable=SC2016 # expanded inside
  timeout --signal=INT "$((pieces_until - SECONDS))" bash -euo pipefail -c 'root=$1; shift; . "$root/scripts/environment.sh"; build "$@"' build "$root" "$@" || status=$?
  case $status in
    0) echo "passed build" >>"$pieces_folder/progress" ;;
    124 | 130) pieces_left+=(build) ; pieces_until=0 ;;
    *) exit "$status" ;;
  esac
}

# make_generated_sources DIR: those of a build folder, for tools that read its commands.
make_generated_sources() {
  ninja -C "$1" -t targets all | sed -n 's/^\(.*\.cpp\): CUSTOM_COMMAND$/\1/p' | xargs -r ninja -C "$1" >"$1.log"
}

# pieces_end: what has failed and what is left. Ends the script unless all pieces have passed.
pieces_end() {
  local failed
  wait
  if [ ${#pieces_left[@]} -gt 0 ]; then
    echo "Not yet done: ${#pieces_left[@]} pieces, the next is ${pieces_left[0]}. Run the same command again to go on."
    exit 75
  fi
  failed=$(awk 'NR > 1 && $1 == "failed" { print $2 }' "$pieces_folder/progress" | paste -sd' ')
  [ -z "$failed" ] || fail "failed: $failed (to do all again, remove $pieces_folder/progress)"
}
