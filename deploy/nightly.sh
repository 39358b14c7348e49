#!/bin/sh
# The jobs of the timers. Each may be killed at any moment: the next run completes it.
#   nightly.sh ingest BROKER DIRECTORY   stores each file of DIRECTORY, then moves it to DIRECTORY/done;
#                                        to DIRECTORY/rejected if none of its messages can be used
#   nightly.sh backup DIRECTORY KEEP     makes DIRECTORY/nearsky-DATE, and removes all but the newest KEEP
#   nightly.sh export DIRECTORY KEEP     does the same with DIRECTORY/nearsky-DATE.ndjson.gz
#   nightly.sh report                    prints what happened in the last night; fails if a person is needed
set -eu
config=/etc/nearsky/nearsky.json
nearsky() {
  if [ -e "$config" ]; then set -- "$@" --config "$config"; fi
  command nearsky "$@"
}

# Keeps the newest KEEP of the names in DIRECTORY that end in this suffix. Only names that this script makes are removed.
keep_newest() {
  find "$1" -maxdepth 1 -name "nearsky-[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]$3" | sort -r | tail -n "+$(($2 + 1))" |
    while read -r old; do rm -rf "$old"; done
}

# Removes what a killed job of an earlier day left unfinished. What is still being made changes all the time.
remove_unfinished() {
  find "$1" -maxdepth 1 -name "nearsky-[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]$2.[0-9]*.part" -mmin +720 -exec rm -rf {} +
}

job=$1
case $job in
  ingest)
    broker=$2 directory=$3 failed=0
    mkdir -p "$directory/done"
    for file in "$directory"/*.ndjson "$directory"/*.ndjson.gz; do
      [ -f "$file" ] || continue
      # A file that cannot be read or stored stays for the next run. A file without a usable message is moved aside.
      # In both cases the other files are stored, and the job fails.
      status=0
      nearsky ingest --broker "$broker" "$file" || status=$?
      case $status in
        0) mv --backup=numbered "$file" "$directory/done/" ;;
        3)
          failed=1
          mkdir -p "$directory/rejected"
          mv --backup=numbered "$file" "$directory/rejected/"
          echo "nightly.sh: moved $file to $directory/rejected, because none of its messages can be used" >&2
          ;;
        *) failed=1 ;;
      esac
    done
    exit $failed
    ;;
  backup | export)
    directory=$2 keep=$3
    [ "$keep" -ge 1 ]
    suffix=$([ "$job" = backup ] || echo .ndjson.gz)
    target=$directory/nearsky-$(date -u +%F)$suffix
    if [ -d "$directory" ]; then remove_unfinished "$directory" "$suffix"; fi
    # What has its name is complete.
    [ -e "$target" ] || nearsky "$job" "$target"
    keep_newest "$directory" "$keep" "$suffix"
    ;;
  report)
    nearsky report
    ;;
  *)
    echo "nightly.sh: ingest, backup, export or report (got $job)" >&2
    exit 2
    ;;
esac
