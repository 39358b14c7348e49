/** The sample's alerts: recorded messages as they are, messages rebuilt in another broker's format, and a few made ones. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { offset } from './sky.ts';

type Json = Record<string, unknown>;

/** A place for which the sample's catalogs hold sources. */
export interface Target {
  readonly id: string;
  readonly ra: number;
  readonly dec: number;
}

/** File name to lines. */
export type AlertFiles = Record<'lasair' | 'lasair-late' | 'antares' | 'pittgoogle', string[]>;

/** How many of the recorded messages keep their `alert` object, with its bare NaN tokens: the shortest ones. */
const WHOLE_MESSAGES = 3;
/** How many of the recorded messages go to the file that is ingested after the crossmatch. */
const LATE_MESSAGES = 3;

/** Ids of made alerts start here; no id of the survey comes near it. */
export const MADE_ALERT_IDS = 9_000_000_000_000_000_000n;
/** A made alert whose coincident source lies across RA 0 and across the edge of a partition. */
export const EDGE_TARGET: Target = { id: String(MADE_ALERT_IDS + 3n), ra: 359.99995, dec: -50 };

// In both runtimes, not yet in TypeScript's library.
const exactJson = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { source: string }) => unknown): Json;
  rawJSON(text: string): unknown;
};

/** Reads JSON in which integers may exceed 2^53 (they become bigints) and numbers may be NaN (they become null). */
function parse(text: string): Json {
  return exactJson.parse(text.replace(/\bNaN\b/g, 'null'), (_key, value, { source }) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(source) : value,
  );
}

function stringify(value: unknown): string {
  return JSON.stringify(value, (_key, v) => (typeof v === 'bigint' ? exactJson.rawJSON(String(v)) : v));
}

/** The objects of an alert as Lasair sends it, which says `decl`, with the survey's own name. */
const withDec = ({ decl, ...fields }: Json): Json => ({ ...fields, dec: decl });

const lines = (text: string) => text.split('\n').filter(line => line !== '');

/** TAI as MJD to UTC as Unix seconds, whole; 37 leap seconds since 2017. */
const unixSeconds = (mjdTai: unknown) => Math.round(((mjdTai as number) - 40587) * 86400 - 37);

/** The flat properties of an ANTARES alert, from the nested objects of an LSST alert. Null values are left out, as ANTARES does. */
function antaresProperties(from: string, parts: Record<string, Json>): Json {
  const source = parts.diaSource ?? {};
  const flat: Json = {
    nearsky_sample: `rebuilt from ${from}`,
    ant_dec: source.dec,
    ant_mjd: source.midpointMjdTai,
    ant_passband: source.band,
    ant_ra: source.ra,
    ant_survey: 4,
    ant_time_received: unixSeconds(source.timeProcessedMjdTai ?? source.midpointMjdTai),
  };
  for (const [part, fields] of Object.entries(parts))
    for (const [name, value] of Object.entries(fields)) if (value !== null) flat[`lsst_${part}_${name}`] = value;
  return flat;
}

const last = (sources: unknown): Json =>
  withDec((sources as Json[]).reduce((a, b) => ((b.midpointMjdTai as number) > (a.midpointMjdTai as number) ? b : a)));

interface Recorded {
  readonly lightweight: string[];
  readonly messages: string[];
  readonly whole: string[];
  readonly reconstructed: string[];
}

function readRecorded(data: string): Recorded {
  const messages = lines(gunzipSync(readFileSync(join(data, 'lasair/kafka_messages_full_alert.ndjson.gz'))).toString());
  const shortest = [...messages].sort((a, b) => a.length - b.length).slice(0, WHOLE_MESSAGES);
  return {
    lightweight: lines(readFileSync(join(data, 'lasair/kafka_messages_lightweight.ndjson'), 'utf8')),
    messages: messages.map(line =>
      shortest.includes(line) ? line : `${line.slice(0, line.indexOf(', "alert": '))} }`,
    ),
    whole: shortest,
    reconstructed: lines(readFileSync(join(data, 'pittgoogle/lsst-alerts-json.reconstructed.small.jsonl'), 'utf8')),
  };
}

function lasairLines(recorded: Recorded): string[] {
  const made = (n: bigint, note: string, fields: Json) =>
    stringify({ diaObjectId: MADE_ALERT_IDS + n, nearsky_sample: `made: ${note}`, ...fields });
  const common = { latestR: 0.9, firstDiaSourceMjdTai: 61105.25, UTC: '2026-03-06 12:00:00' };
  return [
    ...recorded.lightweight,
    ...recorded.messages.slice(0, -LATE_MESSAGES),
    made(1n, 'declination out of range', { ra: 61.5, decl: -95.25, ...common }),
    made(2n, 'cut off inside the line', { ra: 61.5, decl: -48.25, ...common }).slice(0, 90),
    made(3n, 'beside RA 0', { ra: EDGE_TARGET.ra, decl: EDGE_TARGET.dec, ...common }),
  ];
}

function antaresLines(data: string, recorded: Recorded, stars: readonly Target[]): string[] {
  const alerts = recorded.reconstructed.map(line => parse(parse(line).data as string));
  const stored = alerts.filter(alert => alert.diaObject && ((alert.diaSource as Json).reliability as number) >= 0.6);
  const solarSystem = alerts.filter(alert => !alert.diaObject).slice(0, 1);
  const lasair = [
    readFileSync(join(data, 'lasair/unit_313637921267122191.json'), 'utf8'),
    ...recorded.whole.map(line => stringify(parse(line).alert)),
  ].map(parse);
  const properties = [
    ...stored.map(alert =>
      antaresProperties('the same alert of pittgoogle', {
        diaObject: alert.diaObject as Json,
        diaSource: alert.diaSource as Json,
      }),
    ),
    ...solarSystem.map(alert =>
      antaresProperties('the same alert of pittgoogle (a solar-system object)', {
        diaSource: alert.diaSource as Json,
        ssSource: alert.ssSource as Json,
      }),
    ),
    ...lasair.map(alert =>
      antaresProperties('an alert of lasair', {
        diaObject: withDec(alert.diaObject as Json),
        diaSource: last(alert.diaSourcesList),
      }),
    ),
    ...recorded.lightweight.slice(0, 2).map(line => {
      const { diaObjectId, ra, decl, lastDiaSourceMjdTai } = parse(line);
      return antaresProperties('an alert of lasair', {
        diaObject: { diaObjectId, ra, dec: decl },
        diaSource: { diaObjectId, ra, dec: decl, midpointMjdTai: lastDiaSourceMjdTai },
      });
    }),
  ];
  for (const { id, ra, dec } of stars) {
    const diaObject = { diaObjectId: BigInt(id), ra, dec };
    const diaSource = { ...diaObject, reliability: 0.95, midpointMjdTai: 61105.25 };
    const made = antaresProperties('', { diaObject, diaSource });
    properties.push({ ...made, nearsky_sample: 'made: beside a real Gaia source' });
  }
  // Half of them in each of the two forms in which a line may come.
  return properties.map((flat, i) => stringify(i % 2 ? { properties: flat } : flat));
}

function pittgoogleLines(recorded: Recorded): string[] {
  const fromLasair = parse(recorded.whole[0]!).alert as Json;
  const diaObject = withDec(fromLasair.diaObject as Json);
  const diaSource = last(fromLasair.diaSourcesList);
  const alert = {
    diaSourceId: diaSource.diaSourceId,
    nearsky_sample: 'rebuilt from an alert of lasair',
    diaSource,
    diaObject,
  };
  const attributes = {
    diaSource_diaSourceId: String(diaSource.diaSourceId),
    diaObject_diaObjectId: String(diaObject.diaObjectId),
  };
  const made = (n: bigint, note: string, reliability: number | null) => {
    const diaObject = { diaObjectId: MADE_ALERT_IDS + n, ra: 61.25 + Number(n) / 100, dec: -48.5 };
    return stringify({
      nearsky_sample: `made: ${note}`,
      diaSource: { diaSourceId: diaObject.diaObjectId, midpointMjdTai: 61105.25, reliability },
      diaObject,
    });
  };
  return [
    ...recorded.reconstructed,
    stringify({ data: stringify(alert), attributes }),
    made(7n, 'no reliability', null),
    made(8n, 'reliability exactly at the cut', 0.6),
  ];
}

/** Places beside sources that exist: `separationArcsec` grows from one to the next, ids from `MADE_ALERT_IDS + 4`. */
export function besideStars(stars: readonly { ra: number; dec: number }[]): Target[] {
  return stars.map(({ ra, dec }, i) => ({
    id: String(MADE_ALERT_IDS + BigInt(4 + i)),
    ...offset(ra, dec, 0.2 + 0.3 * i, 1 + i),
  }));
}

/** The lines of the four files, and the distinct objects of them that have a position and are not beside a star. */
export function makeAlerts(data: string, stars: readonly Target[]): { files: AlertFiles; targets: Target[] } {
  const recorded = readRecorded(data);
  const files: AlertFiles = {
    lasair: lasairLines(recorded),
    'lasair-late': recorded.messages.slice(-LATE_MESSAGES),
    antares: antaresLines(data, recorded, stars),
    pittgoogle: pittgoogleLines(recorded),
  };
  const targets = new Map<string, Target>();
  const add = (id: unknown, ra: unknown, dec: unknown) =>
    targets.set(String(id), { id: String(id), ra: ra as number, dec: dec as number });
  for (const line of [...recorded.lightweight, ...recorded.messages]) {
    const message = parse(line);
    add(message.diaObjectId, message.ra, message.decl);
  }
  for (const line of files.pittgoogle) {
    const message = parse(line);
    const { diaObject } = typeof message.data === 'string' ? parse(message.data) : message;
    if (diaObject) add((diaObject as Json).diaObjectId, (diaObject as Json).ra, (diaObject as Json).dec);
  }
  const unit = parse(readFileSync(join(data, 'lasair/unit_313637921267122191.json'), 'utf8')).diaObject as Json;
  add(unit.diaObjectId, unit.ra, unit.decl);
  targets.set(EDGE_TARGET.id, EDGE_TARGET);
  return { files, targets: [...targets.values()] };
}
