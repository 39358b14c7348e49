#!/bin/sh
# Installs what only checks and tests need (test/package.json: TypeScript, Biome, Deno and others), unless that has been done.
cd "$(dirname "$0")" || exit
done=node_modules/.installed

if cmp -s package-lock.json "$done"; then exit 0; fi
echo 'tools: getting what only checks and tests need, once (106 MB, 250 MB on disk)' >&2
npm ci --no-audit --no-fund --loglevel=error >&2 && cp package-lock.json "$done"
