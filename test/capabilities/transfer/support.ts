/**
 * Shared by the tests of import and export: random stores as the lines that an export writes, and everything that
 * readers see.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { RejectLog } from '../../../src/capabilities/ingest/rejects.ts';
import { exportStore } from '../../../src/capabilities/transfer/exporter.ts';
import {
  type ImportCounts,
  Importer,
  type ImporterOptions,
  type Rejection,
} from '../../../src/capabilities/transfer/importer.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { readCounts } from '../../../src/core/store/counts.ts';
import { findRecent, readLatestIngest } from '../../../src/core/store/recent.ts';
import { findByName, readRegistryEpochUs } from '../../../src/core/store/registry.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';

export interface Imported {
  readonly counts: ImportCounts;
  readonly rejections: readonly Rejection[];
}

/** Imports files in this process. Close the store first if it is open for reading. */
export function importFiles(dataDir: string, ...files: readonly string[]): Promise<Imported> {
  return importWith({}, dataDir, files);
}

/** The same, but threads prepare the lines after this many bytes. */
export async function importWith(
  options: Pick<ImporterOptions, 'inlineBytes'>,
  dataDir: string,
  files: readonly string[],
): Promise<Imported> {
  const store = openStore(dataDir, 'write');
  const rejects = new RejectLog({ ...loadConfig(), NEARSKY_DATA: dataDir }, 'import');
  const rejections: Rejection[] = [];
  const importer = new Importer({
    dataDir,
    writer: new Writer(store),
    rejects,
    onReject: rejection => rejections.push(rejection),
    onBatch: () => {},
    ...options,
  });
  try {
    try {
      for (const file of files) await importer.importFile(file);
    } finally {
      await importer.finish();
    }
    return { counts: importer.counts, rejections };
  } finally {
    await importer.close();
    rejects.close();
    await store.close();
  }
}

let files = 0;

export function writeLines(directory: string, lines: readonly string[]): string {
  const file = join(directory, `lines-${++files}.ndjson`);
  writeFileSync(file, lines.map(line => `${line}\n`).join(''));
  return file;
}

/** Imports lines from a file that is put into `directory`, into the data directory `name` there. */
export function importLines(directory: string, name: string, lines: readonly string[]): Promise<Imported> {
  return importFiles(join(directory, name), writeLines(directory, lines));
}

/** The lines of the export of a data directory. */
export async function exportLines(dataDir: string): Promise<string[]> {
  const store = openStore(dataDir, 'read');
  const file = `${dataDir}.exported`;
  try {
    await exportStore(store, file, () => {});
  } finally {
    await store.close();
  }
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

/** Everything that the readers of a store answer, as text to compare. */
export async function readersSee(dataDir: string, tnsNames: readonly string[]): Promise<string> {
  const store = openStore(dataDir, 'read');
  try {
    return JSON.stringify(seen(store, tnsNames), (_key, value) => (typeof value === 'bigint' ? `${value}n` : value), 1);
  } finally {
    await store.close();
  }
}

function seen(store: Store, tnsNames: readonly string[]) {
  const objects = [...store.objects()].map(object => {
    const records = object.records.map(({ provenanceSet, ...record }) => ({
      ...record,
      ...store.provenanceSet(provenanceSet),
    }));
    return { ...object, records, sources: store.getSources(object.diaObjectId) };
  });
  const always = { startUs: -(2 ** 53), endUs: 2 ** 53, asOfUs: 2 ** 53, limit: 1_000_000 };
  const { journalEntries: _, ...counts } = readCounts(store.databases);
  return {
    objects,
    counts,
    pending: store.pendingIds(1_000_000),
    listed: (['all', 'matched'] as const).flatMap(of =>
      (['ingest_time', 'event_time'] as const).map(timeField =>
        findRecent(store.databases, { of, timeField, ...always }),
      ),
    ),
    latest: readLatestIngest(store.databases),
    epoch: readRegistryEpochUs(store.databases),
    names: tnsNames.map(name => findByName(store.databases, name.toLowerCase()) ?? null),
  };
}

/** A store as the lines of its export, grouped: the registry, then each object with what belongs to it. */
export interface Stored {
  readonly registry: readonly string[];
  readonly objects: readonly (readonly string[])[];
  readonly tnsNames: readonly string[];
}

export const linesOf = ({ registry, objects }: Stored): string[] => [registry, ...objects].flat();

/** JSON in the form of an export: a number that is an integer too large for a double to be sure of has an exponent. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)}}`;
  }
  return Number.isInteger(value) && !Number.isSafeInteger(value)
    ? Number(value).toExponential()
    : JSON.stringify(value);
}

/** @param raw members that are JSON texts already */
const lineOf = (type: string, fields: Readonly<Record<string, unknown>>, raw = '') =>
  `${canonical({ type, ...fields }).slice(0, -1)}${raw}}`;

const timeUntil = (max: number) =>
  fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: -(2 ** 50), max })).map(timeUs => {
    const seconds = Math.floor(timeUs / 1e6);
    const text = new Date(seconds * 1000).toISOString().slice(0, 19);
    return `${text}.${String(timeUs - seconds * 1e6).padStart(6, '0')}+00:00`;
  });
const time = timeUntil(2 ** 53 - 1);
const id = fc.oneof(
  fc.bigInt(1n, 40n),
  fc.bigInt(2n ** 53n - 2n, 2n ** 53n + 2n),
  fc.bigInt(2n ** 63n - 9n, 2n ** 63n - 1n),
);
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const text = fc
  .oneof(fc.constantFrom('II', 'SN Ia', 'é😀"\\'), fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a text of an import has none
  .filter(value => value.length > 0 && !/[\0-\x1f\x7f]/.test(value));
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const brokers = fc
  .uniqueArray(fc.constantFrom('antares', 'lasair', 'pittgoogle', 'fink', 'BABAMUL'), { maxLength: 4 })
  .map(names => names.sort());
const catalog = fc.constantFrom('gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4', 'ps1_dr2', 'A');

const ra = fc.double({ min: 0, max: 360, noNaN: true });
const dec = fc.double({ min: -90, max: 90, noNaN: true });
const position = fc.oneof(fc.constant({ ra: null, dec: null }), fc.record({ ra, dec }));

const errorMas = fc.double({ min: 1e-6, max: 1e6, noNaN: true });

const objectFields = fc.record({
  position,
  reliability: orNull(fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), finite)),
  ingest_time: time,
  event_time: time,
  state: fc.constantFrom('pending', 'crossmatched', 'crossmatched'),
  brokers,
});

const provenance = fc.record({
  crossmatch_radius_arcsec: orNull(fc.constantFrom(1, 0.5)),
  catalogs: fc.array(
    fc.record(
      { name: catalog, release: text, proper_motion: fc.constant(true) },
      { requiredKeys: ['name', 'release'] },
    ),
    { maxLength: 2 },
  ),
  reliability_cuts: fc.array(
    fc.record({
      broker: text,
      min_reliability: orNull(fc.double({ min: 0, max: 1, noNaN: true })),
      enforced_by: fc.constantFrom('service', 'broker'),
      status: fc.constantFrom('declared', 'not_declared', 'service_setting'),
      as_of: orNull(fc.constant('2026-10-01')),
    }),
    { maxLength: 2 },
  ),
});

const outcome = fc.constantFrom(
  'searched',
  'outside_footprint',
  'skipped_read_failure',
  'not_searched_invalid_position',
);
const record = fc.record({
  match_version: fc.nat({ max: 4 }),
  crossmatched_at: time,
  brokers_at_crossmatch: brokers,
  catalog_outcomes: fc.dictionary(catalog, outcome, { maxKeys: 5, noNullPrototype: true }),
  provenance,
});

/** The JSON text of a value of a payload, as an export writes it. */
const payloadValue = fc.oneof(
  finite.map(canonical),
  fc.bigInt(-(2n ** 63n), 2n ** 64n - 1n).map(String),
  fc.string({ unit: 'grapheme' }).map(value => JSON.stringify(value)),
  fc.constantFrom(
    'null',
    'true',
    'false',
    '0',
    '9007199254740993',
    '9007199254740991',
    '-9223372036854775808',
    '"12345678901234567"',
  ),
);
const payload = fc
  .uniqueArray(
    fc.tuple(fc.constantFrom('ra', 'dec', 'parallax', 'parallax_error', 'flags', 'a b', 'é'), payloadValue),
    {
      selector: ([key]) => key,
    },
  )
  .map(entries => `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`);

const integerId = fc.oneof(fc.constantFrom('9', '10', '0'), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String));
/** A catalog that the project does not describe may have these. */
const otherCatalog = fc.constantFrom('ps1_dr2', 'A');
const textId = fc.constantFrom(
  'β Cet',
  'PSS J1443+2724',
  '"a", b',
  'a/b\\c',
  '007',
  '9223372036854775808',
  ' x',
  '🌠',
  'é'.repeat(40),
);

const match = fc
  .record(
    {
      match_version: fc.nat({ max: 3 }),
      source: fc.oneof(fc.tuple(catalog, integerId), fc.tuple(otherCatalog, textId)),
      separation_arcsec: fc.double({ min: 0, max: 1, noNaN: true }),
      separation_at_epoch_arcsec: fc.double({ min: 0, max: 1, noNaN: true }),
      statistics: fc
        .record({
          version: fc.constantFrom(1, 2),
          source_density: orNull(fc.double({ min: 0, max: 1e6, noNaN: true })),
          sources_within_radius: fc.nat({ max: 300 }),
          second_separation_arcsec: orNull(fc.double({ min: 0, max: 60, noNaN: true })),
          likelihood: fc.record({
            combined_error_mas: errorMas,
            ln_weight_ratio: orNull(fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e4, noNaN: true }))),
            prior_completeness: fc.oneof(fc.constant(1), fc.double({ min: 1e-6, max: 1, noNaN: true })),
          }),
        })
        .map(({ likelihood, ...rest }) => (rest.version === 1 ? rest : { ...rest, ...likelihood })),
      ra: orNull(ra),
      dec: orNull(dec),
      catalog_payload: fc.oneof(fc.constant('null'), payload),
    },
    {
      requiredKeys: ['match_version', 'source', 'separation_arcsec', 'ra', 'dec', 'catalog_payload'],
    },
  )
  .map(({ match_version, source: [catalog_name, catalog_source_id], ...rest }) => {
    return { match_version, catalog_name, catalog_source_id, ...rest };
  });

const designation = fc.oneof(fc.constantFrom('2026abc', '2026ABC', '2026A', '2026a', 'X-1'), text);
const tns = fc.record({
  name: designation,
  name_prefix: orNull(fc.constantFrom('SN', 'AT')),
  ra,
  dec,
  classification: orNull(text),
  redshift: orNull(finite),
});
const association = fc.oneof(
  fc.constant({
    checked: false,
    snapshot_epoch: null,
    objid: null,
    name: null,
    name_prefix: null,
    classification: null,
    redshift: null,
    separation_arcsec: null,
  }),
  fc.record({ epoch: time }).map(({ epoch }) => ({
    checked: true,
    snapshot_epoch: epoch,
    objid: null,
    name: null,
    name_prefix: null,
    classification: null,
    redshift: null,
    separation_arcsec: null,
  })),
  fc
    .record({ epoch: time, objid: fc.maxSafeNat(), tns, separation: fc.double({ min: 0, max: 1, noNaN: true }) })
    .map(({ epoch, objid, tns: found, separation }) => ({
      checked: true,
      snapshot_epoch: epoch,
      objid,
      name: found.name,
      name_prefix: found.name_prefix,
      classification: found.classification,
      redshift: found.redshift,
      separation_arcsec: separation,
    })),
);

const group = fc
  .record({
    id,
    fields: objectFields,
    records: fc.uniqueArray(record, { selector: ({ match_version }) => match_version, maxLength: 3 }),
    matches: fc.uniqueArray(match, {
      selector: ({ match_version, catalog_name, catalog_source_id }) =>
        `${match_version} ${catalog_name} ${catalog_source_id}`,
      maxLength: 5,
    }),
    association: orNull(association),
  })
  .map(({ id: value, fields, records, matches, association: found }) => {
    const diaObjectId = `${value}`;
    const { position: at, ...rest } = fields;
    return {
      diaObjectId,
      lines: [
        lineOf('object', { diaObjectId, ...at, ...rest }),
        ...records
          .sort((a, b) => a.match_version - b.match_version)
          .map(entry => lineOf('crossmatch_record', { diaObjectId, ...entry })),
        ...matches
          .sort(inOrder)
          .map(({ catalog_payload, ...entry }) =>
            lineOf('match', { diaObjectId, ...entry }, `,"catalog_payload":${catalog_payload}`),
          ),
        ...(found ? [lineOf('tns_association', { diaObjectId, ...found })] : []),
      ],
    };
  });

function inOrder(a: { match_version: number; catalog_name: string; catalog_source_id: string }, b: typeof a): number {
  const text = (value: typeof a) => [value.catalog_name, value.catalog_source_id].join(' ');
  return a.match_version - b.match_version || (text(a) < text(b) ? -1 : 1);
}

const registry = orNull(
  fc.record({
    // A future one is rejected.
    epoch: timeUntil(2 ** 50),
    objects: fc.uniqueArray(fc.tuple(fc.oneof(fc.nat({ max: 20 }), fc.maxSafeNat()), tns), {
      selector: ([objid]) => objid,
      maxLength: 8,
    }),
  }),
);

/** Stores in every state that there can be. */
export const anyStored: fc.Arbitrary<Stored> = fc
  .record({ registry, groups: fc.uniqueArray(group, { selector: ({ diaObjectId }) => diaObjectId, maxLength: 12 }) })
  .map(({ registry: loaded, groups }) => ({
    registry: loaded
      ? [
          lineOf('tns_snapshot', { epoch: loaded.epoch }),
          ...loaded.objects
            .sort(([a], [b]) => a - b)
            .map(([objid, fields]) => lineOf('tns_object', { objid, ...fields })),
        ]
      : [],
    objects: groups.sort((a, b) => (BigInt(a.diaObjectId) < BigInt(b.diaObjectId) ? -1 : 1)).map(({ lines }) => lines),
    tnsNames: loaded?.objects.map(([, { name }]) => name) ?? [],
  }));
