/** A broker for the test of one file: it is copied to `src/core/contract/brokers/` of a copy of the program. */
import type { BrokerDefinition } from '../../../../src/core/contract/broker.ts';

export const FINK = {
  name: 'fink',
  title: 'Fink',
  home: 'https://fink-broker.org/',
  cut: 'declared',
  objectPage: 'https://lsst.fink-portal.org/{diaObjectId}',
  kafkaServers: ['kafka.fink.example:9092'],
  message: {
    diaObjectId: 'i:diaObjectId',
    ra: 'i:ra',
    dec: 'i:dec',
    reliability: 'i:reliability',
    eventTime: [['mjdTai', 'i:midpointMjdTai']],
  },
} as const satisfies BrokerDefinition;
