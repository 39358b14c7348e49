import type { BrokerDefinition, FlatMessage } from '../broker.ts';

/** The flat properties of an alert, which a message holds or links to (src/capabilities/ingest/antares.ts). */
export const ANTARES_PROPERTIES: FlatMessage = {
  diaObjectId: 'lsst_diaObject_diaObjectId',
  ra: 'lsst_diaObject_ra',
  dec: 'lsst_diaObject_dec',
  raError: 'lsst_diaObject_raErr',
  decError: 'lsst_diaObject_decErr',
  reliability: 'lsst_diaSource_reliability',
  eventTime: [['unixSeconds', 'ant_time_received']],
};

export const ANTARES = {
  name: 'antares',
  title: 'ANTARES',
  home: 'https://antares.noirlab.edu/',
  cut: 'declared',
  declared: { minReliability: 0.6, asOf: '2026-11-19' },
  objectPage: 'https://antares.noirlab.edu/loci?search={diaObjectId}',
  kafkaServers: ['kafka.antares.noirlab.edu:9092'],
  otherSettings: [
    'ANTARES_KAFKA_TLS, ANTARES_KAFKA_SASL_MECHANISM, ANTARES_API_BASE_URL;',
    'credentials, in the environment only: ANTARES_API_KEY, ANTARES_API_SECRET',
  ],
} as const satisfies BrokerDefinition;
