/** Types and checks that all normalisers share, and the normaliser for flat JSON messages. */

import { isPosition } from '@nearsky/sky-index';
import { messageOf } from '../../core/base/error_text.ts';
import { asObject, type ExactId, type JsonObject, type Message, parseMessage } from '../../core/base/json_reader.ts';
import type { FlatMessage, TimeForm } from '../../core/contract/broker.ts';
import type { BrokerName } from '../../core/contract/brokers.ts';
import { isStoredId, STORED_IDS } from '../../core/contract/limits.ts';
import { circularErrorMas, ERROR_UNITS_MAS } from '../../core/contract/position_errors.ts';
import { roundedError } from '../../core/store/match_statistics.ts';
import type { Delivery, SkyPosition } from '../../core/store/types.ts';
import { mjdTaiToUtcUs, unixSecondsToUs, utcTextToUs } from './time.ts';

/** The outcome of a message. */
export type Normalised =
  | {
      readonly kind: 'delivery';
      readonly delivery: Delivery;
      /** Whether the event time is the time of receipt, because the message has no usable time. */
      readonly isReceiptTime?: true;
    }
  /** Not stored, because the alert is about a solar-system object. */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** Not stored, because the alert is below the minimum reliability of this service. */
  | { readonly kind: 'below_cut' }
  | { readonly kind: 'rejected'; readonly reason: string };

/** Normalises a message, given as text, and its time of receipt. Pure; never throws. */
export type Normaliser = (text: string, receivedAtUs: number) => Normalised;

export const SOLAR_SYSTEM: Normalised = { kind: 'skipped', reason: 'no diaObject: a solar-system object' };

export function rejected(reason: string): Normalised {
  return { kind: 'rejected', reason };
}

/** Parses the text as a JSON object, and calls `read` with it. Rejects any other text, with the reason. */
export function withObject(text: string, read: (message: JsonObject, exactId: ExactId) => Normalised): Normalised {
  let parsed: Message;
  try {
    parsed = parseMessage(text);
  } catch (error) {
    return rejected(`not JSON: ${messageOf(error)}`);
  }
  const message = asObject(parsed.value);
  return message ? read(message, parsed.exactId) : rejected('not a JSON object');
}

/** The values that a broker's normaliser found in a message, unchecked. */
interface RawDelivery {
  readonly broker: BrokerName;
  /** Made by `ExactId`. */
  readonly diaObjectId: unknown;
  readonly ra: unknown;
  readonly dec: unknown;
  readonly raError: unknown;
  readonly decError: unknown;
  readonly reliability: unknown;
  /** Undefined if the message has no usable time. */
  readonly eventTimeUs: number | undefined;
}

/**
 * Checks a delivery. Without an exact id it is rejected. An impossible position or reliability becomes null. If there is
 * no event time, the time of receipt is used.
 */
export function toDelivery(raw: RawDelivery, receivedAtUs: number): Normalised {
  const diaObjectId = parseId(raw.diaObjectId);
  if (diaObjectId === undefined) {
    return rejected(`diaObjectId must be ${STORED_IDS} (${shown(raw.diaObjectId)} was given)`);
  }
  const position = parsePosition(raw.ra, raw.dec);
  const error = position ? circularErrorMas(raw.raError, raw.decError, ERROR_UNITS_MAS.deg!) : Number.NaN;
  const delivery: Delivery = {
    diaObjectId,
    position,
    reliability: parseReliability(raw.reliability),
    ...(!Number.isNaN(error) && { positionErrorMas: roundedError(error) }),
    eventTimeUs: raw.eventTimeUs ?? receivedAtUs,
    broker: raw.broker,
  };
  return { kind: 'delivery', delivery, ...(raw.eventTimeUs === undefined && { isReceiptTime: true }) };
}

/** Applies the minimum reliability of this service: a delivery below it, or without a reliability, is not stored. */
export function withCut(normalised: Normalised, minReliability: number): Normalised {
  if (normalised.kind !== 'delivery') return normalised;
  const { reliability } = normalised.delivery;
  return reliability === null || reliability < minReliability ? { kind: 'below_cut' } : normalised;
}

const SHOWN_CHARACTERS = 100;

/**
 * Formats a value of a message, for a reason. Objects and arrays are not shown, because they may be nested too deeply.
 */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value).slice(0, SHOWN_CHARACTERS);
}

/** Reads the id of an object, in decimal without sign or leading zeros. (`ExactId` gives JSON integers this form.) */
export function parseId(value: unknown): bigint | undefined {
  if (typeof value !== 'string' || !/^[1-9]\d{0,18}$/.test(value)) return undefined;
  const id = BigInt(value);
  return isStoredId(id) ? id : undefined;
}

/** Degrees, 0 <= ra <= 360 and -90 <= dec <= 90; null for anything else. */
export function parsePosition(ra: unknown, dec: unknown): SkyPosition | null {
  if (typeof ra !== 'number' || typeof dec !== 'number') return null;
  // -0 becomes 0: the records of objects do not keep the sign, the position table would.
  return isPosition(ra, dec) ? { ra: ra + 0, dec: dec + 0 } : null;
}

/** A reliability, 0 to 1. Other values, which some brokers use for "none", are not probabilities, and become null. */
export function parseReliability(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : null;
}

const TIMES: Readonly<Record<TimeForm, (value: unknown) => number | undefined>> = {
  mjdTai: mjdTaiToUtcUs,
  utcText: utcTextToUs,
  unixSeconds: unixSecondsToUs,
};

/** @param diaObjectId made by `ExactId` */
export function flatDelivery(
  broker: BrokerName,
  keys: FlatMessage,
  values: JsonObject,
  diaObjectId: unknown,
  receivedAtUs: number,
): Normalised {
  const raw = {
    broker,
    diaObjectId,
    ra: values[keys.ra],
    dec: values[keys.dec],
    raError: keys.raError && values[keys.raError],
    decError: keys.decError && values[keys.decError],
    reliability: values[keys.reliability],
    eventTimeUs: eventTimeOf(keys, values),
  };
  return toDelivery(raw, receivedAtUs);
}

function eventTimeOf({ eventTime }: FlatMessage, values: JsonObject): number | undefined {
  for (const [form, key] of eventTime) {
    const timeUs = TIMES[form](values[key]);
    if (timeUs !== undefined) return timeUs;
  }
  return undefined;
}

export function flatNormaliser(broker: BrokerName, keys: FlatMessage): Normaliser {
  return (text, receivedAtUs) =>
    withObject(text, (message, exactId) =>
      flatDelivery(broker, keys, message, exactId(message[keys.diaObjectId]), receivedAtUs),
    );
}
