/** A registry of transients that changes while others use it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { separationArcsec } from '@nearsky/sky-index';
import * as assert from 'uvu/assert';
import { BOT, FakeTns } from '../capabilities/names/fake_tns.ts';
import { csvOf, someRecords } from '../capabilities/names/support.ts';
import { offset, type Place } from '../oracle/skies.ts';
import { type Registry, random } from './kill_support.ts';

/** In the registry before and after; transients near one of our objects come first. */
const TRANSIENTS = 5000;
const NEAR = 60;
/** The number of transients, the first ones, whose names change by the hour. */
const RENAMED = 24;
const HOUR_MS = 3_600_000;
/** The registry of yesterday, and today's registry up to the last hour, as a server offers them. */
export class Transients {
  readonly former: Registry;
  readonly newer: Registry;
  readonly file: string;
  readonly server: FakeTns;

  private constructor(file: string, server: FakeTns, places: readonly Place[]) {
    this.file = file;
    this.server = server;
    const text = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
    const near = (distanceArcsec: number) => (record: Registry['records'][number], i: number) =>
      i < NEAR ? { ...record, ...offset(places[2 * i]!, distanceArcsec, 1) } : record;
    const nowMs = Date.now();
    const midnightMs = nowMs - (nowMs % (24 * HOUR_MS));
    const former = someRecords(2 * NEAR).map(near(0.4));
    writeFileSync(file, csvOf(text(midnightMs - 24 * HOUR_MS), former));
    const records = someRecords(TRANSIENTS).map(near(0.7));
    server.put('', text(midnightMs), [...records]);
    let epochMs = midnightMs;
    for (let hour = 0; epochMs + HOUR_MS <= nowMs; hour++, epochMs += HOUR_MS) {
      const renamed = { ...records[hour]!, name: `2026hour${hour}` };
      records[hour] = renamed;
      const span = `${text(epochMs)} - ${text(epochMs + HOUR_MS)}`;
      server.put(String(hour).padStart(2, '0'), span, [renamed]);
    }
    this.former = { epochUs: 1000 * (midnightMs - 24 * HOUR_MS), records: former };
    this.newer = { epochUs: 1000 * epochMs, records };
  }

  static async start(directory: string, places: readonly Place[]): Promise<Transients> {
    return new Transients(join(directory, 'former.csv'), await FakeTns.start(), places);
  }

  get variables(): Record<string, string> {
    return {
      TNS_OBJECTS_BASE_URL: this.server.baseUrl,
      TNS_BOT_ID: String(BOT.id),
      TNS_BOT_NAME: BOT.name,
      TNS_BOT_API_KEY: BOT.apiKey,
    };
  }

  ofEpoch(epochUs: number): Registry {
    const found = [this.former, this.newer].find(registry => registry.epochUs === epochUs);
    assert.ok(found, `a registry of ${epochUs}`);
    return found;
  }

  /** The place in both registries of one that has the same name in both, and another position. */
  someNamedAlike(): number {
    return RENAMED + Math.floor((NEAR - RENAMED) * random());
  }

  /** The nearest transient within an arcsecond. */
  nearest(epochUs: number, { ra, dec }: Place): { objid: number | null; separationArcsec: number | null } {
    const near = this.ofEpoch(epochUs)
      .records.filter(record => Math.abs(record.dec - dec) < 0.01)
      .map(record => ({ objid: record.objid, separationArcsec: separationArcsec(ra, dec, record.ra, record.dec) }))
      .filter(found => found.separationArcsec <= 1)
      .sort((a, b) => a.separationArcsec - b.separationArcsec || a.objid - b.objid);
    return near[0] ?? { objid: null, separationArcsec: null };
  }
}
