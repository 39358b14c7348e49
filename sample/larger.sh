#!/bin/sh
# Makes the sample larger: prints COUNT objects as messages of Lasair. The same arguments give the same objects.
#   larger.sh COUNT [FIRST [MJD]]
# Each message is a copy of a recorded one with an id of its own, 9100000000000000000 + its number. Numbers count from FIRST (1).
# It lies up to 90 arcsec from the recorded position; a fifth lies within 1 arcsec. MJD (TAI) is the time of the first detection
# (by default that of the copied message).
set -eu
awk -v count="$1" -v first="${2:-1}" -v mjd="${3:-}" '
  /"decl": / && !/"alert": / && !/nearsky_sample/ { message[messages++] = $0 }
  function value(text, key) {
    match(text, "\"" key "\": [-0-9.]+")
    return substr(text, RSTART + length(key) + 4, RLENGTH - length(key) - 4) + 0
  }
  END {
    for (number = first; number < first + count; number++) {
      text = message[(number - 1) % messages]
      copy = int((number - 1) / messages)
      # Fractions of multiples of irrational numbers are spread evenly.
      share = copy * 0.6180339887 - int(copy * 0.6180339887)
      angle = 6.2831853072 * (copy * 0.4142135624 - int(copy * 0.4142135624))
      degrees = share * share * share * 90 / 3600
      dec = value(text, "decl")
      ra = value(text, "ra") + degrees * sin(angle) / cos(dec * 0.0174532925)
      sub(/"diaObjectId": [0-9]+/, sprintf("\"diaObjectId\": 91%017d", number), text)
      sub(/"ra": [-0-9.]+/, sprintf("\"ra\": %.9f", ra), text)
      sub(/"decl": [-0-9.]+/, sprintf("\"decl\": %.9f", dec + degrees * cos(angle)), text)
      if (mjd != "") sub(/"firstDiaSourceMjdTai": [-0-9.]+/, "\"firstDiaSourceMjdTai\": " mjd, text)
      print text
    }
  }' "$(dirname "$0")/alerts/lasair.ndjson"
