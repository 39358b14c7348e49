/** Messages that are one flat JSON object, by the keys that the broker's definition names. */
import type { FlatMessage, TimeForm } from '../contract/broker.ts';
import type { BrokerName } from '../contract/brokers.ts';
import type { JsonObject } from './json.ts';
import { type Normalised, type Normaliser, toDelivery, withObject } from './normalise.ts';
import { mjdTaiToUtcUs, unixSecondsToUs, utcTextToUs } from './time.ts';

const TIMES: Readonly<Record<TimeForm, (value: unknown) => number | undefined>> = {
  mjdTai: mjdTaiToUtcUs,
  utcText: utcTextToUs,
  unixSeconds: unixSecondsToUs,
};

/** @param diaObjectId from `ExactId` */
export function flatDelivery(
  broker: BrokerName,
  keys: FlatMessage,
  values: JsonObject,
  diaObjectId: unknown,
  receivedAtUs: number,
): Normalised {
  return toDelivery({
    broker,
    diaObjectId,
    ra: values[keys.ra],
    dec: values[keys.dec],
    reliability: values[keys.reliability],
    eventTimeUs: eventTimeOf(keys, values) ?? receivedAtUs,
  });
}

function eventTimeOf({ eventTime }: FlatMessage, values: JsonObject): number | undefined {
  for (const [form, key] of eventTime) {
    const timeUs = TIMES[form](values[key]);
    if (timeUs !== undefined) return timeUs;
  }
  return undefined;
}

/** The normaliser of a broker whose messages are flat. */
export function flatNormaliser(broker: BrokerName, keys: FlatMessage): Normaliser {
  return (text, receivedAtUs) =>
    withObject(text, (message, exactId) =>
      flatDelivery(broker, keys, message, exactId(message[keys.diaObjectId]), receivedAtUs),
    );
}
