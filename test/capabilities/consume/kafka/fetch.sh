#!/usr/bin/env bash
# Puts Apache Kafka (43 MB, from Maven Central) where the tests look for it: .cache/kafka, and the classes of a running server as they
# are in memory, with which servers start in half of the CPU time. Where Java or Maven is missing and apt can install them, it does.
# Without Kafka the tests that need it are skipped.
set -euo pipefail
cd "$(dirname "$0")"
jars=../../../../.cache/kafka

if ! ls "$jars"/kafka_*.jar >/dev/null 2>&1; then
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
  rm -rf "$partial"
fi

cd "$jars"
[ ! -e classes.jsa ] || exit 0
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
cat >"$data/properties" <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:29093
listeners=PLAIN://127.0.0.1:29092,CONTROLLER://127.0.0.1:29093
listener.security.protocol.map=PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAIN
log.dirs=$data/log
END
# The options and the path are those of kafka_server.ts: the classes are valid only with them.
options=(-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$(printf '%s\n' *.jar | LC_ALL=C sort | paste -sd:)")
java "${options[@]}" kafka.tools.StorageTool format -t MkU3OEVBNTcwNTJENDM2Qg -c "$data/properties" >"$data/out" 2>&1
java -XX:ArchiveClassesAtExit="$data/classes.jsa" "${options[@]}" kafka.Kafka "$data/properties" >"$data/out" 2>&1 &
for _ in $(seq 100); do
  grep -q 'Kafka Server started' "$data/out" || sleep 0.5
done
kill $!
wait $! || true
# Without it servers start all the same.
[ ! -s "$data/classes.jsa" ] || mv "$data/classes.jsa" .
