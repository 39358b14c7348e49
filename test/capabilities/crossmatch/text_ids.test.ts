/** Catalogs whose ids are strings: which are accepted, and which sources match; astropy is the oracle. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkCatalog, type RegisterOptions, registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { checkDirectory } from '../../../src/capabilities/status/check.ts';
import { compareIds, integerId, isTextId } from '../../../src/core/contract/source_ids.ts';
import { idsBySource } from '../../../src/core/store/source_index.ts';
import { rejection } from '../../core/catalogs/support.ts';
import { type HatsColumn, writeHats } from '../../core/catalogs/write_hats.ts';
import { withDirectory } from '../../e2e/support.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { addQuasars, crossmatchNames, OBJECTS, registrationOf } from './text_ids.ts';
import { inWorld } from './world.ts';

const test = suite('crossmatch/text_ids');

/** Rows whose id is too long or has a control character, and rows whose id is null or blank. */
const [REFUSED, BLANK] = [8, 3];

test('a column of texts has text ids; rows whose text can be no id are counted, and one of these is named', async () => {
  const registration = await registrationOf();
  assert.is(registration.definition!.idType, 'text');
  const { rows, withoutPosition, withoutId, refusedIds } = registration.counted!;
  assert.equal([rows, withoutPosition, withoutId, refusedIds!.rows], [OBJECTS.length, 0, REFUSED + BLANK, REFUSED]);
  assert.match(refusedIds!.first, /^".+"$/);
  const counted = await checkCatalog(registration);
  assert.equal([counted.problems, counted.withoutId, counted.refusedIds!.rows], [[], REFUSED + BLANK, REFUSED]);
  const quick = await checkCatalog(registration, { depth: 'footers' });
  assert.equal([quick.problems, quick.withoutId, quick.refusedIds], [[], null, undefined]);
});

test('each object has the nearest source that has an id, of equally near ones the lowest in UTF-8 [Catalogs]', () =>
  inWorld(async world => {
    const ids = await crossmatchNames(world);
    const found = ids.map(id => world.store.getObject(id)!.matches.map(({ catalogSourceId }) => catalogSourceId));
    assert.equal(
      found,
      OBJECTS.map(({ source }) => (source ? [source.id] : [])),
    );
    const tied = found.filter(([id]) => id?.endsWith(' tie'));
    assert.equal(tied, [['～ tie'], ['～ tie']]);
    ids.forEach((id, at) => {
      const [match] = world.store.getObject(id)!.matches;
      if (!match) return;
      const apart = Math.abs(match.separationArcsec - OBJECTS[at]!.source!.separationArcsec);
      assert.ok(apart < 1e-8, `${match.catalogSourceId}: ${apart}`);
      assert.equal(idsBySource(world.store.databases, match, 9).includes(id), true, match.catalogSourceId);
    });
    assert.equal(idsBySource(world.store.databases, { catalogName: 'quasars', catalogSourceId: 'x' }, 9), []);
  }));

test('texts without a dictionary, in pages of version 2, prefixes shared; bytes that are no texts are refused by their type', async () => {
  const delta = await registrationOf('delta');
  assert.equal([delta.definition!.idType, delta.counted!.withoutId], ['text', 1]);
  const fixed = await rejection(registrationOf('fixed'));
  assert.match(fixed.message, /column Name must be of type .*string: current type is FIXED_LEN_BYTE_ARRAY$/);
  const bytes = await rejection(registrationOf('binary'));
  assert.match(bytes.message, /column Name must be of type .*string: current type is BYTE_ARRAY$/);
});

test('a description may say that texts are integers, and then each has to be one', async () => {
  const { message } = await rejection(registrationOf('quasars', { idType: 'int64' }));
  assert.match(message, /column Name must hold 64-bit integers/);
});

test('a column in which no row has an id is refused, also where only some rows are read', () =>
  withDirectory(async directory => {
    const refused = async (ids: readonly (string | null)[], options: Partial<RegisterOptions> = {}) => {
      const location = join(directory, `${ids.length} ${ids[0]}`.slice(0, 20));
      const place = ids.map((_, i) => i / 10);
      const columns: HatsColumn[] = [
        { name: 'id', type: 'STRING', data: ids },
        { name: 'ra', type: 'DOUBLE', data: place },
        { name: 'dec', type: 'DOUBLE', data: place },
      ];
      writeHats(location, { name: 'mine', columns, ra: 'ra', dec: 'dec' });
      const added = registerCatalog({ name: 'mine', idColumn: 'id', description: {} }, location, {
        addedAtUs: 1,
        ...options,
      });
      return (await rejection(added)).message;
    };
    assert.match(await refused([' ', '', null]), /because no row has an id in its column id$/);
    const notes = Array.from({ length: 100 }, (_, i) => `${i} ${'note '.repeat(20)}`);
    assert.match(
      await refused(notes.slice(1)),
      /no row has an id in its column id: a text has to be .* \("1 note .* was found\)$/,
    );
    assert.match(
      await refused(notes, { depth: 'files' }),
      /column id must hold ids, each a text of 1 to 80 bytes in UTF-8, .* \("0 note .* was found\)$/,
    );
  }));

test('objects that were crossmatched before are crossmatched again with it, once', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', [{ ra: 10, dec: 5 }]);
    const ids = await world.ingest(OBJECTS);
    await world.crossmatch();
    const provenance = await addQuasars(world);
    assert.is((await world.crossmatch({ again: {}, provenance })).recorded, OBJECTS.length);
    assert.is((await world.crossmatch({ again: {}, provenance })).objects, 0);
    const found = ids.map(id =>
      world.store.getObject(id)!.matches.map(match => [match.matchVersion, match.catalogSourceId]),
    );
    assert.equal(
      found,
      OBJECTS.map(({ source }) => (source ? [[2, source.id]] : [])),
    );
    const report = await checkDirectory(join(world.directory, 'data'), () => {});
    assert.equal(report.faults, []);
  }));

test('files in which ids are texts no longer: the others are crossmatched, and the catalog is named', () =>
  inWorld(async world => {
    const registration = await registrationOf('delta');
    const location = registration.location.replace(/delta$/, 'binary');
    await world.writer.commit({ kind: 'register_catalog', registration: { ...registration, location } });
    const { ra, dec } = OBJECTS.find(({ source }) => source?.id === 'M  31')!;
    await world.addCatalog('gaia_dr3', [{ ra, dec }]);
    const [id] = await world.ingest([{ ra, dec }]);
    const { recorded, problems } = await world.crossmatch();
    assert.equal([recorded, problems.length], [1, 1]);
    assert.match(JSON.stringify(problems), /quasars.*column Name must be of type string: current type is BYTE_ARRAY/);
    const { records, matches } = world.store.getObject(id!)!;
    assert.equal(Object.fromEntries(records[0]!.catalogOutcomes), {
      gaia_dr3: 'searched',
      quasars: 'skipped_read_failure',
    });
    assert.is(matches.length, 1);
  }));

test('the integers and texts of ids, their order, and what is no id', () => {
  const random = seededRandom(3);
  const pick = (characters: string) => [...characters][Math.floor(random() * [...characters].length)]!;
  const text = () => Array.from({ length: 1 + Math.floor(4 * random()) }, () => pick('aZ 0é\ue000\uffee🌠💫')).join('');
  for (let i = 0; i < 5000; i++) {
    const [a, b] = [text(), text()];
    assert.is(Math.sign(compareIds(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)), `${a} and ${b}`);
  }
  assert.equal([compareIds(-5n, 3n), compareIds(7n, 7n), compareIds(2n ** 62n, 3n)], [-1, 0, 1]);
  for (const integer of ['0', '-1', '9223372036854775807', '-9223372036854775808'])
    assert.is(`${integerId(integer)}`, integer);
  for (const other of ['', '-0', '+1', '01', '1.0', '9223372036854775808', '1e3', ' 1', '１'])
    assert.is(integerId(other), undefined);
  for (const id of ['a', ' a ', 'é'.repeat(40), '🌠'.repeat(20), '\u2028'])
    assert.ok(isTextId(id) || id === '\u2028', id);
  for (const none of ['', ' ', '\u3000', 'é'.repeat(41), '🌠'.repeat(21), 'a\0', '\x7f', '\u0085a', '\ud800', '\ufffd'])
    assert.not.ok(isTextId(none), JSON.stringify(none));
});

test.run();
