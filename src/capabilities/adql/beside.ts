/**
 * Keeps the tables beside those of objects in a database of their own, which editions share. Their rows are read from
 * the archive again after the registry or a catalog has changed, and appended for each new entry of the journal.
 */
import { rmSync } from 'node:fs';
import { setImmediate as otherWork } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { ENGINE_TYPES, failing, quoted, tableName, textLiteral } from '@nearsky/adql';
import { pixel29 } from '@nearsky/sky-index';
import { catalogDefinition, registeredRelease } from '../../core/contract/catalogs.ts';
import type { CatalogRegistration } from '../../core/store/catalog_registration.ts';
import { ObjectView } from '../../core/store/object_record.ts';
import { RegisteredCatalogs } from '../../core/store/registered_catalogs.ts';
import { isSame, type RegistrySnapshot, readRegistry, readRegistrySnapshot } from '../../core/store/registry.ts';
import { removalsAfter } from '../../core/store/removals.ts';
import type { Store } from '../../core/store/store.ts';
import type { TnsRecord } from '../../core/store/types.ts';
import { skyFraction } from '../catalogs/coverage.ts';
import { appendRows } from './append_rows.ts';
import { BESIDE, type BesideName } from './beside_tables.ts';
import type { ListedTable } from './listed_table.ts';

const DATABASE = 'beside';
export const BESIDE_FILE = `${DATABASE}.duckdb`;
/** Rows that are read from the archive at once. The process answers no query meanwhile. */
const ROWS_AT_ONCE = 1000;
/** Square degrees. */
const SKY = 4 * Math.PI * (180 / Math.PI) ** 2;

type Row = readonly (string | number | bigint | null)[];

export class Beside {
  readonly #store: Store;
  readonly #connection: DuckDBConnection;
  readonly #catalogs = new RegisteredCatalogs(registrations => registrations.map(catalogRow));
  #catalogRows: readonly Row[] | undefined;
  #registry: RegistrySnapshot | null | undefined;
  /** The last entry of the journal that has a row, and the journal's mark there. */
  #last = 0;
  /** Whether the tables have all rows of some state. */
  #isFilled = false;

  private constructor(store: Store, connection: DuckDBConnection) {
    this.#store = store;
    this.#connection = connection;
  }

  /**
   * Opens the tables, or makes them anew if they are damaged or of another archive.
   * @param connection a connection that nothing else uses
   */
  static async open(store: Store, connection: DuckDBConnection, path: string): Promise<Beside> {
    const beside = new Beside(store, connection);
    try {
      await beside.#attach(path);
      if (await beside.#isOurs()) return beside;
      await connection.run(`DETACH ${DATABASE}`);
    } catch (error) {
      if (/set lock/i.test(`${error}`)) throw error;
      await connection.run(`DETACH DATABASE IF EXISTS ${DATABASE}`);
    }
    for (const file of [path, `${path}.wal`]) rmSync(file, { force: true });
    await beside.#attach(path);
    return beside;
  }

  async #attach(path: string): Promise<void> {
    await this.#connection.run(`ATTACH ${textLiteral(path)} AS ${DATABASE} (STORAGE_VERSION 'latest')`);
    for (const { name, columns } of BESIDE) {
      const list = columns.map(({ name, type }) => `${quoted(name)} ${ENGINE_TYPES[type]}`);
      await this.#connection.run(`CREATE TABLE IF NOT EXISTS ${relationOf(name)} (${list.join(', ')})`);
    }
    await this.#connection.run(
      `CREATE TABLE IF NOT EXISTS ${DATABASE}.stored (columns VARCHAR, entry BIGINT, mark VARCHAR)`,
    );
  }

  /** Whether the tables have the columns of this release, and the rows of this database's journal. */
  async #isOurs(): Promise<boolean> {
    const reader = await this.#connection.runAndReadAll(`FROM ${DATABASE}.stored`);
    const [row] = reader.getRows();
    if (!row) return false;
    const [columns, entry, mark] = [`${row[0]}`, Number(row[1]), `${row[2]}`];
    if (columns !== COLUMNS || this.#store.journalMark(entry) !== mark) return false;
    this.#last = entry;
    this.#isFilled = true;
    return true;
  }

  /**
   * The tables for a query.
   * @param entry the last entry of the journal that the query may see
   */
  tables(entry: number): ListedTable[] {
    return BESIDE.map(table => {
      const relation = relationOf(table.name);
      if (!this.#isFilled) {
        const why = `${tableName(table)} is not made yet, or cannot be made: the log of the service says why`;
        // The reason is a row, because a condition of an empty table is not evaluated.
        const row = `(SELECT ${failing(why)} AS why) AS w LEFT JOIN ${relation} AS t ON TRUE WHERE why IS NOT NULL`;
        return { ...table, relation: `(SELECT t.*, 0 AS rowid FROM ${row})` };
      }
      if (table.name !== 'journal') return { ...table, relation };
      // Translated queries number the rows of a table by `rowid`.
      return { ...table, relation: `(SELECT *, rowid FROM ${relation} WHERE entry <= ${entry})` };
    });
  }

  /** Brings the tables to the archive's present state. */
  async follow(): Promise<void> {
    const [store, connection] = [this.#store, this.#connection];
    store.resetRead();
    const rows = this.#catalogs.of(store);
    if (rows !== this.#catalogRows) {
      await this.#replace('catalogs', [rows]);
      this.#catalogRows = rows;
    }
    const snapshot = readRegistrySnapshot(store.databases) ?? null;
    if (this.#registry === undefined || !isSame(snapshot ?? undefined, this.#registry))
      await this.#readRegistry(snapshot);
    for (let last = this.#last; ; ) {
      store.resetRead();
      const entries = journalRows(store, last, ROWS_AT_ONCE);
      if (entries.length === 0) break;
      await this.#append('journal', entries);
      last = Number(entries.at(-1)![0]);
      const cells = [textLiteral(COLUMNS), last, textLiteral(store.markOf(last))].join(', ');
      await connection.run('BEGIN');
      await connection.run(`INSERT INTO ${relationOf('journal')} FROM temp.main.journal`);
      await connection.run(`DELETE FROM ${DATABASE}.stored`);
      await connection.run(`INSERT INTO ${DATABASE}.stored VALUES (${cells})`);
      await connection.run('COMMIT');
      await connection.run('DROP TABLE temp.main.journal');
      this.#last = last;
      await otherWork();
    }
    this.#isFilled = true;
  }

  /** Reads the registry in pieces, and again from its start if it changes meanwhile. */
  async #readRegistry(of: RegistrySnapshot | null): Promise<void> {
    const store = this.#store;
    let snapshot = of;
    const pieces = async function* (): AsyncGenerator<readonly Row[]> {
      for (let first = 0; snapshot; ) {
        store.resetRead();
        if (!isSame(readRegistrySnapshot(store.databases), snapshot)) throw new Changed();
        const records: TnsRecord[] = [];
        for (const record of readRegistry(store.databases, undefined, first))
          if (records.push(record) === ROWS_AT_ONCE) break;
        if (records.length === 0) return;
        const epochUs = BigInt(snapshot.epochUs);
        yield records.map(record => registryRow(record, epochUs));
        first = records.at(-1)!.objid + 1;
      }
    };
    for (;;) {
      try {
        await this.#replace('registry', pieces(), ` ORDER BY healpix_29, objid`);
        this.#registry = snapshot;
        return;
      } catch (error) {
        if (!(error instanceof Changed)) throw error;
        store.resetRead();
        snapshot = readRegistrySnapshot(store.databases) ?? null;
      }
    }
  }

  async #replace(
    name: BesideName,
    pieces: Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>,
    order = '',
  ): Promise<void> {
    const connection = this.#connection;
    await this.#append(name, []);
    for await (const rows of pieces) {
      await this.#append(name, rows, false);
      await otherWork();
    }
    await connection.run(`CREATE OR REPLACE TABLE ${relationOf(name)} AS FROM temp.main.${name}${order}`);
    await connection.run(`DROP TABLE temp.main.${name}`);
  }

  /** Appends rows to a temporary table. @param isNew whether it is made before */
  async #append(name: BesideName, rows: readonly Row[], isNew = true): Promise<void> {
    const { columns } = BESIDE.find(table => table.name === name)!;
    if (isNew) await this.#connection.run(`CREATE OR REPLACE TEMP TABLE ${name} AS FROM ${relationOf(name)} LIMIT 0`);
    if (rows.length === 0) return;
    const filled = columns.map(({ type }, i) => ({ type, values: rows.map(row => row[i]!) }));
    await appendRows(this.#connection, name, filled, rows.length);
  }
}

/** The registry was replaced while it was read. */
class Changed extends Error {}

const COLUMNS = JSON.stringify(
  BESIDE.map(({ name, columns }) => [name, columns.map(({ name, type }) => [name, type])]),
);

const relationOf = (name: BesideName) => `${DATABASE}.main.${name}`;

function registryRow(record: TnsRecord, epochUs: bigint): Row {
  const { objid, name, namePrefix, ra, dec, classification, redshift, createdUs } = record;
  const created = createdUs === undefined ? null : BigInt(createdUs);
  const pixel = pixel29(ra, dec);
  return [pixel, BigInt(objid), ra, dec, name, namePrefix, classification, redshift, created, epochUs];
}

function catalogRow(registration: CatalogRegistration): Row {
  const { name, hats, counted, partitions, coverage, addedAtUs, definition } = registration;
  const rows = counted?.rows ?? hats.rows;
  const { epoch } = catalogDefinition(name) ?? definition!;
  return [
    name,
    registeredRelease(registration),
    rows === null ? null : BigInt(rows),
    partitions.length,
    epoch?.value ?? null,
    coverage.order,
    SKY * skyFraction(coverage),
    BigInt(addedAtUs),
  ];
}

/** The rows of the journal's entries after one of them, at most `limit`. */
function journalRows(store: Store, after: number, limit: number): Row[] {
  const removedAtUs = new Map(
    Array.from(removalsAfter(store.databases, after), ({ sequence, timeUs }) => [sequence, timeUs]),
  );
  const crossmatches = store.crossmatchesAfter(after, limit)[Symbol.iterator]();
  const view = new ObjectView();
  const rows: Row[] = [];
  for (const { sequence, stored, delivered, crossmatched, removed, source } of store.deliveriesAfter(after, limit)) {
    const { ids, versions } = crossmatches.next().value!;
    const timeUs =
      source?.timeUs ?? removedAtUs.get(sequence) ?? (versions && crossmatchedAtUs(store, view, ids[0], versions[0]));
    const counts = [stored, delivered, crossmatched, removed].map(each => each.length);
    rows.push([BigInt(sequence), timeUs === undefined ? null : BigInt(timeUs), ...counts]);
  }
  return rows;
}

/** When a version of an object's crossmatch was recorded; undefined if the object is not stored any more. */
function crossmatchedAtUs(store: Store, view: ObjectView, id: bigint | undefined, version: number | undefined) {
  if (id === undefined || !store.readObject(id, view)) return undefined;
  if (view.record?.matchVersion === version) return view.crossmatchedAtUs;
  return view.decode().records.find(({ matchVersion }) => matchVersion === version)?.crossmatchedAtUs;
}
