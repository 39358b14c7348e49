import { asObject, type JsonObject } from '../../core/base/json_reader.ts';
import { ANTARES_PROPERTIES } from '../../core/contract/brokers/antares.ts';
import { flatDelivery, type Normalised, rejected, SOLAR_SYSTEM, withObject } from './normalise.ts';

/**
 * Reads an ANTARES alert: its flat properties, or an object that has them as `properties` or `attributes.properties`.
 * The event time is `ant_time_received` (Unix seconds), or else the time of receipt. An alert without
 * `lsst_diaObject_diaObjectId` is skipped.
 */
export function normaliseAntares(text: string, receivedAtUs: number): Normalised {
  return withObject(text, (message, exactId) => {
    const properties = asObject(message.properties) ?? asObject(asObject(message.attributes)?.properties) ?? message;
    const diaObjectId = exactId(properties[ANTARES_PROPERTIES.diaObjectId]);
    return normaliseProperties({ properties, diaObjectId }, receivedAtUs);
  });
}

/** The parsed flat properties of an alert. */
export interface AlertProperties {
  readonly properties: JsonObject;
  /** `lsst_diaObject_diaObjectId`, made by `ExactId`. */
  readonly diaObjectId: unknown;
}

/** Normalises the properties of an alert, by the rules of `normaliseAntares`. */
export function normaliseProperties({ properties, diaObjectId }: AlertProperties, receivedAtUs: number): Normalised {
  if (diaObjectId === undefined || diaObjectId === null) {
    return isAlert(properties)
      ? SOLAR_SYSTEM
      : rejected('not the properties of an ANTARES alert: they have no lsst_ or ant_ keys');
  }
  return flatDelivery('antares', ANTARES_PROPERTIES, properties, diaObjectId, receivedAtUs);
}

function isAlert(properties: JsonObject): boolean {
  return Object.keys(properties).some(key => key.startsWith('lsst_') || key.startsWith('ant_'));
}
