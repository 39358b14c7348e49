#!/usr/bin/env bash
# Puts three generators of OpenAPI clients (110 MB, from PyPI, npm and Maven Central) where test/clients/generated.system.test.ts looks for them:
# .cache/generators. What cannot be had is left out, and its tests are skipped.
set -uo pipefail
cd "$(dirname "$0")"
cache=../../../.cache/generators
mkdir -p "$cache"
cache=$(realpath "$cache")

jar_version=7.25.0
jar_sha256=41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae
python=${TEST_PYTHON:-python3}

# The packages that a generated client imports come along: httpx and attrs by the first, the others for that of openapi-generator.
if [ ! -x "$cache/python/bin/openapi-python-client" ]; then
  partial=$(mktemp -d "$cache/python.XXXXXX")
  "$python" -m venv "$partial" && "$partial/bin/pip" install -q --disable-pip-version-check -r requirements.txt &&
    sed -i "1s|$partial|$cache/python|" "$partial"/bin/* && rm -rf "$cache/python" && mv "$partial" "$cache/python"
  rm -rf "$partial"
fi

if [ ! -f "$cache/openapi-generator-cli.jar" ] && command -v java >/dev/null; then
  partial=$(mktemp "$cache/jar.XXXXXX")
  path=org/openapitools/openapi-generator-cli/$jar_version/openapi-generator-cli-$jar_version.jar
  curl -fsS -o "$partial" "https://repo1.maven.org/maven2/$path" && echo "$jar_sha256  $partial" | sha256sum -c --quiet &&
    mv "$partial" "$cache/openapi-generator-cli.jar"
  rm -f "$partial"
fi

if [ ! -f "$cache/node/node_modules/openapi-fetch/package.json" ]; then
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$cache/node" openapi-typescript@7.13.0 openapi-fetch@0.17.0
fi

[ -x "$cache/python/bin/openapi-python-client" ] && [ -f "$cache/openapi-generator-cli.jar" ] && [ -d "$cache/node/node_modules/openapi-fetch" ]
