import type { BrokerDefinition } from '../broker.ts';

/** A message is a whole LSST alert (src/capabilities/ingest/pittgoogle.ts), delivered by Google Pub/Sub. */
export const PITTGOOGLE = {
  name: 'pittgoogle',
  title: 'Pitt-Google',
  home: 'https://mwvgroup.github.io/pittgoogle-client/',
  cut: 'service',
  homeRemark: 'the broker has no pages for objects; this explains how to fetch the alerts with Python',
  otherSettings: [
    "PITTGOOGLE_SUBSCRIPTION; PUBSUB_ENDPOINT; credentials: Google's, as GOOGLE_APPLICATION_CREDENTIALS names them; none for the",
    'emulator at PUBSUB_EMULATOR_HOST',
  ],
} as const satisfies BrokerDefinition;
