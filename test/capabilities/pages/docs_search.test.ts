/** What people type into the search of the documents, and the page that must be among the first three. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeSite } from '../../../src/capabilities/documents/site.ts';
import { searchOf } from '../../../src/capabilities/pages/browser/docs_search.js';

const test = suite('pages/docs_search');

const address = (name: string) => name;
const search = searchOf(makeSite({ page: address, file: address }).sections);
const pagesOf = (query: string) => [...new Set(search(query).map(({ section }) => section.address.split('#')[0]!))];

const QUERIES: readonly (readonly [typed: string, page: string])[] = [
  ['x-match', 'match'],
  ['xmatch', 'match'],
  ['cross-match my table', 'match'],
  ['how do I match my own table', 'match'],
  ['host', 'faq'],
  ['hostgalaxy', 'faq'],
  ['cone', 'commands'],
  ['cone search topcat', 'cookbook-from_topcat'],
  ['proper motion', 'faq'],
  ['proper moton', 'faq'],
  ['des delve same source', 'faq'],
  ['SN', 'how_many_are_stars'],
  ['is my SN a star?', 'cookbook-is_it_a_star'],
  ['photo-z', 'faq'],
  ['lightcurve', 'faq'],
  ['TNS name', 'faq'],
  ['feed from lasair', 'feed'],
  ['LIGO skymap', 'cookbook-gravitational_wave_region'],
  ['gravitatonal wvae', 'cookbook-gravitational_wave_region'],
  ['sql', 'tap'],
  ['ADQL', 'tap'],
  ['topcat', 'cookbook-from_topcat'],
  ['stilts', 'cookbook-from_topcat'],
  ['lsdb', 'cookbook-from_lsdb'],
  ['jupyter', 'cookbook-how_many_of_these_are_stars'],
  ['nothing in gaia', 'cookbook-nothing_in_gaia'],
  ['what is new since yesterday', 'cookbook-what_changed'],
  ['pip install', 'clients-python-readme'],
  ['python client', 'clients-python-readme'],
  ['pandas', 'tutorial'],
  ['docker', 'install'],
  ['instalation', 'install'],
  ['restor backup', 'backup'],
  ['delete an object', 'remove'],
  ['disk full', 'watch'],
  ['RAM', 'size'],
  ['429 too many requests', 'faq'],
  ['false positive', 'statistics'],
  ['chance coincidnece', 'statistics'],
  ['outside footprint', 'catalogs'],
  ['duplicate objects', 'data_issues'],
  ['ghosts of bright stars', 'data_issues'],
  ['id wrong digits', 'faq'],
  ['latex', 'cookbook-how_many_of_these_are_stars'],
  ['tom toolkit', 'tom'],
  ['kafka', 'stream'],
  ['API_MAX_IDS', 'settings'],
];

test('each query has its page among the first three', () => {
  const missed = QUERIES.filter(([typed, page]) => !pagesOf(typed).slice(0, 3).includes(page));
  assert.equal(
    missed.map(([typed]) => ({ typed, found: pagesOf(typed).slice(0, 4) })),
    [],
  );
});

test('the changelog and the contract come after the pages for users, unless their name is typed', () => {
  for (const [typed] of QUERIES) assert.ok(!['changelog', 'contract'].includes(pagesOf(typed)[0]!), typed);
  assert.is(pagesOf('changelog')[0], 'changelog');
  assert.is(pagesOf('contract')[0], 'contract');
});

test('nothing is found for a word that none has, and for no word', () => {
  for (const typed of ['qqzzxxkk', '', ' the ', '?']) assert.equal(search(typed), [], typed);
});

test('long and odd texts end soon', () => {
  const startMs = performance.now();
  for (const odd of ['', '<script>', '(a+)+$', '[\\', '__proto__', 'constructor', '\ud800', 'a'.repeat(10_000)])
    search(odd);
  assert.equal(pagesOf('gaia '.repeat(100)), pagesOf('gaia '.repeat(2000)));
  assert.ok(performance.now() - startMs < 5000);
});

test.run();
