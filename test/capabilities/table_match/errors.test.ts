/** The probabilities of a table whose positions have errors. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { worthOf } from '../../../src/core/store/match_statistics.ts';
import type { Answer } from '../../core/http/support.ts';
import { assertSame, KEYS, withMatchedField } from '../crossmatch/field.ts';

const test = suite('table_match/errors');

type Row = Readonly<Record<string, string>>;

/** The cells of a CSV answer without quotes in it. */
function rowsOf({ status, text }: Answer): Row[] {
  assert.is(status, 200, text.slice(0, 500));
  const [names, ...lines] = text
    .trimEnd()
    .split('\n')
    .map(line => line.split(','));
  return lines.map(line => Object.fromEntries(line.map((cell, at) => [names![at]!, cell])));
}

const numberOrNull = (cell: string) => (cell === '' ? null : Number(cell));

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

test.run();
