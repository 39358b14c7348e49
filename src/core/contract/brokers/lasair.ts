import type { BrokerDefinition } from '../broker.ts';

/** A message is one object, with the columns of a filter. */
export const LASAIR = {
  name: 'lasair',
  title: 'Lasair',
  home: 'https://lasair.lsst.ac.uk/',
  cut: 'declared',
  declared: { minReliability: 0.6, asOf: '2026-11-19' },
  objectPage: 'https://lasair.lsst.ac.uk/objects/{diaObjectId}/',
  kafkaServers: ['lasair-lsst-kafka.lsst.ac.uk:9092'],
  message: {
    diaObjectId: 'diaObjectId',
    ra: 'ra',
    dec: 'decl',
    raError: 'raErr',
    decError: 'decErr',
    reliability: 'latestR',
    eventTime: [
      ['mjdTai', 'firstDiaSourceMjdTai'],
      ['utcText', 'UTC'],
    ],
  },
} as const satisfies BrokerDefinition;
