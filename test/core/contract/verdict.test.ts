/** Verdicts on sources, against pandas on real rows, and against each catalog's documentation of its classes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { type Verdict, verdictOf } from '../../../src/core/contract/verdict.js';
import rows from './gaia_rows.json' with { type: 'json' };

const test = suite('contract/verdict');

const verdict = (catalog: string, payload: Readonly<Record<string, unknown>> | null) =>
  verdictOf(catalogDefinition(catalog)!, payload);

test('150 rows of Gaia DR3 as pandas judges them', () => {
  const found = rows.rows.map(
    values => verdict('gaia_dr3', Object.fromEntries(rows.columns.map((name, i) => [name, values[i]]))).verdict,
  );
  assert.equal(found, rows.verdicts);
  assert.ok(new Set(found).size >= 3);
});

test('the classes of DES and DELVE, as integers of 64 bits, too; and those of SkyMapper', () => {
  const mash: readonly (readonly [unknown, Verdict])[] = [
    [0, 'star'],
    [1n, 'star'],
    [2, 'unclear'],
    [3, 'galaxy'],
    [4n, 'galaxy'],
    [-9, 'unclear'],
    [null, 'unclear'],
  ];
  for (const [ext_mash, expected] of mash)
    for (const catalog of ['des_y6_gold', 'delve_dr3_gold'])
      assert.is(verdict(catalog, { ext_mash }).verdict, expected, `${ext_mash}`);
  for (const [class_star, expected] of [
    [0.95, 'star'],
    [0.9, 'star'],
    [Math.fround(0.9), 'star'],
    [0.899, 'unclear'],
    [0.7, 'unclear'],
    [0.5, 'galaxy'],
    [0, 'galaxy'],
  ])
    assert.is(verdict('skymapper_dr4', { class_star }).verdict, expected);
});

test('a source with contradictory values is unclear, and the reason names them', () => {
  const quasar = { classprob_dsc_combmod_quasar: 0.98, classprob_dsc_combmod_star: 0.01 };
  assert.is(verdict('gaia_dr3', quasar).verdict, 'quasar');
  const moving = verdict('gaia_dr3', { ...quasar, parallax: 12, parallax_error: 1.5 });
  assert.is(moving.verdict, 'unclear');
  assert.match(
    moving.reason,
    /contradictory: classprob_dsc_combmod_quasar 0\.98 \(quasar: from 0\.5\); parallax\/parallax_error 8 \(star: from 5\)/,
  );
});

test('without values, errors or rules a source is unclear', () => {
  assert.match(verdict('gaia_dr3', null).reason, /columns are empty/);
  assert.is(verdict('gaia_dr3', { parallax: 3, parallax_error: 0, pmra: 9, pmra_error: null }).verdict, 'unclear');
  assert.match(verdictOf({ name: 'other' }, { a: 1 }).reason, /other has no rules/);
  assert.match(verdict('des_y6_gold', { ext_mash: 2 }).reason, /no rule is met: ext_mash 2/);
});

test.run();
