/** The citation of an object, against an entry that was written by hand. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bibtexOf } from '../../../src/capabilities/pages/browser/citing.js';

const test = suite('pages/citing');

const catalogs = [
  {
    name: 'gaia_dr3',
    release: 'Gaia DR3',
    reference: { paper: 'Vallenari et al. 2023, A&A', paperUrl: 'https://doi.org/1' },
  },
  { name: 'mine', release: 'Mine_50%' },
  { name: 'other', release: 'Other' },
];
const page = { version: '9.9.9', catalogs } as unknown as Parameters<typeof bibtexOf>[2];
const base = 'https://near.example/sky';
const read = new Date('2026-11-24T12:00:00Z');
const crossmatch = {
  crossmatched_at: '2026-11-23T01:02:03.000000+00:00',
  match_version: 3,
  catalog_outcomes: { gaia_dr3: 'searched', mine: 'searched', other: 'outside_footprint' },
};
const set = { crossmatch_radius_arcsec: 1, catalogs };

test('a citation names each catalog that was searched, with its release', () => {
  assert.is(
    bibtexOf({ diaObjectId_str: '9007199254740993', crossmatch }, set, page, base, read),
    `@misc{nearsky-9007199254740993,
  title = {Rubin alert object 9007199254740993},
  howpublished = {\\url{https://near.example/sky/objects/9007199254740993}},
  note = {nearsky 9.9.9; crossmatched 2026-11-23 01:02:03 UTC, version 3, within 1 arcsec, with Gaia DR3, Mine\\_50\\%; read 2026-11-24},
  year = {2026},
}

@misc{gaia-dr3,
  title = {Gaia DR3},
  howpublished = {\\url{https://doi.org/1}},
  note = {Vallenari et al. 2023, A\\&A},
}

@misc{mine,
  title = {Mine\\_50\\%},
}`,
  );
});

test('an object without a record of its crossmatch names no catalog', () => {
  const cited = bibtexOf({ diaObjectId_str: '5', crossmatch: null }, undefined, page, base, read);
  assert.match(cited, 'note = {nearsky 9.9.9; its crossmatch is not recorded; read 2026-11-24}');
  assert.not.match(cited, 'Gaia');
});

test.run();
