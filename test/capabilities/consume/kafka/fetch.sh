#!/usr/bin/env bash
# Puts Apache Kafka (43 MB, from Maven Central) where the tests look for it: .cache/kafka. Where Java or Maven is missing and apt can
# install them, it does. Without Kafka the tests that need it are skipped.
set -euo pipefail
cd "$(dirname "$0")"
jars=../../../../.cache/kafka

if ls "$jars"/kafka_*.jar >/dev/null 2>&1; then exit 0; fi
if ! command -v java >/dev/null || ! command -v mvn >/dev/null; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo 'Kafka is not fetched as that needs Java 17 and Maven: install them' >&2
    exit 1
  fi
  apt-get install -y -q --no-install-recommends default-jre-headless maven >/dev/null
fi
mkdir -p "$jars"
partial=$(mktemp -d "$jars.XXXXXX")
trap 'rm -rf "$partial"' EXIT
mvn -q -B -f pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$(realpath "$partial")"
mv "$partial"/*.jar "$jars"/
