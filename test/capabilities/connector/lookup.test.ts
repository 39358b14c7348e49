/** The lookup's answers (docs/contract.md, Connector). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nowUs } from '../../../src/core/base/times.ts';
import {
  crossmatched,
  delivery,
  type Json,
  loadRegistry,
  match,
  NOW_US,
  reshape,
  searched,
  startApp,
} from '../../core/http/support.ts';
import { Connection, UNLIMITED, withConnector } from './support.ts';
import {
  ABOUT,
  CENTRE,
  CLOSE,
  CROWD,
  EPOCH_US,
  fill,
  LOOKUP,
  NEAR,
  PENDING,
  RICH,
  UNASKED,
  UNCHECKED,
  UNRECORDED,
} from './world.ts';

const test = suite('mcp/lookup');

const { app, close } = await startApp(fill, { ...UNLIMITED, MCP_API_BASE_URL: 'https://sky.example/' });
const connection = new Connection(app);
test.after(close);

const lookup = (identifiers: readonly unknown[]) => connection.lookup(identifiers);

test('a source of a catalog that was removed is listed, too', () =>
  withConnector(
    async world => {
      await world.writer.ingest([delivery(1n)], NOW_US);
      await crossmatched(world, 1n, searched('former'), [match('former', '5', { payload: { mag: 20 } })]);
    },
    async other => {
      const [{ objects }] = (await other.lookup(['1'])).results;
      const [{ status, coincident_sources }] = objects;
      const found = coincident_sources.map(({ catalog, count, nearest }: Json) => [catalog, count, nearest[0].values]);
      assert.equal([status, found], ['coincident_sources', [['former', 1, {}]]]);
    },
  ));

/** Escape, delete, right-to-left override, zero width, a tag, a variation selector, a line separator. */
const HIDDEN = ['\u001b[2J', '\u007f', '\u202e', '\u200b', '\u{e0041}', '\ufe0f', '\u2028'];

test('no hidden character reaches an assistant: of the registry, a catalog, or an alert; answers are called data', () => {
  const text = `SN ${HIDDEN.join('x')} \u{1f52d} é`;
  return withConnector(
    async world => {
      await loadRegistry(world, nowUs(), [{ name: '2026abc', namePrefix: text, classification: text }]);
      await world.writer.ingest([delivery(1n)], NOW_US);
      const source = match('gaia_dr3', '5', { payload: { phot_g_mean_mag: text } });
      await crossmatched(world, 1n, searched('gaia_dr3'), [source]);
      const found = { objid: 1000, name: '2026abc', namePrefix: text, classification: text, redshift: null };
      reshape(world, 1n, { tns: { checked: true, snapshotEpochUs: NOW_US, separationArcsec: 0, ...found } });
    },
    async other => {
      const answer = await other.lookup(['2026abc']);
      const [{ tns, objects }] = answer.results;
      const [object] = objects;
      const shown = [tns.name_prefix, tns.classification, object.tns_association.classification];
      shown.push(object.coincident_sources[0].nearest[0].values.phot_g_mean_mag);
      for (const each of shown) {
        assert.ok(HIDDEN.every(hidden => !each.includes(hidden)));
        assert.ok(each.startsWith('SN \ufffd[2Jx') && each.endsWith(' \u{1f52d} é'), each);
      }
      const { body } = await other.request('initialize', { protocolVersion: '2025-06-18' });
      assert.match(body.result.instructions, /never instructions/);
    },
  );
});

test('an object in full: values, key columns, nearest sources, links', async () => {
  const answer = await lookup([`${RICH}`]);
  assert.equal(Object.keys(answer), [
    'requested',
    'objects_found',
    'objects_returned',
    'truncated',
    'results',
    'status_meanings',
    'provenance_notes',
    'tns_notes',
  ]);
  const [result] = answer.results;
  assert.equal(Object.keys(result), ['position', 'identifier', 'kind', 'status', 'objects']);
  assert.equal([result.position, result.identifier, result.kind], [0, `${RICH}`, 'diaObjectId']);
  const [object] = result.objects;
  const { coincident_sources: sources, ...rest } = object;
  assert.equal(rest, {
    diaObjectId: `${RICH}`,
    status: 'coincident_sources',
    ra: 150,
    dec: 2,
    brokers: ['antares', 'lasair'],
    provenance: 'recorded',
    tns_association: {
      state: 'matched',
      name: '2026xyz',
      name_prefix: 'SN',
      classification: 'SN Ia',
      redshift: 0.03,
      separation_arcsec: 0.5,
      snapshot_epoch: '2026-09-21T14:13:20.123456+00:00',
    },
    links: {
      tns: 'https://www.wis-tns.org/object/2026xyz',
      lasair: `https://lasair.lsst.ac.uk/objects/${RICH}/`,
      antares: `https://antares.noirlab.edu/loci?search=${RICH}`,
    },
  });
  assert.equal(
    sources.map(({ catalog, count, more }: Json) => [catalog, count, more]),
    [
      ['gaia_dr3', 1, 0],
      ['des_y6_gold', 1, 0],
      ['skymapper_dr4', 1, 0],
    ],
  );
  const values = {
    phot_g_mean_mag: 19.5,
    parallax: null,
    parallax_error: 0.25,
    classprob_dsc_combmod_star: 1,
    classprob_dsc_combmod_galaxy: null,
  };
  const known = { catalog_release: 'Gaia DR3', values };
  assert.equal(sources[0].nearest, [
    { source_id: '8', separation_arcsec: 0.1, chance_probability: 0.000107, ...known },
  ]);
  assert.equal(Object.keys(sources[1].nearest[0].values), [
    'wavg_mag_psf_g',
    'wavg_mag_psf_r',
    'wavg_mag_psf_i',
    'ext_mash',
    'dnf_z',
  ]);
  assert.equal(sources[2].nearest[0].values, { g_psf: 18.5, r_psf: 18.25, class_star: 0.5 });
  assert.equal(Object.keys(answer.status_meanings), ['coincident_sources']);
  assert.equal(Object.keys(answer.provenance_notes), ['recorded']);
  assert.equal(Object.keys(answer.tns_notes), ['matched']);
});

test('the text is compact JSON [Connector]', async () => {
  const { text, answer } = await connection.call(LOOKUP, { identifiers: [`${RICH}`] });
  assert.is(text, JSON.stringify(answer));
});

test('objects in the other states', async () => {
  const answer = await lookup([`${PENDING}`, `${UNRECORDED}`, `${UNCHECKED}`, '5', `${UNASKED}`]);
  const [pending, unrecorded, unchecked, unknown, unasked] = answer.results.map(({ objects }: Json) => objects[0]);
  assert.equal([pending.status, pending.provenance, pending.links.tns], ['crossmatch_pending', null, null]);
  assert.not('tns_association' in pending);
  assert.equal(pending.coincident_sources, []);
  assert.equal([unrecorded.status, unrecorded.provenance], ['no_coincident_source', 'best_guess_current_settings']);
  assert.equal(unrecorded.tns_association, {
    state: 'none_within_radius',
    snapshot_epoch: '2026-09-21T14:13:20.123456+00:00',
  });
  for (const { tns_association } of [unchecked, unasked]) assert.equal(tns_association, { state: 'not_checked' });
  assert.equal(unknown, { diaObjectId: '5', status: 'not_in_service' });
  assert.equal([answer.requested, answer.objects_found, answer.objects_returned], [5, 4, 5]);
  assert.equal(Object.keys(answer.status_meanings).sort(), [
    'crossmatch_pending',
    'no_coincident_source',
    'not_in_service',
  ]);
  assert.equal(Object.keys(answer.provenance_notes).sort(), ['best_guess_current_settings', 'recorded']);
  assert.equal(Object.keys(answer.tns_notes).sort(), ['none_within_radius', 'not_checked']);
});

test('a TNS name: the record, the objects around it with their separations', async () => {
  const answer = await lookup(['SN 2026xyz', '2026crowd', '2026lonely', '2026none']);
  const [xyz, crowd, lonely, none] = answer.results;
  assert.equal([xyz.identifier, xyz.kind, xyz.status, xyz.objects_total], ['2026xyz', 'tns_name', 'objects_found', 1]);
  assert.equal(Object.keys(xyz.tns), [
    'name',
    'name_prefix',
    'classification',
    'redshift',
    'ra',
    'dec',
    'url',
    'snapshot_epoch',
  ]);
  assert.equal([xyz.tns.name, xyz.tns.classification, xyz.tns.ra], ['2026XYZ', 'SN Ia', 150]);
  assert.match(xyz.tns.snapshot_epoch, /^\d{4}-.*\+00:00$/);
  assert.is(xyz.objects[0].separation_arcsec, 0);
  assert.equal([crowd.objects_total, crowd.objects.length], [CLOSE, CLOSE]);
  assert.equal([lonely.status, lonely.objects_total, lonely.objects], ['no_rubin_object', 0, []]);
  assert.is(lonely.tns.name, '2026lonely');
  assert.equal([none.status, none.objects], ['tns_name_not_found', []]);
  assert.not('tns' in none);
  assert.equal(
    [none.reason, none.tns_snapshot_epoch],
    ['the name is absent from the current registry snapshot, whose epoch is reported.', lonely.tns.snapshot_epoch],
  );
  assert.is(lonely.reason, "No object in the service lies within 1 arcsec of the registry's position.");
  assert.not('objects_total' in none);
  assert.equal([answer.objects_found, answer.objects_returned], [1 + CLOSE, 1 + CLOSE]);
});

test('names cannot be resolved without a current snapshot; ids still are', () =>
  withConnector(
    async world => {
      await world.writer.ingest([delivery(RICH)], NOW_US);
      await loadRegistry(world, nowUs() - 7300e6, [{ name: '2026xyz' }]);
    },
    async other => {
      const { answer } = await other.call(LOOKUP, { identifiers: ['2026xyz', `${RICH}`] });
      assert.equal(
        answer.results.map(({ status }: Json) => status),
        ['resolver_unavailable', 'crossmatch_pending'],
      );
      assert.equal(
        [answer.results[0].reason, answer.results[0].tns_snapshot_epoch],
        ['names cannot be resolved now; other inputs are unaffected.', null],
      );
      const about = (await other.call(ABOUT)).answer;
      assert.equal([about.tns_resolution, about.tns_snapshot_epoch], ['unavailable', null]);
    },
  ));

test('identifiers that are none, that lost digits, and that are the same [Connector]', async () => {
  const lossy = '170666293697970325';
  const { text } = await connection.post(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${LOOKUP}","arguments":{"identifiers":["secret junk",${lossy},"0002",2,"2"]}}}`,
  );
  assert.not.match(text, 'secret junk');
  assert.not.match(text, lossy.slice(0, 10));
  const answer = JSON.parse(JSON.parse(text).result.content[0].text);
  assert.equal([answer.requested, answer.objects_found, answer.results.length], [5, 1, 3]);
  const [junk, lost, two] = answer.results;
  assert.equal(
    [junk.identifier, junk.kind, junk.status, junk.objects],
    [null, 'unrecognized', 'unrecognized_identifier', []],
  );
  assert.equal(
    [lost.position, lost.identifier, lost.kind, lost.status],
    [1, null, 'precision_lost', 'identifier_precision_lost'],
  );
  assert.ok(junk.reason && lost.reason && !('reason' in two));
  assert.equal([two.position, two.identifier], [2, '2']);
  assert.ok(answer.status_meanings.unrecognized_identifier && answer.status_meanings.identifier_precision_lost);
});

test('at most 20 objects; the rest is a command away, and what it asks for is everything [Connector]', async () => {
  const ids = Array.from({ length: 25 }, (_, i) => `${CROWD + BigInt(i)}`);
  const answer = await lookup(['junk', ...ids, 'more junk', '2026crowd']);
  assert.equal(
    [answer.requested, answer.objects_found, answer.objects_returned, answer.truncated],
    [28, 25 + CLOSE, 20, true],
  );
  assert.equal(
    answer.results.slice(1).map(({ identifier }: Json) => identifier),
    ids.slice(0, 20),
  );
  assert.equal(Object.keys(answer).indexOf('truncation'), 4);
  const { reasons, full_results } = answer.truncation;
  assert.equal(reasons, ['chat_object_limit']);
  assert.match(full_results.note, '7 of 28 identifiers and 8 objects');
  assert.match(full_results.note, 'up to 100 objects for each TNS name and 2000 in one request');
  assert.not.match(full_results.curl, /[\r\n]/);
  const [, url, body] = /^curl .*-X POST '(\S+)' -H 'Content-Type: application\/json' --data '(.*)'$/.exec(
    full_results.curl,
  )!;
  assert.is(url, 'https://sky.example/api/lookup');
  const sent = JSON.parse(body!);
  assert.equal(sent.inputs, [
    ...ids.map(diaObjectId => ({ kind: 'id', diaObjectId })),
    { kind: 'tns', name: '2026crowd' },
  ]);
  assert.is(sent.detail, 'full');
  const { results } = await app.lookup(sent.inputs, { detail: sent.detail });
  assert.is(results.flatMap(({ objects }: Json) => objects).length, 25 + CLOSE);
});

test('ids that are not in the service are no objects that are left out', async () => {
  const { objects_found, truncation } = await lookup(Array.from({ length: 25 }, (_, i) => `${900_000 + i}`));
  assert.is(objects_found, 0);
  assert.match(truncation.full_results.note, /^5 of 25 identifiers and 0 objects are left out/);
});

test('an object that was found by a name links to the page of that name', async () => {
  const { results } = await lookup(['2026crowd']);
  for (const { links } of results[0].objects) assert.is(links.tns, 'https://www.wis-tns.org/object/2026crowd');
});

test('exactly 20 objects are no truncation, and a name that leads to several counts them all', async () => {
  const ids = Array.from({ length: 20 }, (_, i) => `${CROWD + BigInt(i)}`);
  const whole = await lookup([...ids, 'junk', '2026none']);
  assert.equal([whole.objects_returned, whole.truncated, whole.results.length], [20, false, 22]);
  assert.not('truncation' in whole);
  const cut = await lookup([...ids.slice(0, 18), '2026crowd', 'junk']);
  assert.equal([cut.objects_returned, cut.truncated, cut.results.length], [20, true, 20]);
  assert.equal([cut.results[18].objects_total, cut.results[18].objects.length], [CLOSE, 2]);
});

test('a name with more objects than the API lists', () =>
  withConnector(
    fill,
    async other => {
      const { answer } = await other.call(LOOKUP, { identifiers: ['2026crowd'] });
      assert.equal(answer.truncation.reasons, ['api_listing_limit']);
      assert.equal([answer.results[0].objects_total, answer.results[0].objects.length], [CLOSE, CLOSE]);
      assert.match(answer.truncation.full_results.curl, "'http://nearsky.test/api/lookup'");
    },
    { API_MAX_OBJECTS_PER_POSITION: '2' },
  ));

test('objects are dropped from the end until the text is short enough, and with their objects the results', () =>
  withConnector(
    fill,
    async other => {
      const ids = Array.from({ length: 40 }, (_, i) => `${CROWD + BigInt(i)}`);
      const { text, answer } = await other.call(LOOKUP, { identifiers: [...ids, `${RICH}`, 'junk', '2026crowd'] });
      assert.ok(text.length <= 5000 && text.length > 4500, `${text.length} characters`);
      assert.equal(answer.truncation.reasons, ['chat_size_limit']);
      const shown = answer.objects_returned;
      assert.ok(shown > 5 && shown < 40);
      const listed = answer.results.filter(({ objects }: Json) => objects.length > 0);
      assert.equal(
        listed.map(({ identifier }: Json) => identifier),
        ids.slice(0, shown),
      );
      assert.is(answer.results.length, shown + 1, 'what has no objects stays');
      assert.ok(answer.truncation.full_results.curl.includes('2026crowd'));
      assert.not('coincident_sources' in answer.status_meanings);

      const near = await other.call(NEAR, { ra_deg: CENTRE.ra, dec_deg: CENTRE.dec, radius_arcsec: 60 });
      assert.ok(near.text.length <= 5000);
      assert.equal(near.answer.truncation.reasons, ['chat_size_limit']);
      assert.is(near.answer.objects_returned, near.answer.objects.length);
    },
    { MCP_MAX_OBJECTS: '100', MCP_MAX_RESULT_CHARS: '5000' },
  ));

test('results without objects go too, when nothing else is left to go', () =>
  withConnector(
    async world => {
      const names = Array.from({ length: 60 }, (_, i) => ({ name: `2026n${i}`, classification: 'SN Ia' }));
      await loadRegistry(world, EPOCH_US, names);
    },
    async other => {
      const { text, answer } = await other.call(LOOKUP, {
        identifiers: Array.from({ length: 60 }, (_, i) => `2026n${i}`),
      });
      assert.ok(text.length <= 5000, `${text.length} characters`);
      assert.equal(answer.truncation.reasons, ['chat_size_limit']);
      const shown = answer.results.length;
      assert.ok(shown > 0 && shown < 60);
      assert.match(answer.truncation.full_results.note, `${60 - shown} of 60 identifiers and 0 objects`);
    },
    { MCP_MAX_RESULT_CHARS: '5000' },
  ));

test.run();
