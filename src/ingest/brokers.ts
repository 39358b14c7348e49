import type { BrokerName } from '../store/types.ts';
import { normaliseAntares } from './antares.ts';
import { normaliseLasair } from './lasair.ts';
import type { Normaliser } from './normalise.ts';
import { normalisePittgoogle } from './pittgoogle.ts';

/** In the order of the reliability cuts. */
export const BROKERS: readonly BrokerName[] = ['antares', 'lasair', 'pittgoogle'];

export function isBroker(name: string): name is BrokerName {
  return (BROKERS as readonly string[]).includes(name);
}

/**
 * The normaliser of a broker's messages.
 * @param minReliability the cut that this service makes itself where the broker makes none: `MIN_DIASOURCE_RELIABILITY`
 */
export function normaliserOf(broker: BrokerName, minReliability: number): Normaliser {
  switch (broker) {
    case 'antares':
      return normaliseAntares;
    case 'lasair':
      return normaliseLasair;
    case 'pittgoogle':
      return (text, receivedAtUs) => normalisePittgoogle(text, receivedAtUs, minReliability);
  }
}
