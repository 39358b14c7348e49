#!/bin/sh
# Runs the Deno of test/package.json, which is installed when it is first called.
here=$(dirname "$(realpath "$0")")
"$here/../tools.sh" || exit
exec "$here/../node_modules/deno/deno" "$@"
