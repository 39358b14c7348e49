#!/usr/bin/env bash
# Runs one server of a Kafka cluster until it is ended: deploy/kafka.sh ID HOST:PORT,HOST:PORT,HOST:PORT DIRECTORY
# ID is its place among the servers, from 1. The servers speak to each other at PORT and PORT + 1, without TLS and passwords: let only
# them and the nodes reach these ports. KAFKA_LIBS is where the jars of Kafka 3.9 or newer are (/opt/kafka/libs). Java 17 is needed.
set -euo pipefail
id=$1
IFS=, read -ra servers <<<"$2"
directory=$3
libs=${KAFKA_LIBS:-/opt/kafka/libs}
run() { java -Xmx"${KAFKA_MEMORY:-512m}" -cp "$libs/*" "$@"; }

own=${servers[id - 1]}
voters=()
for i in "${!servers[@]}"; do voters+=("$((i + 1))@${servers[i]%:*}:$((${servers[i]##*:} + 1))"); done
mkdir -p "$directory"
cat >"$directory/server.properties" <<END
process.roles=broker,controller
node.id=$id
controller.quorum.voters=$(IFS=, && echo "${voters[*]}")
listeners=PLAINTEXT://$own,CONTROLLER://${own%:*}:$((${own##*:} + 1))
advertised.listeners=PLAINTEXT://$own
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=$directory/log
offsets.topic.replication.factor=${#servers[@]}
auto.create.topics.enable=false
metadata.max.idle.interval.ms=5000
END
# All servers of the cluster must have this id.
run kafka.tools.StorageTool format --ignore-formatted -t bmVhcnNreS1leGFtcGxlMQ -c "$directory/server.properties"
exec java -Xmx"${KAFKA_MEMORY:-512m}" -cp "$libs/*" kafka.Kafka "$directory/server.properties"
