/** docs/nodes.md: every block runs as printed, in order, with Kafka itself, and prints what the page says. */
import { suite } from 'uvu';
import { jars, whyNoKafka } from '../capabilities/consume/kafka_server.ts';
import { needs } from '../needs.ts';
import { rehearse } from './rehearsal.ts';

const test = suite('docs/nodes');

needs(test, whyNoKafka)('every block runs as printed', () =>
  rehearse('docs/nodes.md', {
    blocks: 10,
    limitMs: 600_000,
    variables: { KAFKA_LIBS: jars, KAFKA_MEMORY: '256m' },
  }),
);

test.run();
