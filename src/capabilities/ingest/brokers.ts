import { type BrokerName, brokerDefinition } from '../../core/contract/brokers.ts';
import { normaliseAntares } from './antares.ts';
import { flatNormaliser, type Normaliser, withCut } from './normalise.ts';
import { normalisePittgoogle } from './pittgoogle.ts';

/** The normalisers for messages that are not flat. */
const OWN: Partial<Record<BrokerName, (minReliability: number) => Normaliser>> = {
  antares: () => normaliseAntares,
  pittgoogle: minReliability => (text, receivedAtUs) => normalisePittgoogle(text, receivedAtUs, minReliability),
};

/**
 * The normaliser for a broker's messages.
 * @param minReliability the minimum that this service applies if the broker does not: `MIN_DIASOURCE_RELIABILITY`
 */
export function normaliserOf(name: BrokerName, minReliability: number): Normaliser {
  const { cut, message } = brokerDefinition(name);
  if (!message) return OWN[name]!(minReliability);
  const normalise = flatNormaliser(name, message);
  if (cut === 'declared') return normalise;
  return (text, receivedAtUs) => withCut(normalise(text, receivedAtUs), minReliability);
}
