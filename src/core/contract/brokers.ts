/** The brokers of the service: one line for each, and a file in `brokers/`. */

import type { BrokerDefinition as Definition } from './broker.ts';
import { ANTARES } from './brokers/antares.ts';
import { LASAIR } from './brokers/lasair.ts';
import { PITTGOOGLE } from './brokers/pittgoogle.ts';

/** The brokers, in the order of links and settings. */
const ALL = [LASAIR, ANTARES, PITTGOOGLE] as const;

type Listed = (typeof ALL)[number];
export type BrokerName = Listed['name'];
/** The brokers that drop unreliable alerts themselves; the settings declare their minimum. */
export type DeclaringBroker = Extract<Listed, { cut: 'declared' }>['name'];
export type PagedBroker = Extract<Listed, { objectPage: string }>['name'];
/** The brokers that deliver messages over Kafka. */
export type KafkaBroker = Extract<Listed, { kafkaServers: readonly string[] }>['name'];

export interface BrokerDefinition extends Definition {
  readonly name: BrokerName;
}

export const BROKERS: readonly BrokerDefinition[] = ALL;

/** The names, ascending: the order of the reliability cuts, and of an object's brokers. */
export const BROKER_NAMES: readonly BrokerName[] = BROKERS.map(({ name }) => name).sort();

export const declaringBrokers = BROKERS.toSorted((a, b) => (a.name < b.name ? -1 : 1)).filter(
  ({ cut }) => cut === 'declared',
) as readonly (BrokerDefinition & {
  readonly name: DeclaringBroker;
})[];
export const pagedBrokers = BROKERS.filter(
  ({ objectPage }) => objectPage !== undefined,
) as readonly (BrokerDefinition & {
  readonly name: PagedBroker;
  readonly objectPage: string;
})[];
export const kafkaBrokers = BROKERS.filter(
  ({ kafkaServers }) => kafkaServers !== undefined,
) as readonly (BrokerDefinition & {
  readonly name: KafkaBroker;
  readonly kafkaServers: readonly string[];
})[];

export function isBroker(name: string): name is BrokerName {
  return (BROKER_NAMES as readonly string[]).includes(name);
}

export function brokerDefinition(name: BrokerName): BrokerDefinition {
  return BROKERS.find(broker => broker.name === name)!;
}

/** The name of a broker's setting: `LASAIR_TOPICS`. */
export function brokerSetting<Name extends BrokerName, Suffix extends string>(name: Name, suffix: Suffix) {
  return `${name.toUpperCase() as Uppercase<Name>}_${suffix}` as const;
}
