#!/usr/bin/env bash
# Builds Helm and the reader of Compose files where the tests look for them: .cache/deploy. Where Go is missing and apt can install it, it does.
# Without them their tests are skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=$PWD/.cache/deploy
helm=helm.sh/helm/v3 helm_version=v3.16.4

fail() {
  echo "Helm and compose-go are not built: $1" >&2
  exit 1
}

if [ -x "$tools/helm" ] && [ -x "$tools/compose-go" ]; then exit 0; fi
if ! command -v go >/dev/null; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then fail 'install Go'; fi
  timeout 240 apt-get install -y -q --no-install-recommends golang-go </dev/null >/dev/null 2>&1 || fail 'apt-get cannot install Go'
fi
timeout 60 go list -m "$helm@$helm_version" >/dev/null || fail 'the Go module proxy does not answer'

# Helm needs Go 1.22, which an older Go gets as a module: from 1.21 on by itself.
if [[ $(go env GOVERSION) =~ ^go1\.(1?[0-9]|20)(\.|$) ]]; then
  newer=golang.org/toolchain@v0.0.1-go1.22.12.linux-$(go env GOARCH)
  timeout 240 go mod download "$newer" || fail "$newer cannot be had"
  directory=$(go env GOMODCACHE)/$newer
  # Files of modules are not executable.
  chmod +x "$directory"/bin/* "$directory"/pkg/tool/*/*
  PATH=$directory/bin:$PATH
fi
export GOTOOLCHAIN=auto GOBIN=$tools
mkdir -p "$tools"
go install github.com/compose-spec/compose-go/v2/cmd@v2.4.7
mv "$tools/cmd" "$tools/compose-go"
go install "$helm/cmd/helm@$helm_version"
