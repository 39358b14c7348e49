/** The probabilities that a crossmatch stores, beside those of NWAY for the same tables. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { worthOf } from '../../../src/core/store/match_statistics.ts';
import { start } from '../../commands/in_process.ts';
import { needs } from '../../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { addSources, circleOf, deliveryOf, idOf, isKnown, makeField } from './field.ts';
import { inWorld } from './world.ts';

const test = suite('crossmatch/nway');

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

test.run();
