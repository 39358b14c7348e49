import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseProperties } from '@nearsky/hats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { published } from '../core/catalogs/support.ts';

const test = suite('properties');

test('keys and values, comments and blanks', () => {
  const text = '#HATS catalog\n! another\n\n  hats_nrows = 131\r\nobs_collection=small sky\nempty=\nbare\n';
  assert.equal(
    [...parseProperties(text)],
    [
      ['hats_nrows', '131'],
      ['obs_collection', 'small sky'],
      ['empty', ''],
      ['bare', ''],
    ],
  );
});

test('escapes, other separators, continued lines', () => {
  const text = [
    'hats_creation_date=2025-10-06T14\\:36UTC',
    'a\\=key\\ with\\:all : v\\u0061lue',
    'long=one\\',
    '   two\\',
    '# three',
    'backslashes=C\\\\\\\\',
    'tab blank\\tseparated',
    'last=1',
    'last=2\\',
  ].join('\n');
  assert.equal(Object.fromEntries(parseProperties(text)), {
    hats_creation_date: '2025-10-06T14:36UTC',
    'a=key with:all': 'value',
    long: 'onetwo# three',
    backslashes: 'C\\\\',
    tab: 'blank\tseparated',
    last: '2',
  });
});

test('the properties file with a list value', () => {
  const text = readFileSync(join(published, 'hats/misc/properties_with_escapes_info_only_catalog'), 'utf8');
  assert.is(parseProperties(text).get('hats_cols_default'), 'psf mean_mag_r');
});

test.run();
