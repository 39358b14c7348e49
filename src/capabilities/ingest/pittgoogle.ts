import { asObject, type ExactId, type JsonObject } from '../../core/base/json_reader.ts';
import { type Normalised, rejected, SOLAR_SYSTEM, shown, toDelivery, withCut, withObject } from './normalise.ts';
import { mjdTaiToUtcUs } from './time.ts';

/**
 * Reads a Pitt-Google message: an LSST alert, or `{"data": "<the alert as text>", "attributes": {...}}`, whose
 * `diaObject_diaObjectId` must then be the same. The event time is `diaSource.midpointMjdTai` (in the older schema
 * `midPointTai`), or else the time of receipt. An alert without `diaObject` is skipped.
 * @param minReliability inclusive; an alert below it, or without a reliability, is not to be stored
 */
export function normalisePittgoogle(text: string, receivedAtUs: number, minReliability: number): Normalised {
  return withObject(text, (message, exactId) => {
    if (message.data === undefined) return normaliseAlert(message, exactId, receivedAtUs, minReliability);
    if (typeof message.data !== 'string') return rejected('data must be the alert as a string');
    const announced = exactId(asObject(message.attributes)?.diaObject_diaObjectId);
    return normaliseAnnounced(message.data, announced, receivedAtUs, minReliability);
  });
}

/**
 * Normalises the text of an alert that Pub/Sub delivered, by the rules of `normalisePittgoogle`.
 * @param announced the attribute `diaObject_diaObjectId`, if there is one
 */
export function normaliseAnnounced(
  text: string,
  announced: unknown,
  receivedAtUs: number,
  minReliability: number,
): Normalised {
  const normalised = withObject(text, (alert, exactId) => normaliseAlert(alert, exactId, receivedAtUs, minReliability));
  if (normalised.kind !== 'delivery' || announced === undefined || announced === null) return normalised;
  const { diaObjectId } = normalised.delivery;
  if (announced === String(diaObjectId)) return normalised;
  return rejected(`the attributes and the data differ in diaObjectId (${shown(announced)} and ${diaObjectId})`);
}

function normaliseAlert(alert: JsonObject, exactId: ExactId, receivedAtUs: number, minReliability: number): Normalised {
  const source = asObject(alert.diaSource);
  if (alert.diaObject === null || (alert.diaObject === undefined && source)) return SOLAR_SYSTEM;
  const object = asObject(alert.diaObject);
  if (!object || !source) return rejected('not an LSST alert: diaObject and diaSource must be objects');
  const raw = {
    broker: 'pittgoogle',
    diaObjectId: exactId(object.diaObjectId),
    ra: object.ra,
    dec: object.dec,
    raError: object.raErr,
    decError: object.decErr,
    reliability: source.reliability,
    eventTimeUs: mjdTaiToUtcUs(source.midpointMjdTai ?? source.midPointTai),
  } as const;
  return withCut(toDelivery(raw, receivedAtUs), minReliability);
}
