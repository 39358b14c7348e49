import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { normaliseAntares } from '../../../src/capabilities/ingest/antares.ts';
import { normaliserOf } from '../../../src/capabilities/ingest/brokers.ts';
import { type Normalised, type Normaliser, parseReliability } from '../../../src/capabilities/ingest/normalise.ts';
import { normalisePittgoogle } from '../../../src/capabilities/ingest/pittgoogle.ts';

const test = suite('ingest/normalise');
const RECEIVED_US = 1_780_000_000_000_000;
const MIN_RELIABILITY = 0.6;

const antares = (text: string) => normaliseAntares(text, RECEIVED_US);
const lasair = (text: string) => normaliserOf('lasair', MIN_RELIABILITY)(text, RECEIVED_US);
const pittgoogle = (text: string) => normalisePittgoogle(text, RECEIVED_US, MIN_RELIABILITY);

function deliveryOf(normalised: Normalised) {
  if (normalised.kind === 'delivery') return normalised.delivery;
  throw new Error(`expected a delivery, got ${JSON.stringify(normalised)}`);
}

function reasonOf(normalised: Normalised): string {
  assert.is(normalised.kind, 'rejected');
  return normalised.kind === 'rejected' ? normalised.reason : '';
}

const ANTARES = `{"lsst_diaObject_diaObjectId": 170433143923278190, "lsst_diaObject_ra": 238.986105, "lsst_diaObject_dec": -14.424639,
  "lsst_diaSource_diaSourceId": 170433143923278191, "lsst_diaSource_reliability": 0.93, "ant_ra": 1, "ant_dec": 2, "ant_time_received": 1790000000.25}`;

test('antares: flat properties, or within properties, or within attributes', () => {
  for (const text of [
    ANTARES,
    `{"properties": ${ANTARES}}`,
    `{"type": "alert", "attributes": {"mjd": 1, "properties": ${ANTARES}}}`,
  ])
    assert.equal(deliveryOf(antares(text)), {
      diaObjectId: 170433143923278190n,
      position: { ra: 238.986105, dec: -14.424639 },
      reliability: 0.93,
      eventTimeUs: 1790000000250000,
      broker: 'antares',
    });
});

test('the errors of the position become one, unless one of them is not a number above 0, or there is no position [What a match is worth]', () => {
  const errorOf = (normalised: Normalised) => deliveryOf(normalised).positionErrorMas;
  const inAntares = (ra: string, dec: string) =>
    ANTARES.replace('{', `{"lsst_diaObject_raErr": ${ra}, "lsst_diaObject_decErr": ${dec}, `);
  assert.is(errorOf(antares(inAntares('1e-5', '1e-5'))), 36);
  assert.is(errorOf(antares(inAntares('1e-5', '2e-5'))), 56.92);
  for (const unknown of ['null', 'NaN', '0', '-1e-5', '"1e-5"', '1e999'])
    assert.is(errorOf(antares(inAntares('1e-5', unknown))), undefined, unknown);
  for (const each of ['1e-15', '181', '4.993e301']) assert.is(errorOf(antares(inAntares(each, each))), undefined, each);
  assert.is(errorOf(antares(inAntares('170', '170'))), 612_000_000);
  assert.is(errorOf(antares(inAntares('1e-5', '1e-5').replace('-14.424639', '-95'))), undefined);
  const inLasair = '{"diaObjectId": 1, "latestR": 0.9, "ra": 223.25, "decl": -40.5, "raErr": 1e-5, "decErr": 1e-5}';
  assert.is(errorOf(lasair(inLasair)), 36);
  assert.is(errorOf(pittgoogle(ALERT('0.9').replace('"dec": 2.5', '"dec": 2.5, "raErr": 1e-5, "decErr": 1e-5'))), 36);
});

test('antares: an alert without a diaObject is skipped; what is no alert is rejected', () => {
  assert.is(antares('{"lsst_diaSource_diaSourceId": 5, "ant_mjd": 61096.3}').kind, 'skipped');
  assert.is(antares('{"lsst_diaObject_diaObjectId": null, "ant_mjd": 61096.3}').kind, 'skipped');
  assert.match(reasonOf(antares('{"diaObjectId": 5, "ra": 1, "decl": 2}')), 'not the properties of an ANTARES alert');
  assert.match(reasonOf(antares('{"data": {"type": "locus", "id": "ANT2026abcdefg"}}')), 'not the properties');
});

test('antares: without a time of receipt of its own, ours', () => {
  assert.is(deliveryOf(antares('{"lsst_diaObject_diaObjectId": 5}')).eventTimeUs, RECEIVED_US);
});

test('lasair: declination is decl; event time falls back to UTC, then to the time of receipt', () => {
  const message = (time: string) =>
    `{"diaObjectId": 169760231713145019, "latestR": 0.999995, "ra": 223.25, "decl": -40.5${time}}`;
  assert.equal(deliveryOf(lasair(message(', "firstDiaSourceMjdTai": 61029.346, "UTC": "2026-01-30 13:55:19"'))), {
    diaObjectId: 169760231713145019n,
    position: { ra: 223.25, dec: -40.5 },
    reliability: 0.999995,
    eventTimeUs: 1766218657400000,
    broker: 'lasair',
  });
  const utc = Date.UTC(2026, 0, 30, 13, 55, 19) * 1000;
  for (const first of ['null', 'NaN', '-5'])
    assert.is(
      deliveryOf(lasair(message(`, "firstDiaSourceMjdTai": ${first}, "UTC": "2026-01-30 13:55:19"`))).eventTimeUs,
      utc,
    );
  assert.is(deliveryOf(lasair(message(', "firstDiaSourceMjdTai": null, "UTC": "soon"'))).eventTimeUs, RECEIVED_US);
  assert.is(deliveryOf(lasair(message(''))).eventTimeUs, RECEIVED_US);
});

const ALERT = (reliability: string, time = '"midpointMjdTai": 61029.346') =>
  `{"diaObject": {"diaObjectId": 170433143923278192, "ra": 150.25, "dec": 2.5}, "diaSource": {"ra": 1, "dec": 2, ${time}, "reliability": ${reliability}}}`;

test('pittgoogle: the alert itself, or as text in data, whose attributes must agree', () => {
  const expected = {
    diaObjectId: 170433143923278192n,
    position: { ra: 150.25, dec: 2.5 },
    reliability: 0.81,
    eventTimeUs: 1766218657400000,
    broker: 'pittgoogle',
  };
  const data = JSON.stringify(ALERT('0.81'));
  for (const text of [
    ALERT('0.81'),
    `{"data": ${data}}`,
    `{"data": ${data}, "attributes": {}}`,
    `{"data": ${data}, "attributes": {"diaObject_diaObjectId": "170433143923278192"}}`,
    `{"data": ${data}, "attributes": {"diaObject_diaObjectId": 170433143923278192}}`,
  ])
    assert.equal(deliveryOf(pittgoogle(text)), expected);
  const differing = `{"data": ${data}, "attributes": {"diaObject_diaObjectId": "170433143923278193"}}`;
  assert.match(reasonOf(pittgoogle(differing)), /170433143923278193.*170433143923278192/);
  assert.match(reasonOf(pittgoogle('{"data": 5}')), 'data must be');
  assert.match(reasonOf(pittgoogle('{"data": "{"}')), 'not JSON');
});

test('pittgoogle: the cut is inclusive, and an alert without a reliability is below it [Provenance; Purpose]', () => {
  for (const reliability of ['0.6', '0.60000001', '1']) assert.is(pittgoogle(ALERT(reliability)).kind, 'delivery');
  for (const reliability of ['0.5999999999999999', '0', 'null', 'NaN', '-999', '1.5', '"0.9"'])
    assert.equal(pittgoogle(ALERT(reliability)), { kind: 'below_cut' }, reliability);
  assert.is(normalisePittgoogle(ALERT('0.6'), RECEIVED_US, 0.7).kind, 'below_cut');
});

test('pittgoogle: an older schema spells midPointTai; without either, the time of receipt [P12]', () => {
  assert.is(deliveryOf(pittgoogle(ALERT('0.9', '"midPointTai": 61029.346'))).eventTimeUs, 1766218657400000);
  assert.is(deliveryOf(pittgoogle(ALERT('0.9', '"x": 1'))).eventTimeUs, RECEIVED_US);
});

test('pittgoogle: an alert of a solar-system object is skipped; what is no alert is rejected', () => {
  assert.is(pittgoogle('{"diaObject": null, "diaSource": {"reliability": 0.9}}').kind, 'skipped');
  assert.is(pittgoogle('{"diaSource": {"reliability": 0.9}}').kind, 'skipped');
  for (const text of ['{}', '{"diaObject": 5, "diaSource": {}}', '{"diaObject": {"diaObjectId": 5}}'])
    assert.match(reasonOf(pittgoogle(text)), 'not an LSST alert');
});

/** A message of each broker with that id and position. */
const MESSAGES: Record<string, [Normaliser, (id: string, ra: string, dec: string) => string]> = {
  antares: [
    antares,
    (id, ra, dec) => `{"lsst_diaObject_diaObjectId": ${id}, "lsst_diaObject_ra": ${ra}, "lsst_diaObject_dec": ${dec}}`,
  ],
  lasair: [lasair, (id, ra, dec) => `{"diaObjectId": ${id}, "ra": ${ra}, "decl": ${dec}}`],
  pittgoogle: [
    pittgoogle,
    (id, ra, dec) =>
      `{"diaObject": {"diaObjectId": ${id}, "ra": ${ra}, "dec": ${dec}}, "diaSource": {"reliability": 0.9}}`,
  ],
};

for (const [broker, [normalise, message]] of Object.entries(MESSAGES)) {
  test(`${broker}: an id is an integer from 1 to 2^63 - 1, in digits or a string of digits`, () => {
    for (const id of ['1', '9007199254740993', '9223372036854775807']) {
      assert.is(deliveryOf(normalise(message(id, '1', '2'), RECEIVED_US)).diaObjectId, BigInt(id));
      assert.is(deliveryOf(normalise(message(`"${id}"`, '1', '2'), RECEIVED_US)).diaObjectId, BigInt(id));
    }
    const wrong = [
      '9223372036854775808',
      '0',
      '"0"',
      '-0',
      '-1',
      '-9223372036854775808',
      '1.0',
      '1e5',
      '"1.0"',
      '"007"',
      '""',
      '" 5"',
      '"0x10"',
      'true',
      '[5]',
      `1${'0'.repeat(400)}`,
    ];
    for (const id of wrong) assert.match(reasonOf(normalise(message(id, '1', '2'), RECEIVED_US)), 'diaObjectId', id);
  });

  test(`${broker}: the zeros of a position have no sign`, () => {
    const { ra, dec } = deliveryOf(normalise(message('5', '-0.0', '-0.0'), RECEIVED_US)).position!;
    assert.equal([Object.is(ra, 0), Object.is(dec, 0)], [true, true]);
  });

  test(`${broker}: a position that cannot be is null, and the object is delivered all the same`, () => {
    for (const [ra, dec] of [
      ['0', '-90'],
      ['360', '90'],
      ['359.9999999', '0'],
    ])
      assert.equal(deliveryOf(normalise(message('5', ra!, dec!), RECEIVED_US)).position, {
        ra: Number(ra),
        dec: Number(dec),
      });
    const wrong = [
      ['NaN', '1'],
      ['1', 'NaN'],
      ['null', '1'],
      ['-0.001', '1'],
      ['360.001', '1'],
      ['1', '90.001'],
      ['1', '-91'],
    ];
    for (const [ra, dec] of [...wrong, ['"1"', '1'], ['1', 'Infinity'], ['1', 'true'], ['1e999', '1']])
      assert.is(deliveryOf(normalise(message('5', ra!, dec!), RECEIVED_US)).position, null, `${ra}, ${dec}`);
  });

  test(`${broker}: what is not a JSON object is rejected`, () => {
    for (const text of ['', '5', '"text"', 'null', '[]', '{"diaObjectId": 5']) reasonOf(normalise(text, RECEIVED_US));
  });
}

test('a reliability outside 0 to 1 counts as absent', () => {
  assert.equal([0, 0.5, 1].map(parseReliability), [0, 0.5, 1]);
  assert.equal(
    [-0.01, 1.01, -999, Number.NaN, '0.5', null, undefined, true].map(parseReliability),
    Array(8).fill(null),
  );
});

test('an id that is an object or an array is rejected, however deep, and whatever its keys', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  for (const id of [deep, `{"a": ${deep}}`, '{"toString": 1, "valueOf": 1, "toJSON": 1}', '{"__proto__": null}']) {
    assert.match(reasonOf(lasair(`{"diaObjectId": ${id}}`)), /\(an (array|object) was given\)$/);
    assert.match(reasonOf(antares(`{"lsst_diaObject_diaObjectId": ${id}}`)), /\(an \w+ was given/);
    const wrapped = `{"data": ${JSON.stringify(ALERT('0.9'))}, "attributes": {"diaObject_diaObjectId": ${id}}}`;
    assert.match(reasonOf(pittgoogle(wrapped)), /the attributes and the data differ in diaObjectId \(an/);
  }
});

test.run();
