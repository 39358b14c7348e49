#!/usr/bin/env bash
# Builds Helm and the reader of Compose files, where Go is there, and puts them where the tests look for them: .cache/deploy. Without them
# their tests are skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=$PWD/.cache/deploy

if [ -x "$tools/helm" ] && [ -x "$tools/compose-go" ]; then exit 0; fi
if ! command -v go >/dev/null; then
  echo 'Helm and compose-go are not built as that needs Go: install it' >&2
  exit 1
fi
mkdir -p "$tools"
GOBIN=$tools go install helm.sh/helm/v3/cmd/helm@v3.16.4
GOBIN=$tools go install github.com/compose-spec/compose-go/v2/cmd@v2.4.7
mv "$tools/cmd" "$tools/compose-go"
