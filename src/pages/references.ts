/** Where the brokers are described by those who run them. */
import type { BrokerName } from '../store/types.ts';

export const BROKER_PAGES: Readonly<Record<BrokerName, string>> = {
  antares: 'https://antares.noirlab.edu/',
  lasair: 'https://lasair.lsst.ac.uk/',
  pittgoogle: 'https://mwvgroup.github.io/pittgoogle-client/',
};
