/** PostgreSQL with q3c and pgsphere in its own directory, which answers the queries of the oracle. */
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DescribedTable } from '@nearsky/adql';
import type { Cell, Column } from '@nearsky/astrotables';

const ROOT = '/usr/lib/postgresql';
const controlOf = (version: string, extension: string) =>
  `/usr/share/postgresql/${version}/extension/${extension}.control`;
const isComplete = (version: string) =>
  existsSync(join(ROOT, version, 'bin/initdb')) &&
  ['q3c', 'pg_sphere'].every(name => existsSync(controlOf(version, name)));

/** The newest version with both extensions; undefined if there is none. */
function version(): string | undefined {
  const versions = existsSync(ROOT) ? readdirSync(ROOT) : [];
  return versions.sort((a, b) => Number(b) - Number(a)).find(isComplete);
}

/** Why it is unavailable; undefined if it is available. */
export function whyNoPostgres(): string | undefined {
  if (version()) return undefined;
  return 'there is no PostgreSQL with q3c and pgsphere: apt-get install postgresql-15-q3c postgresql-15-pgsphere';
}

const TYPES: Readonly<Record<Column['type'], string>> = {
  int64: 'bigint',
  int32: 'integer',
  float64: 'float8',
  float32: 'real',
  boolean: 'boolean',
  text: 'text',
  time: 'timestamp',
};

/** A value of a table as PostgreSQL's text of it. */
function cellText({ type }: Column, cell: Cell): string {
  if (cell === null) return 'NULL';
  if (type === 'time') return `timestamp '1970-01-01' + interval '${cell} microseconds'`;
  return type === 'text' ? `'${`${cell}`.replaceAll("'", "''")}'` : `${cell}`;
}

/**
 * pgsphere's own script without COMMUTATOR and NEGATOR, which only affect plans. Some operators have two, which
 * PostgreSQL 15.20 refuses.
 */
function pgsphere(): string {
  const control = controlOf(version()!, 'pg_sphere');
  const own = /default_version = '(.*)'/.exec(readFileSync(control, 'utf8'))![1];
  return readFileSync(control.replace('.control', `--${own}.sql`), 'utf8')
    .replace(/^\\echo.*$/m, '')
    .replaceAll('MODULE_PATHNAME', '$libdir/pg_sphere')
    .replaceAll(/^\s*(?:COMMUTATOR|NEGATOR)\s*=.*$/gm, '');
}

export class Postgres {
  /** Where its socket is, which every user of the machine may use. */
  readonly folder: string;
  /** The server refuses to run as root. */
  readonly as: SpawnOptions;

  private constructor(folder: string, as: SpawnOptions) {
    this.folder = folder;
    this.as = as;
  }

  /** @param settings further ones of the server */
  static async start(
    tables: readonly DescribedTable[],
    rows: readonly (readonly Cell[][])[],
    settings = '',
  ): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'nearsky-postgres-'));
    const id = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
    const as = process.getuid!() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
    if (as.uid !== undefined) chownSync(folder, as.uid, as.gid);
    const postgres = new Postgres(folder, { ...as, cwd: folder });
    await postgres.#run('initdb', [
      '-D',
      'data',
      '--no-sync',
      '-A',
      'trust',
      '-U',
      'oracle',
      '--locale=C.UTF-8',
      '-E',
      'UTF8',
    ]);
    const all = `-c listen_addresses= -c unix_socket_directories=${folder} -c fsync=off -c TimeZone=UTC ${settings}`;
    await postgres.#run('pg_ctl', ['-D', 'data', '-w', '-l', 'log', '-o', all, 'start']);
    const sql = tables.flatMap(({ schema, name, columns }, i) => {
      const list = columns.map(column => `${column.name} ${TYPES[column.type]}`).join(', ');
      const values = rows[i]!.map(row => `(${row.map((cell, j) => cellText(columns[j]!, cell)).join(', ')})`);
      return [`CREATE TABLE ${schema}.${name} (${list})`, `INSERT INTO ${schema}.${name} VALUES ${values.join(', ')}`];
    });
    const setup = ['CREATE EXTENSION q3c', pgsphere(), 'CREATE SCHEMA nearsky', ...sql, 'ANALYZE'];
    await postgres.run(setup);
    return postgres;
  }

  async run(statements: readonly string[]): Promise<void> {
    await this.#psql(`\\set ON_ERROR_STOP on\n${statements.join(';\n')};\n`);
  }

  /** The median time of a query that one connection repeats this many times after the first run, ms. */
  async milliseconds(query: string, again = 1): Promise<number> {
    const printed = await this.#psql(`\\timing on\n\\o /dev/null\n${`${query};\n`.repeat(1 + again)}`);
    const times = Array.from(printed.matchAll(/Time: ([\d.]+) ms/g), ([, ms]) => Number(ms)).slice(1);
    return times.sort((a, b) => a - b)[times.length >> 1]!;
  }

  /** The rows of each query as strings; undefined if the query fails. */
  async rows(queries: readonly string[]): Promise<(readonly (string | null)[][] | undefined)[]> {
    const each = queries.map((query, i) => `\\echo #${i}\nCOPY (${query}) TO STDOUT (HEADER);\n`);
    const printed = await this.#psql(`SET statement_timeout = '20s';\n${each.join('')}`);
    const answers: (readonly (string | null)[][] | undefined)[] = [];
    let rows: (string | null)[][] | undefined;
    for (const line of printed.split('\n').slice(0, -1)) {
      if (line === `#${answers.length}`) {
        answers.push(undefined);
        rows = undefined;
      } else if (rows) rows.push(line.split('\t').map(cellOf));
      else if (answers.length > 0) answers[answers.length - 1] = rows = [];
    }
    return answers;
  }

  #psql(script: string): Promise<string> {
    const file = join(this.folder, 'script.sql');
    writeFileSync(file, script);
    return this.#run('psql', ['-h', this.folder, '-U', 'oracle', '-d', 'postgres', '-qAtX', '-f', file]);
  }

  async #run(program: string, args: readonly string[]): Promise<string> {
    // A started server keeps the file descriptors that it was given, and would keep a pipe open.
    const isServer = program === 'pg_ctl';
    const stdio = isServer ? ('ignore' as const) : (['ignore', 'pipe', 'ignore'] as const);
    const child = spawn(join(ROOT, version()!, 'bin', program), args, {
      ...this.as,
      stdio: stdio as SpawnOptions['stdio'],
    });
    const out: Buffer[] = [];
    child.stdout?.on('data', chunk => out.push(chunk));
    const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
    if (status !== 0) throw new Error(`${program} ended with ${status}`);
    return Buffer.concat(out).toString();
  }

  async close(): Promise<void> {
    await this.#run('pg_ctl', ['-D', 'data', '-w', '-m', 'immediate', 'stop']);
    rmSync(this.folder, { recursive: true });
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' };

/** A value of COPY's text format. */
function cellOf(text: string): string | null {
  return text === '\\N' ? null : text.replaceAll(/\\(.)/g, (_, sign) => ESCAPES[sign] ?? sign);
}
