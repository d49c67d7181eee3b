# Sourced by environment.sh and demo.sh: what a person sees of a step that takes minutes. On a terminal one line, updated in place;
# elsewhere a plain line at the start and then at most every 20 s.
# shellcheck shell=bash

progress_columns=$(stty size <&2 2>/dev/null | cut -d' ' -f2) || progress_columns=
progress_next=0

# progress TEXT
progress() {
  if [ -t 1 ]; then
    printf '\r\033[K%s' "${1:0:$((${progress_columns:-80} - 1))}"
  elif [ "$SECONDS" -ge "$progress_next" ]; then
    progress_next=$((SECONDS + 20))
    printf '%s\n' "$1"
  fi
}

# progress_end [TEXT]: the line that stays of the step, or none.
progress_end() {
  [ ! -t 1 ] || printf '\r\033[K'
  [ $# = 0 ] || printf '%s\n' "$1"
  progress_next=0
}

# duration SECONDS: "50 s", "3 min 20 s"
duration() {
  if [ "$1" -lt 60 ]; then echo "$1 s"; else echo "$(($1 / 60)) min $(($1 % 60)) s"; fi
}

# time_left DONE ALL ELAPSED: ", about 2 min left", or nothing while that would be a guess.
time_left() {
  local left
  [ "$1" -ge 5 ] && [ "$3" -ge 10 ] || return 0
  left=$(($3 * ($2 - $1) / $1))
  if [ "$left" -lt 60 ]; then echo ", less than a minute left"; else echo ", about $(((left + 59) / 60)) min left"; fi
}

# ninja_progress WHAT < lines of ninja with NINJA_STATUS='[%f/%t] '
ninja_progress() {
  local line began=$SECONDS
  progress "$1 ..."
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]] || continue
    progress "$1: [${BASH_REMATCH[1]}/${BASH_REMATCH[2]}] $((100 * BASH_REMATCH[1] / BASH_REMATCH[2])) %$(
      time_left "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" $((SECONDS - began))
    )"
  done
  if [ $((SECONDS - began)) -ge 10 ]; then
    progress_end "$1: took $(duration $((SECONDS - began)))"
  else
    progress_end
  fi
}

# apt_progress WHAT < lines of apt-get with APT::Status-Fd: "dlstatus:1:12.5:..." while it downloads, "pmstatus:g++:40.0:..." then.
apt_progress() {
  local kind name percent rest began=$SECONDS
  progress "$1 ..."
  while IFS=: read -r kind name percent rest; do
    case $kind in
      dlstatus) progress "$1: downloading, ${percent%%.*} %" ;;
      pmstatus) progress "$1: unpacking and setting up, ${percent%%.*} % ($name)" ;;
    esac
  done
  progress_end "$1: took $(duration $((SECONDS - began)))"
}
