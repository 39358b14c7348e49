/** Publication of matches, and of changes of objects, on topics of Kafka. */
import type { Capability } from '../../core/host.ts';

export const publish: Capability = {
  name: 'publish',
  needs: ['streams', 'areas'],
  commands: new Map([
    [
      'publish',
      {
        summary: 'publish each match on a Kafka topic',
        after: 'crossmatch',
        load: () => import('./publish_command.ts'),
      },
    ],
  ]),
  background: {
    doing: 'publishing',
    about: 'With PUBLISH_KAFKA_SERVERS and PUBLISH_TOPIC it publishes each match, like `nearsky publish`.',
    load: () => import('./background.ts'),
  },
};
