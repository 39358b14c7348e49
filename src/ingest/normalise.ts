/** What the normalisers of all brokers share. */

import { isPosition } from '../../index/mod.ts';
import { messageOf } from '../base/error_text.ts';
import type { BrokerName } from '../contract/brokers.ts';
import type { Delivery, SkyPosition } from '../store/types.ts';
import { asObject, type ExactId, type JsonObject, type Message, parseMessage } from './json.ts';

/** What one message comes to. */
export type Normalised =
  | { readonly kind: 'delivery'; readonly delivery: Delivery }
  /** Rightly not stored: the alert is of a solar-system object. */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** Rightly not stored: it fails the reliability cut that this service makes itself. */
  | { readonly kind: 'below_cut' }
  | { readonly kind: 'rejected'; readonly reason: string };

/** Reads one message, as text, that was received at that time. Pure; never throws. */
export type Normaliser = (text: string, receivedAtUs: number) => Normalised;

export const SOLAR_SYSTEM: Normalised = { kind: 'skipped', reason: 'no diaObject: a solar-system object' };

export function rejected(reason: string): Normalised {
  return { kind: 'rejected', reason };
}

/** Parses the text as a JSON object and hands it on; else the reason against it. */
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

/** What a broker's normaliser found in the message, unchecked. */
export interface RawDelivery {
  readonly broker: BrokerName;
  /** From `ExactId`. */
  readonly diaObjectId: unknown;
  readonly ra: unknown;
  readonly dec: unknown;
  readonly reliability: unknown;
  readonly eventTimeUs: number;
}

/** The delivery, checked: without an exact id it is rejected; a position or reliability that cannot be is null. */
export function toDelivery(raw: RawDelivery): Normalised {
  const diaObjectId = parseId(raw.diaObjectId);
  if (diaObjectId === undefined) {
    return rejected(
      `diaObjectId must be an integer from 0 to 9223372036854775807 (${shown(raw.diaObjectId)} was given)`,
    );
  }
  const delivery: Delivery = {
    diaObjectId,
    position: parsePosition(raw.ra, raw.dec),
    reliability: parseReliability(raw.reliability),
    eventTimeUs: raw.eventTimeUs,
    broker: raw.broker,
  };
  return { kind: 'delivery', delivery };
}

/** The cut that this service makes: a delivery below it, or without a reliability, is not to be stored. Inclusive. */
export function withCut(normalised: Normalised, minReliability: number): Normalised {
  if (normalised.kind !== 'delivery') return normalised;
  const { reliability } = normalised.delivery;
  return reliability === null || reliability < minReliability ? { kind: 'below_cut' } : normalised;
}

const SHOWN_CHARACTERS = 100;

/** A value of a message, for a reason. The text of an object or array is its sender's to choose, or too deep to make. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value).slice(0, SHOWN_CHARACTERS);
}

const MAX_ID = 2n ** 63n - 1n;

/** The id of decimal text without sign or leading zeros (`ExactId` gives a JSON integer so), 0 to 2^63 - 1. */
export function parseId(value: unknown): bigint | undefined {
  if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,18})$/.test(value)) return undefined;
  const id = BigInt(value);
  return id <= MAX_ID ? id : undefined;
}

/** Degrees, 0 <= ra <= 360 and -90 <= dec <= 90; null for anything else. */
export function parsePosition(ra: unknown, dec: unknown): SkyPosition | null {
  if (typeof ra !== 'number' || typeof dec !== 'number') return null;
  return isPosition(ra, dec) ? { ra, dec } : null;
}

/** 0 to 1. What lies outside is no probability (brokers use such values for "none"), so it counts as absent: null. */
export function parseReliability(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : null;
}
