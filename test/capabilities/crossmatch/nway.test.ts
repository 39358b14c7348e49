/** The probabilities that a crossmatch stores, beside those of NWAY for the same tables. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { worthOf } from '../../../src/core/store/match_statistics.ts';
import type { Delivery } from '../../../src/core/store/types.ts';
import { catalogColumns } from '../../core/catalogs/small_catalog.ts';
import { type Answer, TestApp } from '../../core/http/support.ts';
import { start } from '../../e2e/support.ts';
import { needs } from '../../needs.ts';
import { offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { inWorld, type World } from './world.ts';

const test = suite('crossmatch/nway');

interface Located extends Place {
  /** mas; null if unknown. */
  readonly errors: readonly [ra: number | null, dec: number | null];
}

const idOf = (row: number) => 4_000_000_000_000_000_000n + BigInt(row);

/** In small partitions, so that the sources of an object often lie in several. */
async function addSources(world: World, sources: readonly Located[]): Promise<void> {
  const ids = sources.map((_, row) => idOf(row));
  const [ra, dec] = [sources.map(source => source.ra), sources.map(source => source.dec)];
  const columns = catalogColumns(catalogDefinition('gaia_dr3')!, ra, dec, ids).map(column => {
    const at = ['ra_error', 'dec_error'].indexOf(column.name);
    return at < 0 ? column : { ...column, data: sources.map(({ errors }) => errors[at]!) };
  });
  await world.addCatalog('gaia_dr3', sources, { columns, maxRows: 40, maxOrder: 20 }, ids);
}

const deliveryOf = ({ ra, dec }: Place, at: number, errorMas: number | undefined): Delivery => ({
  diaObjectId: 1n + BigInt(at),
  position: { ra, dec },
  reliability: 0.9,
  ...(errorMas !== undefined && { positionErrorMas: errorMas }),
  eventTimeUs: 1_767_225_600_000_000,
  broker: 'lasair',
});

/** Objects in a field of a square degree, each with one to four sources around it; some errors are not known. */
function makeField() {
  const random = seededRandom(11);
  const objects = Array.from({ length: 300 }, (_, at) => ({
    ra: 10 + random(),
    dec: random() - 0.5,
    errorMas: at % 20 === 0 ? undefined : Number((20 + 300 * random()).toPrecision(4)),
  }));
  const error = () => Math.fround(1 + 300 * random());
  const sources = objects.flatMap(object =>
    Array.from({ length: 1 + Math.floor(4 * random()) }, (_, k): Located => {
      const errors = [k === 2 && random() < 0.2 ? null : error(), error()] as const;
      return { ...offset(object, 1.2 * Math.sqrt(random()), 2 * Math.PI * random()), errors };
    }),
  );
  return { objects, sources };
}

const isKnown = ({ errors }: Located) => errors[0] !== null;
/** As NWAY makes a circle of an ellipse. */
const circleOf = ([ra, dec]: Located['errors']) => Math.sqrt((ra! ** 2 + dec! ** 2) / 2);

const PROGRAM = `
import json, sys
import numpy as np
from nwaylib import nway_match
given = json.load(open(sys.argv[1]))
def table(name, rows):
    ra, dec, error = (np.array(column, dtype=float) for column in zip(*rows))
    return dict(name=name, ra=ra, dec=dec, error=error, area=1.0, mags=[], maghists=[], magnames=[])
rows = nway_match([table('P', given['objects']), table('C', given['sources'])], match_radius=1.0, prior_completeness=given['completeness'])
rows = rows[0] if isinstance(rows, tuple) else rows
rows = rows.reset_index()
found = [[int(p), int(c), float(i), float(any_)] for p, c, i, any_ in zip(rows['P'], rows['C'], rows['prob_this_match'], rows['prob_has_match']) if c >= 0]
json.dump(found, open(sys.argv[2], 'w'))
`;

needs(test, whyNoPython('nwaylib'))('probabilities are those of NWAY, to 0.001', () =>
  inWorld(async world => {
    const { objects, sources } = makeField();
    const completeness = 0.7;
    await addSources(world, sources);
    await world.writer.ingest(
      objects.map((object, at) => deliveryOf(object, at, object.errorMas)),
      1_767_225_600_000_000,
    );
    await world.crossmatch({ priorCompleteness: completeness });

    const known = sources.flatMap((source, row) => (isKnown(source) ? row : []));
    const [given, answer] = [join(world.directory, 'given.json'), join(world.directory, 'nway.json')];
    const rows = {
      completeness,
      objects: objects.map(({ ra, dec, errorMas = 1 }) => [ra, dec, errorMas / 1000]),
      sources: known.map(row => [sources[row]!.ra, sources[row]!.dec, circleOf(sources[row]!.errors) / 1000]),
    };
    writeFileSync(given, JSON.stringify(rows));
    await runPython(pythonWith('nwaylib')!, ['-c', PROGRAM, given, answer]);
    const { default: found } = await import(answer, { with: { type: 'json' } });
    const ofNway = new Map(
      (found as [number, number, number, number][]).map(([object, at, own, any]) => [
        `${object} ${idOf(known[at]!)}`,
        { own, any },
      ]),
    );

    const counts = { compared: 0, shared: 0, withoutError: 0, besideUnknown: 0 };
    objects.forEach((object, at) => {
      const [match] = world.store.getObject(1n + BigInt(at))!.matches;
      if (!match) return;
      const worth = worthOf(match, match.statistics);
      const source = sources[Number(BigInt(match.catalogSourceId) - idOf(0))]!;
      if (object.errorMas === undefined || !isKnown(source)) {
        counts.withoutError++;
        assert.equal(
          [worth.normalized_separation, worth.match_probability, worth.any_match_probability],
          [null, null, null],
        );
        return;
      }
      const r = (1000 * match.separationArcsec) / Math.hypot(object.errorMas, circleOf(source.errors));
      assert.ok(Math.abs(worth.normalized_separation! / r - 1) < 5e-3, `${worth.normalized_separation} ${r}`);
      if (worth.match_probability === null || worth.source_density === null) {
        counts.besideUnknown++;
        return;
      }
      const { own, any } = ofNway.get(`${at} ${match.catalogSourceId}`)!;
      assert.ok(Math.abs(worth.match_probability - own) < 2e-3, `${at}: ${worth.match_probability} ${own}`);
      // NWAY has one density, and the crossmatch the local one: odds are in proportion to its inverse.
      const odds = (any / (1 - any)) * (known.length / 3600 / worth.source_density!);
      assert.ok(
        Math.abs(worth.any_match_probability! - odds / (1 + odds)) < 2e-3,
        `${at}: ${worth.any_match_probability}`,
      );
      counts.compared++;
      if (own < 0.999) counts.shared++;
    });
    assert.ok(counts.compared > 150 && counts.shared > 50, JSON.stringify(counts));
    assert.ok(counts.withoutError > 5 && counts.besideUnknown > 5, JSON.stringify(counts));
  }),
);

test('the sum of weights is that of a scan of all sources, however they lie in files [What a match is worth]', () =>
  inWorld(async world => {
    const { objects, sources } = makeField();
    await addSources(world, sources);
    await world.writer.ingest(
      objects.map((object, at) => deliveryOf(object, at, object.errorMas)),
      1_767_225_600_000_000,
    );
    const command = start(['crossmatch', '--data', join(world.directory, 'data')], { MATCH_PRIOR_COMPLETENESS: '0.5' });
    assert.is((await command.finished).code, 0);
    world.store.resetRead();
    let several = 0;
    objects.forEach((object, at) => {
      const [match] = world.store.getObject(1n + BigInt(at))!.matches;
      const likelihood = match?.statistics?.likelihood;
      if (!match || !likelihood) return;
      assert.is(likelihood.priorCompleteness, 0.5);
      const near = sources
        .map((source, row) => ({
          ...source,
          row,
          arcsec: separationArcsec(object.ra, object.dec, source.ra, source.dec),
        }))
        .filter(({ arcsec }) => arcsec <= 1);
      const weights = near.map(({ arcsec, errors }) => {
        const variance = isKnown({ ra: 0, dec: 0, errors })
          ? object.errorMas! ** 2 + circleOf(errors) ** 2
          : Number.NaN;
        return Math.exp((-0.5 * (1000 * arcsec) ** 2) / variance) / variance;
      });
      const own = weights[near.findIndex(({ row }) => `${idOf(row)}` === match.catalogSourceId)]!;
      const expected = own / weights.reduce((sum, weight) => sum + weight, 0);
      const { match_probability: probability } = worthOf(match, match.statistics);
      assert.is(probability === null, Number.isNaN(expected), `${at}`);
      if (probability !== null)
        assert.ok(Math.abs(probability - expected) <= 6e-4, `${at}: ${probability} ${expected}`);
      if (near.length > 1) several++;
    });
    assert.ok(several > 100, `${several}`);
  }));

type Row = Readonly<Record<string, string>>;

const KEYS = ['normalized_separation', 'match_probability', 'any_match_probability'] as const;

/** The cells of a CSV answer without quotes in it. */
function rowsOf({ status, text }: Answer): Row[] {
  assert.is(status, 200, text.slice(0, 500));
  const [names, ...lines] = text
    .trimEnd()
    .split('\n')
    .map(line => line.split(','));
  return lines.map(line => Object.fromEntries(line.map((cell, at) => [names![at]!, cell])));
}

/** Equal to a unit of the fourth digit, because errors in arcsec are rounded otherwise than those in mas. */
function assertSame(found: number | null, expected: number | null, about: string): void {
  const isSame = found === expected || Math.abs(found! - expected!) <= 2e-3 * Math.max(Math.abs(expected!), 1e-9);
  assert.ok(isSame && (found === null) === (expected === null), `${about}: ${found} ${expected}`);
}

const numberOrNull = (cell: string) => (cell === '' ? null : Number(cell));

async function withMatchedField(
  use: (app: TestApp, field: ReturnType<typeof makeField>, world: World) => Promise<void>,
): Promise<void> {
  await inWorld(async world => {
    const made = makeField();
    await addSources(world, made.sources);
    await world.writer.ingest(
      made.objects.map((object, at) => deliveryOf(object, at, object.errorMas)),
      1_767_225_600_000_000,
    );
    await world.crossmatch({ priorCompleteness: 0.7 });
    const app = new TestApp(join(world.directory, 'data'), { MATCH_PRIOR_COMPLETENESS: '0.7' });
    try {
      await use(await app.ready(), made, world);
    } finally {
      await app.app.close();
    }
  });
}

test('a table with errors has the probabilities of the same objects [Crossmatch of a table]', () =>
  withMatchedField(async (app, { objects }, world) => {
    const matchOf = (at: number) => world.store.getObject(1n + BigInt(at))!.matches[0];
    const send = async (search: string, lines: readonly string[]) =>
      rowsOf(
        await app.post(
          `/api/crossmatch?against=gaia_dr3&format=csv&columns=ra,dec${search}`,
          `${lines.join('\n')}\n`,
          null,
        ),
      );
    const table = [
      'ra,dec,sigma,"both, first",second,far',
      ...objects.map(({ ra, dec, errorMas }) => {
        const sigma = errorMas === undefined ? '' : errorMas / 1000;
        // A circle with the same mean variance.
        const both = sigma === '' ? ['', 1] : [1.2 * sigma, Math.sqrt(2 * sigma ** 2 - (1.2 * sigma) ** 2)];
        return [ra, dec, sigma, ...both, 'inf'].join(',');
      }),
    ];
    let compared = 0;
    for (const named of ['sigma', '"both, first",SECOND']) {
      const rows = await send(`&error_arcsec=${encodeURIComponent(named)}`, table);
      rows.forEach((row, at) => {
        const match = matchOf(at);
        assert.is(row.nearsky_source_id, match?.catalogSourceId ?? '');
        if (!match) return;
        const worth = worthOf(match, match.statistics);
        for (const key of KEYS) assertSame(numberOrNull(row[`nearsky_${key}`]!), worth[key], `${at} ${key}`);
        if (worth.match_probability !== null) compared++;
      });
    }
    assert.ok(compared > 300, `${compared}`);
    for (const row of await send('&error_arcsec=far', table))
      for (const key of KEYS) assert.is(row[`nearsky_${key}`], '');
    const bounds = await Promise.all(['1e-9', '648000'].map(error => send(`&error_arcsec=${error}`, table)));
    assert.ok(bounds.every(rows => rows.some(row => row.nearsky_match_probability !== '')));

    // All sources of an object share one certainty, and the nearest has what it has alone.
    const nearest = await send('&error_arcsec=0.1', table);
    const all = await send('&error_arcsec=0.1&find=all', table);
    const ofPlace = Map.groupBy(all, row => `${row.ra} ${row.dec}`);
    let shared = 0;
    for (const row of nearest) {
      const found = ofPlace.get(`${row.ra} ${row.dec}`)!;
      for (const key of KEYS)
        assertSame(numberOrNull(row[`nearsky_${key}`]!), numberOrNull(found[0]![`nearsky_${key}`]!), key);
      if (found.length === 1 || row.nearsky_match_probability === '') continue;
      const sum = found.reduce((total, each) => total + Number(each.nearsky_match_probability), 0);
      assert.ok(Math.abs(sum - 1) < 5.01e-4 * found.length, `${sum}`);
      shared++;
    }
    assert.ok(shared > 50, `${shared}`);

    for (const [search, says] of [
      ['against=objects&error_arcsec=1', /error_arcsec/],
      ['against=gaia_dr3&error_arcsec=none', /no column none, named in error_arcsec/],
      ...['', '0', '-1', 'Infinity', '648001', '1e-10'].map(
        number => [`against=gaia_dr3&error_arcsec=${number}`, /a number from 1e-9 to 648000/] as const,
      ),
      ['against=gaia_dr3&error_arcsec=ra,dec,sigma', /error_arcsec= must be/],
    ] as const) {
      const { status, text, body } = await app.post(`/api/crossmatch?${search}`, `${table.join('\n')}\n`, null);
      assert.is(status, 400, text);
      assert.is(body.param, 'error_arcsec');
      assert.match(text, says);
    }
  }));

test('a position with an error has the probabilities of the same object [Sources]', () =>
  withMatchedField(async (app, { objects }, world) => {
    let compared = 0;
    for (const [at, { ra, dec, errorMas }] of objects.entries()) {
      const match = world.store.getObject(1n + BigInt(at))!.matches[0];
      if (!match || at % 3 !== 0) continue;
      const error = errorMas === undefined ? '' : `&error_arcsec=${errorMas / 1000}`;
      const { status, body } = await app.get(`/api/sources?ra=${ra}&dec=${dec}&radius_arcsec=1${error}`);
      assert.is(status, 200);
      assert.is(body.sources[0].catalog_source_id, match.catalogSourceId);
      const worth = worthOf(match, match.statistics);
      for (const key of KEYS) assertSame(body.sources[0][key], worth[key], `${at} ${key}`);
      if (worth.any_match_probability !== null) compared++;
    }
    assert.ok(compared > 50, `${compared}`);
    for (const error of ['0', '-1', '648001', 'x', '1e-10'])
      assert.is(
        (await app.get(`/api/sources?ra=1&dec=2&radius_arcsec=1&error_arcsec=${error}`)).body.param,
        'error_arcsec',
      );
  }));

test.run();
