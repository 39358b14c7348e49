/** The export as HATS catalogs: it equals the lines of an export, value by value, and other programs can read it. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openHats } from '@nearsky/hats';
import { pixel29, pixelOf, separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exportHats } from '../../../src/capabilities/hats/hats_exporter.ts';
import type { Store } from '../../../src/core/store/store.ts';
import type { MatchSummary, ProvenanceSet, StoredObject } from '../../../src/core/store/types.ts';
import { nearsky, start } from '../../commands/in_process.ts';
import { exportLines } from '../../commands/lines.ts';
import { fillSky, type Row, readRows } from '../../core/store/filled_sky.ts';
import { delivery, failure, withStore } from '../../core/store/support.ts';
import { root } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { isListed, worth } from '../../oracle/answers.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';

const test = suite('hats_export');

/** A line, or what a line says, with integers that a double might not hold as texts. */
const parsedLine = (line: string): Row => JSON.parse(line.replace(/:(-?\d{16,})(?=[,}])/g, ':"$1"'));

const timeText = (value: unknown) => {
  if (value === null || value === undefined) return null;
  const us = value as bigint;
  const micros = `${us % 1_000_000n}`.padStart(6, '0');
  return `${new Date(Number(us / 1000n)).toISOString().slice(0, 19)}.${micros}+00:00`;
};
const exact = (value: unknown) => {
  if (typeof value !== 'bigint') return value ?? null;
  return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
};

/** The export lines that a row of the objects corresponds to. */
function linesOfObject(row: Row): Row[] {
  const diaObjectId = `${row.diaObjectId}`;
  const isPending = row.status === 'crossmatch_pending';
  const object = {
    type: 'object',
    diaObjectId,
    ra: exact(row.ra),
    dec: exact(row.dec),
    reliability: exact(row.reliability),
    ...(row.position_error_mas !== null && { position_error_mas: row.position_error_mas }),
    ingest_time: timeText(row.ingest_time),
    event_time: timeText(row.event_time),
    state: isPending ? 'pending' : 'crossmatched',
    brokers: (row.brokers as string).split(' '),
  };
  const older = row.older_crossmatches ? JSON.parse(row.older_crossmatches as string) : [];
  const records = older.map(({ crossmatched_at_us, ...record }: Row) => ({
    type: 'crossmatch_record',
    diaObjectId,
    ...record,
    crossmatched_at: timeText(BigInt(crossmatched_at_us as number)),
  }));
  if (exact(row.match_version) !== null) {
    records.push({
      type: 'crossmatch_record',
      diaObjectId,
      match_version: row.match_version,
      crossmatched_at: timeText(row.crossmatched_at),
      brokers_at_crossmatch: (row.brokers_at_crossmatch as string).split(' '),
      catalog_outcomes: JSON.parse(row.catalog_outcomes as string),
      provenance: JSON.parse(row.provenance as string),
    });
  }
  if (exact(row.tns_checked) === null) return [object, ...records];
  const association = {
    type: 'tns_association',
    diaObjectId,
    checked: row.tns_checked,
    snapshot_epoch: timeText(row.tns_snapshot_epoch),
    objid: exact(row.tns_objid),
    name: exact(row.tns_name),
    name_prefix: exact(row.tns_name_prefix),
    classification: exact(row.tns_classification),
    redshift: exact(row.tns_redshift),
    separation_arcsec: exact(row.tns_separation_arcsec),
  };
  return [object, ...records, association];
}

function lineOfMatch(row: Row): Row {
  const catalog = row.catalog_name as string;
  const keys = Object.keys(row).filter(key => key.startsWith(`${catalog}_`));
  const text = row.catalog_payload as string | null;
  return {
    type: 'match',
    diaObjectId: `${row.diaObjectId}`,
    match_version: row.match_version,
    catalog_name: catalog,
    catalog_source_id: `${row.catalog_source_id ?? row.catalog_source_name}`,
    separation_arcsec: row.separation_arcsec,
    ...(row.separation_at_epoch_arcsec !== null && { separation_at_epoch_arcsec: row.separation_at_epoch_arcsec }),
    ...(row.statistics_version !== null && {
      statistics: {
        version: row.statistics_version,
        source_density: row.source_density,
        sources_within_radius: row.sources_within_radius,
        second_separation_arcsec: row.second_separation_arcsec,
        normalized_separation: row.normalized_separation,
        match_probability: row.match_probability,
        any_match_probability: row.any_match_probability,
      },
    }),
    ra: exact(row.source_ra),
    dec: exact(row.source_dec),
    catalog_payload: text
      ? parsedLine(text)
      : Object.fromEntries(keys.map(key => [key.slice(catalog.length + 1), exact(row[key])])),
  };
}

/** Whether the line's match is of the newest crossmatch of its object, which is not pending, and the nearest of its catalog. */
function isCurrent(store: Store, { diaObjectId, match_version, catalog_name, catalog_source_id }: Row): boolean {
  const object = store.getObject(BigInt(diaObjectId as string))!;
  const match = object.matches.find(
    each =>
      each.matchVersion === match_version &&
      each.catalogName === catalog_name &&
      each.catalogSourceId === catalog_source_id,
  )!;
  return object.state === 'crossmatched' && isListed(object, match);
}

const key = (line: Row) => `${line.diaObjectId} ${line.type} ${line.match_version ?? ''} ${line.catalog_name ?? ''}`;
const sorted = (lines: Row[]) => [...lines].sort((a, b) => (key(a) < key(b) ? -1 : 1));

const linesOf = async (data: string) => (await exportLines(data)).map(line => withProbabilities(parsedLine(line)));

/** The line of a match with the values that follow from its statistics, in place of those that the rows do not have. */
function withProbabilities(line: Row): Row {
  const { statistics } = line as { statistics?: Row };
  if (!statistics) return line;
  const { combined_error_mas, ln_weight_ratio, prior_completeness, ...others } = statistics;
  const likelihood = {
    combinedErrorMas: combined_error_mas,
    lnWeightRatio: ln_weight_ratio,
    priorCompleteness: prior_completeness,
  };
  const { normalized_separation, match_probability, any_match_probability } = worth({
    separationArcsec: line.separation_arcsec,
    separationAtEpochArcsec: line.separation_at_epoch_arcsec,
    statistics: {
      sourceDensity: statistics.source_density,
      ...(combined_error_mas !== undefined && { likelihood }),
    },
  } as unknown as MatchSummary);
  return { ...line, statistics: { ...others, normalized_separation, match_probability, any_match_probability } };
}

const optionsOf = (store: Store, dataDir: string, target: string) => ({
  dataDir,
  store,
  target,
  builder: 'nearsky test',
  threads: 2,
  maxRows: 150,
  onProgress: () => {},
});

test('the rows are the lines of an export, value by value; each in its partition, in order, and in the margins beside it', () =>
  withStore(async (store, writer, data) => {
    await fillSky(writer, 1200);
    const target = join(data, 'archive');
    const counts = await exportHats(optionsOf(store, data, target));
    const objects = await readRows(target, 'objects/objects/dataset/Norder=*/**/*.parquet');
    const matches = await readRows(target, 'matches/matches/dataset/Norder=*/**/*.parquet');
    const aside = await readRows(target, '*_without_position.parquet');
    const isMatch = ({ catalog_name }: Row) => catalog_name !== undefined;
    const ours = [
      ...[...objects, ...aside.filter(row => !isMatch(row))].flatMap(linesOfObject),
      ...[...matches, ...aside.filter(isMatch)].map(lineOfMatch),
    ];
    const all = await linesOf(data);
    const lines = all.filter(line => line.type !== 'match' || isCurrent(store, line));
    assert.ok(lines.length < all.length, 'some matches are history');
    assert.is(ours.length, lines.length);
    assert.equal(sorted(ours), sorted(lines));
    const releases = new Map(
      lines.flatMap(({ type, diaObjectId, match_version, provenance }) =>
        type === 'crossmatch_record'
          ? (provenance as ProvenanceSet).catalogs.map(
              ({ name, release }) => [`${diaObjectId} ${match_version} ${name}`, release] as const,
            )
          : [],
      ),
    );
    for (const row of [...matches, ...aside.filter(isMatch)])
      assert.is(
        row.catalog_release,
        releases.get(`${row.diaObjectId} ${row.match_version} ${row.catalog_name}`) ?? null,
      );
    assert.ok(new Set(matches.map(row => row.catalog_release)).size > 1);
    assert.is(counts.objects, 1200);
    assert.is(counts.matches, lines.filter(({ type }) => type === 'match').length);
    assert.is(counts.withoutPosition, aside.filter(row => !isMatch(row)).length);
    assert.ok(counts.withoutPosition > 10 && aside.some(isMatch));
    assert.ok(aside.every(row => row._healpix_29 === -1n));
    assert.is(counts.sequence, store.lastSequence());
    for (const rows of [objects, matches]) {
      const paths = new Set(rows.map(({ path }) => path));
      assert.ok(paths.size > 10);
      for (const path of paths) {
        const [, order, ipix] = /Norder=(\d+).*Npix=(\d+)/.exec(path)!.map(Number) as [number, number, number];
        const inside = rows.filter(row => row.path === path);
        const pixels = inside.map(row => row._healpix_29 as bigint);
        assert.equal(
          pixels,
          [...pixels].sort((a, b) => (a < b ? -1 : 1)),
        );
        for (const { ra, dec, _healpix_29 } of inside as unknown as {
          ra: number;
          dec: number;
          _healpix_29: bigint;
        }[]) {
          assert.is(pixelOf(order, ra, dec), ipix);
          assert.is(_healpix_29, pixel29(ra, dec));
        }
      }
    }
    // Each object of a pair across an edge is in the other's margin.
    const margin = await readRows(target, 'objects/objects_10arcs/dataset/Norder=*/**/*.parquet');
    const inMargin = new Set(margin.map(({ path, diaObjectId }) => `${partition(path)} ${diaObjectId}`));
    let pairs = 0;
    for (const a of objects as (Row & { ra: number; dec: number; path: string })[]) {
      for (const b of objects as (Row & { ra: number; dec: number; path: string })[]) {
        if (a.path === b.path || Math.abs(a.dec - b.dec) > 10 / 3600) continue;
        if (separationArcsec(a.ra, a.dec, b.ra, b.dec) > 10) continue;
        assert.ok(inMargin.has(`${partition(b.path)} ${a.diaObjectId}`));
        pairs++;
      }
    }
    assert.ok(pairs > 10, `${pairs} pairs`);
  }));

const partition = (path: string) => /Norder=.*/.exec(path)![0];

needs(test, whyNoPython('pandas, pyarrow'))('pandas keeps the digits of integers in columns with nulls', () =>
  withStore(async (store, writer, data) => {
    await fillSky(writer, 200);
    const target = join(data, 'archive');
    await exportHats(optionsOf(store, data, target));
    const files = 'matches/matches/dataset/Norder=*/**/*.parquet';
    const ids = (await readRows(target, files)).map(row => row.catalog_source_id);
    assert.ok(ids.includes(null) && ids.some(id => id !== null));
    const program = `
import glob, sys, pandas
frames = [pandas.read_parquet(path) for path in glob.glob(sys.argv[1], recursive=True)]
print(*{str(frame.catalog_source_id.dtype) for frame in frames})
print(*sorted(int(id) for frame in frames for id in frame.catalog_source_id.dropna()))
`;
    const python = pythonWith('pandas, pyarrow')!;
    const printed = await runPython(python, ['-c', program, join(target, files)]);
    const digits = ids.filter(id => id !== null).map(id => `${id}`);
    assert.equal(printed.trim().split('\n'), ['Int64', digits.sort().join(' ')]);
  }),
);

test('our own reader opens it; properties, list, schema and map are there', () =>
  withStore(async (store, writer, data) => {
    await fillSky(writer, 800);
    const target = join(data, 'archive');
    await exportHats(optionsOf(store, data, target));
    for (const name of ['objects', 'matches']) {
      const table = await openHats(join(target, name));
      assert.is(table.type, 'object');
      assert.is(table.properties.get('nearsky_journal_entry'), `${store.lastSequence()}`);
      assert.ok(table.partitions.length > 3);
      const files = readdirSync(join(target, name, name)).sort();
      assert.equal(files, ['dataset', 'hats.properties', 'partition_info.csv', 'point_map.fits', 'properties']);
      assert.ok(existsSync(join(target, name, name, 'dataset/_common_metadata')));
    }
  }));

test('--since takes what changed; a directory that is there is not touched; the command says what it wrote', () =>
  withStore(async (store, writer, data) => {
    await fillSky(writer, 400);
    const first = await nearsky('export', '--data', data, '--format', 'hats', join(data, 'first'));
    assert.is(first.sequence, store.lastSequence());
    const changed = [...store.objects()].filter((_, i) => i % 50 === 7 && i % 97 !== 5);
    await writer.ingest(
      changed.map(({ diaObjectId, position, reliability, eventTimeUs }) => {
        return { diaObjectId, position, reliability, eventTimeUs, broker: 'pittgoogle' as const };
      }),
      1,
    );
    const since = await nearsky(
      ...['export', '--data', data, '--format', 'hats', '--since', `${first.sequence}`, join(data, 'next')],
    );
    const rows = await readRows(join(data, 'next'), 'objects/objects/dataset/Norder=*/**/*.parquet');
    const isNew = ({ brokers }: StoredObject) => !brokers.includes('pittgoogle');
    assert.equal(
      rows.map(({ diaObjectId }) => diaObjectId as bigint).sort(),
      changed
        .filter(object => isNew(object) && object.position)
        .map(({ diaObjectId }) => diaObjectId)
        .sort(),
    );
    assert.is(since.sequence, store.lastSequence());
    assert.equal([since.removed, since.removedFile], [0, null]);
    const [gone, restored] = rows.map(({ diaObjectId }) => diaObjectId as bigint);
    await writer.remove([gone!, restored!], 'wrong');
    await writer.ingest([delivery(restored!)], 2);
    const last = ['--since', `${first.sequence}`, join(data, 'last')];
    const after = await nearsky('export', '--data', data, '--format', 'hats', ...last);
    assert.equal([after.objects, after.removed], [Number(since.objects) - 1, 1]);
    assert.is(readFileSync(join(data, 'last', 'removed_objects.csv'), 'utf8'), `diaObjectId\n${gone}\n`);
    const error = await failure(() => exportHats(optionsOf(store, data, join(data, 'first'))));
    assert.match(error.message, 'because it exists: choose another directory');
    const { code, stderr } = await start(['export', '--data', data, '--since', '1', join(data, 'x')]).finished;
    assert.is(code, 2);
    assert.match(stderr, '--since needs --format hats');
    const newest = store.lastSequence();
    const late = ['--format', 'hats', '--since', `${newest + 1}`, join(data, 'x')];
    const lost = await start(['export', '--data', data, ...late]).finished;
    assert.is(lost.code, 2);
    assert.match(
      lost.stderr,
      `--since must be from 0 to ${newest} (got ${newest + 1}): the newest journal entry is ${newest}`,
    );
    assert.not.ok(readdirSync(data).some(name => name.endsWith('.part')));
  }));

const MODULES = 'lsdb, hats, duckdb, polars';
const python = pythonWith(MODULES);
needs(test, whyNoPython(MODULES))(
  'hats finds it valid; LSDB, DuckDB and Polars read it, by the script of the tutorial',
  () =>
    withStore(async (store, writer, data) => {
      await fillSky(writer, 1000);
      const target = join(data, 'archive');
      await exportHats(optionsOf(store, data, target));
      const objects = [...store.objects()].filter(({ position }) => position);
      const others = objects
        .filter((_, i) => i % 5 === 0)
        .map(({ position }, i) => ({ id: 2n ** 62n + BigInt(i), ra: position!.ra, dec: position!.dec + 0.4 / 3600 }));
      const catalog = join(data, 'other');
      await withStore(async (other, otherWriter, otherData) => {
        await otherWriter.ingest(
          others.map(({ id, ...position }) => delivery(id, { position })),
          1,
        );
        await exportHats(optionsOf(other, otherData, catalog));
      });
      const [ra, dec] = [45, 41.81];
      const args = [
        join(root, 'docs/open_the_archive.py'),
        target,
        `${ra}`,
        `${dec}`,
        `${catalog}/objects`,
        'diaObjectId',
      ];
      const out = await runPython(python!, args, { timeout: 600_000 });
      const results = JSON.parse(out.trim().split('\n').at(-1)!);
      const within = objects.filter(({ position }) => separationArcsec(position!.ra, position!.dec, ra, dec) <= 3600);
      const texts = (ids: readonly bigint[]) => ids.map(String).sort();
      assert.equal(results.cone.sort(), texts(within.map(({ diaObjectId }) => diaObjectId)));
      assert.ok(within.length > 50);
      assert.equal(results.ids.sort(), texts(objects.map(({ diaObjectId }) => diaObjectId)));
      const nearest = objects.flatMap(({ diaObjectId, position }) => {
        const found = others
          .map(({ ra, dec }, i) => [separationArcsec(position!.ra, position!.dec, ra, dec), i] as const)
          .filter(([separation]) => separation <= 1)
          .sort(([a], [b]) => a - b)[0];
        return found ? [`${diaObjectId} ${2n ** 62n + BigInt(found[1])}`] : [];
      });
      assert.equal(results.pairs.map((pair: string[]) => pair.join(' ')).sort(), nearest.sort());
      assert.ok(nearest.length >= others.length);
      const matched = objects.flatMap(({ matches }) => matches);
      for (const [name, count] of Object.entries(results.matches))
        assert.is(matched.filter(({ catalogName }) => catalogName === name).length, count);
      const stars = objects.flatMap(({ diaObjectId, matches }) =>
        matches
          .filter(({ catalogName, separationArcsec }) => catalogName === 'gaia_dr3' && separationArcsec < 0.5)
          .map(({ catalogSourceId }) => `${diaObjectId} ${catalogSourceId}`),
      );
      assert.equal(results.stars.map((pair: string[]) => pair.join(' ')).sort(), stars.sort());
      assert.is(await runPython(python!, ['-c', VALID, target]), 'True\n'.repeat(4));
    }),
);

/** Whether the collections and their catalogs are valid, with every optional file; and whether the map counts every row. */
const VALID = `
import sys
from hats import read_hats
from hats.io.skymap import read_skymap
from hats.io.validation import is_valid_catalog
for name in ("objects", "matches"):
    print(is_valid_catalog(f"{sys.argv[1]}/{name}", strict=True))
    catalog = read_hats(f"{sys.argv[1]}/{name}/{name}")
    print(bool(read_skymap(catalog, None).sum() == catalog.catalog_info.total_rows))
`;

test.run();
