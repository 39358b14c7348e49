/** A candidate for a duty, as a separate process. It prints whether it is elected, whenever that changes. */
import { KafkaElection } from '../../../src/core/cluster/election.ts';

const [server, topic, duty] = process.argv.slice(2);
const election = new KafkaElection({ servers: [server!], topic: topic!, tls: false, log: () => {} }, duty!);
let before: boolean | undefined;
setInterval(() => {
  if (election.isElected === before) return;
  before = election.isElected;
  console.log(`${before}`);
}, 20);
