import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { NO_WORTH, readStatistics, statisticsOf, statisticsText, worthOf } from '../../src/store/match_statistics.ts';
import { seededRandom } from '../oracle/skies.ts';

test('statistics are rounded, and the same after they were text', () => {
  for (const [density, sources, second, text] of [
    [12.345, 1, Number.NaN, '1,12.3,1'],
    [Number.NaN, 1, Number.NaN, '1,,1'],
    [Number.NaN, 2, 0.73449, '1,,2,0.734'],
    [0.000012345, 12, 59.9999, '1,0.0000123,12,60'],
    [1.2345e-7, 300, 0, '1,1.23e-7,300,0'],
  ] as const) {
    const statistics = statisticsOf(density, sources, second);
    assert.is(statisticsText(statistics), text);
    assert.equal(readStatistics(text), statistics);
  }
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

test('the chance probability is that of the separation at the event, where there is one', () => {
  const statistics = statisticsOf(3600 / Math.PI, 2, 1);
  const chanceOf = (separationArcsec: number, separationAtEpochArcsec?: number) =>
    worthOf({ separationArcsec, separationAtEpochArcsec }, statistics).chance_probability!;
  assert.ok(Math.abs(chanceOf(1) - (1 - Math.exp(-1))) < 2e-3);
  assert.is(chanceOf(9, 1), chanceOf(1));
  assert.is(chanceOf(0), 0);
  assert.ok(Math.abs(chanceOf(1e-6) / 1e-12 - 1) < 5e-3);
});

test('without a density there is no chance probability, and without statistics nothing', () => {
  const separations = { separationArcsec: 1 };
  assert.equal(worthOf(separations, statisticsOf(Number.NaN, 1, Number.NaN)), {
    ...NO_WORTH,
    sources_within_radius: 1,
  });
  assert.is(worthOf(separations, undefined), NO_WORTH);
});

test.run();
