/**
 * DaCHS over the oracle's PostgreSQL, with its own tables (Debian package gavodachs2-server, which need not be set up:
 * `apt-get install --no-install-recommends gavodachs2-server`). `DACHS` names its command if that is not on the PATH.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DescribedTable } from '@nearsky/adql';
import type { ColumnType } from '@nearsky/astrotables';
import { request } from 'undici';
import type { Postgres } from './postgres.ts';

const COMMAND = process.env.DACHS ?? 'dachs';
const START_MS = 60_000;

/** The settings that PostgreSQL needs in addition, so that pgsphere counts as an extension. */
export const DACHS_SETTINGS = '-c allow_system_table_mods=on';

const TYPES: Readonly<Record<ColumnType, string>> = {
  int64: 'bigint',
  int32: 'integer',
  float64: 'double precision',
  float32: 'real',
  boolean: 'boolean',
  text: 'text',
  time: 'timestamp',
};

/** Why DaCHS is unavailable; undefined if it is available. */
export function whyNoDachs(): string | undefined {
  const { error } = spawnSync(COMMAND, ['--version'], { stdio: 'ignore' });
  return error && `there is no ${COMMAND}: apt-get install --no-install-recommends gavodachs2-server`;
}

export class Dachs {
  /** Its TAP service. */
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
  }

  /**
   * Has DaCHS make and publish the tables, all of one schema, as its handbook has it for those with positions: indexed by q3c.
   * @param fill puts the rows there
   */
  static async start(postgres: Postgres, tables: readonly DescribedTable[], fill: () => Promise<void>): Promise<Dachs> {
    const [folder, port] = [join(postgres.folder, 'dachs'), await freePort()];
    const nameOf = (which: '-un' | '-gn') =>
      spawnSync('id', [which, `${postgres.as.uid ?? process.getuid!()}`], { encoding: 'utf8' }).stdout.trim();
    const [user, group] = [nameOf('-un'), nameOf('-gn')];
    const schema = tables[0]!.schema;
    const settings = `[general]\nrootDir: ${folder}/var\ngroup: ${group}\ngavoGroup: ${group}
[web]\nserverURL: http://localhost:${port}\nbindAddress: 127.0.0.1\nserverPort: ${port}\nuser: ${user}
maxUploadSize: 100000000\nmaxSyncUploadSize: 100000000
[async]\ndefaultMAXREC: 1000000\n`;
    const resource = `<resource schema="${schema}" resdir="${schema}">
<meta name="title">Tables</meta><meta name="creationDate">2026-01-01T00:00:00Z</meta>
<meta name="description">Tables of a comparison</meta><meta name="subject">catalogs</meta>
${tables.map(resourceTable).join('\n')}
<data id="create">${tables.map(({ name }) => `<make table="${name}"/>`).join('')}</data>
</resource>`;
    const inputs = join(folder, 'var/inputs', schema);
    mkdirSync(inputs, { recursive: true });
    writeFileSync(join(folder, 'gavo.rc'), settings);
    writeFileSync(join(inputs, 'q.rd'), resource);
    if (postgres.as.uid !== undefined)
      for (const path of [folder, ...['var', 'var/inputs', `var/inputs/${schema}`].map(name => join(folder, name))])
        chownSync(path, postgres.as.uid, postgres.as.gid!);
    const log = join(folder, 'log');
    const dachs = (...args: string[]) =>
      spawn('sh', ['-c', 'exec "$@" >>"$LOG" 2>&1', 'sh', COMMAND, ...args], {
        ...postgres.as,
        env: { ...process.env, HOME: folder, GAVOSETTINGS: join(folder, 'gavo.rc'), LOG: log },
        stdio: 'ignore',
      });
    const toEnd = async (...args: string[]) => {
      const child = dachs(...args);
      const code = await new Promise(resolve => child.on('close', resolve));
      if (code !== 0) throw new Error(`dachs ${args.join(' ')} ended with ${code}: ${readFileSync(log, 'utf8')}`);
    };
    await postgres.run([
      `DROP SCHEMA IF EXISTS ${schema}`,
      `INSERT INTO pg_extension SELECT max(oid::bigint) + 1, 'pg_sphere', 10, 2200, true, '1', NULL, NULL FROM pg_extension`,
    ]);
    await toEnd('init', '-d', `host=${postgres.folder} port=5432 dbname=postgres user=oracle`);
    await toEnd('imp', `${schema}/q`);
    await fill();
    const service = new Dachs(`http://localhost:${port}/tap`, dachs('serve', 'debug'));
    for (const began = performance.now(); ; await sleep(500)) {
      const answer = await request(`${service.url}/capabilities`).catch(() => undefined);
      await answer?.body.dump();
      if (answer?.statusCode === 200) return service;
      if (performance.now() - began > START_MS) throw new Error(`dachs does not serve: ${readFileSync(log, 'utf8')}`);
    }
  }

  close(): void {
    this.#child.kill('SIGTERM');
  }
}

function resourceTable({ name, columns, position }: DescribedTable): string {
  const place = { ra: 'pos.eq.ra;meta.main', dec: 'pos.eq.dec;meta.main' };
  const lines = columns.map(column => {
    const ucd = position && column.name in place ? place[column.name as 'ra' | 'dec'] : (column.ucd ?? '');
    const unit = column.unit ? ` unit="${column.unit}"` : '';
    const known = column.type.startsWith('int') ? '<values nullLiteral="-1"/>' : '';
    return `<column name="${column.name}" type="${TYPES[column.type]}" ucd="${ucd}"${unit} description="${column.name}">${known}</column>`;
  });
  const mixin = position ? ' mixin="//scs#q3cindex"' : '';
  return `<table id="${name}" onDisk="True" adql="True"${mixin}><meta name="description">${name}</meta>\n${lines.join('\n')}\n</table>`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise(resolve => server.close(resolve));
  return port;
}
