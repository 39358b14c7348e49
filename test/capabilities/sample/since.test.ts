/** `since` of POST /api/sample, against the two reports that it compares, over random changes of an archive. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Associator } from '../../../src/capabilities/names/association.ts';
import { publishLoad } from '../../../src/capabilities/names/registry_writer.ts';
import { nowUs } from '../../../src/core/base/times.ts';
import { Pool } from '../../../src/core/pool/pool.ts';
import { readCatalogNames } from '../../../src/core/store/catalog_registration.ts';
import type { TnsRecord } from '../../../src/core/store/types.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { eventually } from '../../directory.ts';
import { offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { inWorld, PROVENANCE, type World } from '../crossmatch/world.ts';
import { addSources, type Source } from './world.ts';

const test = suite('sample/since');

/** Steps of changes. */
const STEPS = Number(process.env.TEST_STEPS ?? 14);
const PLACES = 24;
const FIRST_ID = 313_637_935_709_683_000n;

/** What the archive alone says of a row: a cell that the catalog's files answered has no history. */
function archived({ diaObjectId_str, status, ra, dec, separation_arcsec, same_place, tns, catalogs }: Json): string {
  const recorded = Object.entries<Json>(catalogs)
    .filter(([, cell]) => cell.from === 'archive')
    .map(([name, cell]) => [name, cell.outcome, cell.catalog_source_id, cell.separation_arcsec, cell.verdict]);
  return JSON.stringify([diaObjectId_str, status, ra, dec, separation_arcsec, same_place, tns, recorded]);
}

test('each row whose answer changed is named once, and no other [Sample]', () =>
  inWorld(async world => {
    const random = seededRandom(Number(process.env.TEST_SEED ?? 164));
    const among = (count: number) => Math.floor(count * random());
    const places = Array.from({ length: PLACES }, () => ({ ra: 30 + random(), dec: -20 + random() }));
    const inputs = [
      ...places.map(({ ra, dec }) => ({ kind: 'position', ra, dec, radius_arcsec: 3 })),
      ...Array.from({ length: PLACES }, (_, i) => ({ kind: 'id', diaObjectId: `${FIRST_ID + BigInt(i)}` })),
    ];
    await putSources(world, 'gaia_dr3', places, random);
    await world.writer.keepHistory(true);
    await world.ingest(places.slice(0, 6), FIRST_ID);
    let next = 6;
    let registered = 0;
    const threads = new Pool({ threads: 1, threadData: { dataDir: join(world.directory, 'data') } });
    const associator = new Associator({ store: world.store, pool: threads, radiusArcsec: 1, maxAgeSeconds: 7200 });
    let releases = 0;
    /** Objects are crossmatched again only with other settings, such as another release. */
    const again = () => {
      releases++;
      const catalogs = PROVENANCE.catalogs.map(({ name, release }) => ({ name, release: `${release} ${releases}` }));
      const againIds = Array.from({ length: next }, (_, i) => FIRST_ID + BigInt(i));
      return world.crossmatch({ againIds, associator, provenance: () => ({ ...PROVENANCE, catalogs }) });
    };
    const steps: Readonly<Record<string, () => Promise<unknown>>> = {
      ingest() {
        const first = next;
        next += 8;
        const near = Array.from({ length: 8 }, () => offset(places[among(PLACES)]!, 1.5 * random(), 6 * random()));
        return world.ingest(near, FIRST_ID + BigInt(first));
      },
      remove: () => world.writer.remove([FIRST_ID + BigInt(among(next))], 'a test'),
      anew() {
        const id = FIRST_ID + BigInt(among(next));
        return world.writer.remove([id], 'a test').then(() => world.ingest([places[among(PLACES)]!], id));
      },
      crossmatch: () => world.crossmatch({ associator }),
      again,
      async registry() {
        const load = await world.writer.commit({ kind: 'begin_registry' });
        await world.writer.commit({ kind: 'stage_registry', load, records: registryOf(places, random) });
        await publishLoad(world.writer, load, nowUs() - 3_600_000_000 + 1_000_000 * registered++);
        await again();
      },
      async replace() {
        await putSources(world, among(2) === 0 ? 'gaia_dr3' : 'des_y6_gold', places, random);
        if (among(2) === 0) await again();
      },
    };
    const app = await new TestApp(join(world.directory, 'data')).ready();
    const report = async (more: object) => {
      const { status, body, text } = await app.post('/api/sample', { inputs, ...more });
      assert.is(status, 200, text);
      return body;
    };
    try {
      const states: Json[] = [await report({})];
      const names = Object.keys(steps);
      const reasons = new Set<string>();
      let same = 0;
      for (let step = 0; step < STEPS; step++) {
        // Each kind of step occurs.
        const name = names[step < names.length ? step : among(names.length)]!;
        await steps[name]!();
        const entry = world.store.lastSequence();
        await arrived(app, world);
        const now = await report({ at: entry });
        for (const before of [states.at(-1), states[among(states.length)]]) {
          const { changes, rows } = await report({ at: entry, since: before.journal_entry });
          assert.equal(rows.map(archived), now.rows.map(archived));
          const expected = now.rows.flatMap((row: Json, i: number) =>
            archived(row) === archived(before.rows[i]) ? [] : [i],
          );
          assert.equal(
            changes.map(({ index }: Json) => index),
            expected,
            `${name}, from ${before.journal_entry} to ${entry}`,
          );
          for (const { changes: why } of changes) {
            assert.ok(why.length > 0 && new Set(why).size === why.length, why);
            for (const each of why) reasons.add(/^\w+/.exec(each)![0]);
          }
          same += rows.length - expected.length;
        }
        states.push(now);
      }
      assert.equal([...reasons].sort(), [
        'crossmatched',
        'des_y6_gold',
        'further',
        'gaia_dr3',
        'no',
        'registry',
        'removed',
        'stored',
      ]);
      assert.ok(same > STEPS, `${same} rows did not change`);
    } finally {
      await app.app.close();
      await threads.close();
    }
  }));

/** Names, classes and redshifts of half of the places. */
function registryOf(places: readonly Place[], random: () => number): TnsRecord[] {
  return places.flatMap((place, i) =>
    random() < 0.5
      ? [
          {
            objid: i + 1,
            name: `2026x${i}`,
            namePrefix: random() < 0.5 ? 'AT' : 'SN',
            ...offset(place, 1.2 * random(), 6 * random()),
            classification: random() < 0.5 ? 'SN Ia' : null,
            redshift: random() < 0.5 ? Math.round(1000 * random()) / 1000 : null,
          },
        ]
      : [],
  );
}

/** Registers a catalog that has a source near half of the places. */
async function putSources(
  world: World,
  name: string,
  places: readonly { readonly ra: number; readonly dec: number }[],
  random: () => number,
): Promise<void> {
  const sources = places.flatMap((place, i): Source[] =>
    random() < 0.5
      ? [
          {
            ...offset(place, 0.8 * random(), 6 * random()),
            id: 1000n + BigInt(Math.floor(1e6 * random())) * 100n + BigInt(i),
            payload: {},
          },
        ]
      : [],
  );
  rmSync(join(world.directory, name), { recursive: true, force: true });
  await addSources(world, name, sources);
}

/** Waits until the app has the entry, and knows the catalogs. */
async function arrived(app: TestApp, { store }: World): Promise<void> {
  await eventually('the app has the latest state', async () => {
    const { journal_entry, rows } = (await app.post('/api/sample', { inputs: [{ kind: 'id', diaObjectId: '1' }] }))
      .body;
    const isKnown = Object.keys(rows[0].catalogs).length === readCatalogNames(store.databases).length;
    return (isKnown && journal_entry >= store.lastSequence()) || undefined;
  });
}

test.run();
