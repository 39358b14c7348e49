import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  combinedError,
  likelihoodOf,
  lnSum,
  lnWeight,
  NO_WORTH,
  readStatistics,
  statisticsOf,
  statisticsText,
  worthOf,
} from '../../../src/core/store/match_statistics.ts';
import { seededRandom } from '../../oracle/skies.ts';

test('statistics are rounded, and the same after they were text', () => {
  for (const [density, sources, second, likelihood, text] of [
    [12.345, 1, Number.NaN, undefined, ',12.3'],
    [Number.NaN, 1, Number.NaN, undefined, ''],
    [Number.NaN, 2, 0.73449, undefined, ',,2,.734'],
    [0.000012345, 12, 59.9999, undefined, ',.0000123,12,60'],
    [1.2345e-7, 300, 0, undefined, ',1.23e-7,300,0'],
    [12.345, 1, Number.NaN, likelihoodOf(0.1, 45.6789, lnWeight(0.1, 45.6789), 1), ',12.3,,,45.6789'],
    [12.345, 2, 0.5, likelihoodOf(0.1, 45.6789, 6, 1), ',12.3,2,.5,45.6789,2.224'],
    [12.345, 2, 0.5, likelihoodOf(0.1, 45.6789, 1234.567891, 1), ',12.3,2,.5,45.6789,1230.7919'],
    [12.345, 2, 0.5, likelihoodOf(0.1, 45.6789, Number.NaN, 1), ',12.3,2,.5,45.6789,?'],
    [12.345, 1, Number.NaN, likelihoodOf(0.1, 45.6789, lnWeight(0.1, 45.6789), 0.7), ',12.3,,,45.6789,,0.7'],
    [12.345, 1, Number.NaN, likelihoodOf(0.1, Number.NaN, Number.NaN, 0.7), ',12.3'],
  ] as const) {
    const statistics = statisticsOf(density, sources, second, likelihood);
    assert.is(statisticsText(statistics), text);
    assert.equal(readStatistics(Buffer.from(text)), statistics);
  }
  const first = { version: 1, sourceDensity: 12.3, sourcesWithinRadius: 1, secondSeparationArcsec: null };
  assert.is(statisticsText(first), '1,12.3');
  for (const text of ['1,12.3', '1,12.3,1']) assert.equal(readStatistics(Buffer.from(text)), first);
});

test('densities have three digits, whatever their size', () => {
  const random = seededRandom(5);
  for (let i = 0; i < 20_000; i++) {
    const density = 10 ** (40 * random() - 30);
    assert.is(statisticsOf(density, 1, Number.NaN).sourceDensity, Number(density.toPrecision(3)), `${density}`);
  }
  for (const density of [0, 1, 10, 100, 1000, 9.995, 99.95, 0.0009999, 1e-25])
    assert.is(statisticsOf(density, 1, Number.NaN).sourceDensity, Number(density.toPrecision(3)), `${density}`);
});

test('the chance probability is that of the separation at the event, where there is one [What a match is worth]', () => {
  const statistics = statisticsOf(3600 / Math.PI, 2, 1);
  const chanceOf = (separationArcsec: number, separationAtEpochArcsec?: number) =>
    worthOf({ separationArcsec, separationAtEpochArcsec }, statistics).chance_probability!;
  assert.ok(Math.abs(chanceOf(1) - (1 - Math.exp(-1))) < 2e-3);
  assert.is(chanceOf(9, 1), chanceOf(1));
  assert.is(chanceOf(0), 0);
  assert.ok(Math.abs(chanceOf(1e-6) / 1e-12 - 1) < 5e-3);
});

test('the second nearest source is never nearer than the nearest, although its separation is rounded', () => {
  for (const separationArcsec of [0.0004, 0.1234567, 0.4564999, 0.9995])
    for (const further of [0, 1e-9, 4e-4, 1e-3]) {
      const second = separationArcsec + further;
      const stored = readStatistics(Buffer.from(statisticsText(statisticsOf(1, 2, second))));
      const shown = worthOf({ separationArcsec }, stored).second_separation_arcsec!;
      assert.ok(shown >= separationArcsec && Math.abs(shown - second) <= 5e-4, `${second} ${shown}`);
    }
});

test('without a density there is no chance probability, and without statistics nothing [What a match is worth]', () => {
  const separations = { separationArcsec: 1 };
  assert.equal(worthOf(separations, statisticsOf(Number.NaN, 1, Number.NaN)), {
    ...NO_WORTH,
    sources_within_radius: 1,
  });
  assert.is(worthOf(separations, undefined), NO_WORTH);
});

/**
 * NWAY 4.8.0 (`nwaylib.nway_match`) with 20,005 sources in a square degree: the errors and separations in arcsec, p_i
 * of each source, and p_any with a prior completeness of 1 and of 0.7. test/capabilities/crossmatch/nway.test.ts runs it.
 */
const NWAY = [
  {
    error: 0.1,
    sources: [
      [0.15, 0.05, 0.999813],
      [0.9, 0.2, 0.000187],
    ],
    any: [0.999702, 0.999574],
  },
  {
    error: 0.2,
    sources: [
      [0.5, 0.1, 0.460117],
      [0.6, 0.3, 0.539883],
    ],
    any: [0.997289, 0.996132],
  },
  { error: 0.3, sources: [[1.4, 0.1, 1]], any: [0.05408, 0.03848] },
] as const;

test('probabilities are those of NWAY', () => {
  for (const { error, sources, any } of NWAY) {
    const found = sources.map(([arcsec, own, probability]) => ({
      arcsec,
      mas: 1000 * Math.hypot(error, own),
      probability,
    }));
    const sum = found.map(({ arcsec, mas }) => lnWeight(arcsec, mas)).reduce(lnSum);
    for (const { arcsec, mas, probability } of found)
      [1, 0.7].forEach((completeness, i) => {
        const statistics = statisticsOf(
          20_005 / 3600,
          sources.length,
          Number.NaN,
          likelihoodOf(arcsec, mas, sum, completeness),
        );
        const worth = worthOf({ separationArcsec: arcsec }, statistics);
        assert.ok(Math.abs(worth.match_probability! - probability) < 2e-3, `${worth.match_probability} ${probability}`);
        assert.ok(Math.abs(worth.any_match_probability! - any[i]!) < 2e-3, `${worth.any_match_probability} ${any[i]}`);
        assert.ok(Math.abs((worth.normalized_separation! * mas) / (1000 * arcsec) - 1) < 5e-3);
      });
  }
});

test('probabilities are exact if a source many errors away is nearer than a likely one', () => {
  for (const [object, sources] of [
    [
      3.43,
      [
        [0.655, 0.6525],
        [0.67485, 1.6178],
        [0.869, 178.7],
      ],
    ],
    [
      20.3,
      [
        [0.5, 1.01],
        [0.8, 230.5],
      ],
    ],
    [100.06, [[0.51, 0.4]]],
    [
      101.3,
      [
        [40, 0.4],
        [51, 14_000],
      ],
    ],
  ] as const) {
    const pairs = sources.map(([arcsec, mas]) => ({ arcsec, sigma: combinedError(object, mas) }));
    const sum = pairs.map(({ arcsec, sigma }) => lnWeight(arcsec, sigma)).reduce(lnSum);
    const odds = sources.reduce((total, [arcsec, mas]) => {
      const variance = (object ** 2 + mas ** 2) / 1e6;
      return total + Math.exp(-0.5 * (arcsec ** 2 / variance)) / (2 * Math.PI * (2.22 / 3600) * variance);
    }, 0);
    for (const { arcsec, sigma } of pairs) {
      const statistics = statisticsOf(2.22, sources.length, 1, likelihoodOf(arcsec, sigma, sum, 1));
      const { any_match_probability: any } = worthOf(
        { separationArcsec: arcsec },
        readStatistics(Buffer.from(statisticsText(statistics))),
      );
      assert.ok(Math.abs(any! - odds / (1 + odds)) <= 5e-4, `${object} ${arcsec}: ${any} ${odds / (1 + odds)}`);
    }
  }
});

test('extremes: no separation, a source many errors away, a density of 0', () => {
  const worth = (arcsec: number, mas: number, ratio: number, density = 1) =>
    worthOf(
      { separationArcsec: arcsec },
      statisticsOf(density, 2, 1, likelihoodOf(arcsec, mas, lnWeight(arcsec, mas) + ratio, 1)),
    );
  const { normalized_separation, match_probability, any_match_probability } = worth(0, 50, 0);
  assert.equal([normalized_separation, match_probability], [0, 1]);
  assert.ok(any_match_probability! > 0.99);
  assert.is(worth(60, 1, 0).any_match_probability, 0);
  assert.is(worth(60, 1, 1.8e9).match_probability, 0);
  assert.is(worth(1, 100, 0, 0).any_match_probability, 1);
});

test.run();
