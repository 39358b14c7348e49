/** `nearsky match`: a table against the objects, or against a catalog. */
import { once } from 'node:events';
import { createWriteStream, readFileSync, renameSync, rmSync } from 'node:fs';
import { namesOf } from '../contract/enums.ts';
import { TABLE_FORMATS } from '../contract/formats.ts';
import { FINDS, ROWS_KEPT, TABLE_PATH } from '../contract/table_match.ts';
import { requireAnswer, withService, writeOut } from './ask.ts';
import { type Command, type Invocation, Progress, tell, UsageError } from './cli.ts';

export const command: Command = {
  usage: 'match TABLE [--against NAME] [-o FILE] [--url URL] [--radius ARCSEC] [--find NAME] [--rows NAME]',
  description: [
    'Prints the rows of a table with what lies at each of them: of the objects of the data directory or of a running service (--url), or of a catalog',
    'that is registered there. The table is CSV, NDJSON, VOTable, FITS, Parquet or Arrow, a file or (-) standard input. The answer is that of',
    'POST /api/crossmatch: all columns of the table, then a status, an id, a position and a separation.',
  ].join('\n'),
  options: {
    against: { value: 'NAME', help: 'objects (the default), or the name of a catalog' },
    out: { value: 'FILE', short: 'o', help: 'write there, not to standard output; the file is there when it is whole' },
    url: { value: 'URL', help: 'ask the service at this address, in place of a data directory' },
    radius: { value: 'ARCSEC', help: 'of the search, at most 60 (default 1)' },
    find: { value: 'NAME', help: `${namesOf(FINDS).join(' or ')} (default nearest)` },
    rows: { value: 'NAME', help: `${namesOf(ROWS_KEPT).join(' or ')} (default all)` },
    format: { value: 'NAME', help: `${namesOf(TABLE_FORMATS).join(', ')} (default that of the table)` },
    ra: { value: 'COLUMN', help: 'of the right ascensions, where its UCD or name does not tell' },
    dec: { value: 'COLUMN', help: 'of the declinations' },
  },
  example: 'nearsky match targets.fits --data ./data --against gaia_dr3 --format parquet -o matched.parquet',
  run,
};

async function run({ config, options, positionals }: Invocation): Promise<number> {
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0)
    throw new UsageError(`match takes one TABLE, or - for standard input. Usage: nearsky ${command.usage}`);
  const body = readFileSync(file === '-' ? 0 : file);
  const [against, find, rows, format, ra, dec] = ['against', 'find', 'rows', 'format', 'ra', 'dec'].map(name =>
    options.get(name),
  );
  const search = { against, find, rows, format, ra, dec, radius_arcsec: options.get('radius') };
  const output = outputOf(options.get('out'));
  const progress = new Progress();
  const startMs = performance.now();
  let bytes = 0;
  const onPart = async (part: Uint8Array) => {
    bytes += part.length;
    progress.update(
      () => `${mebibytes(bytes)} MiB written, ${mebibytes((bytes * 1000) / (performance.now() - startMs))} MiB/s`,
    );
    await output.write(part);
  };
  try {
    const { headers } = await withService(config, options.get('url'), async ask =>
      requireAnswer(await ask({ path: TABLE_PATH, search, body, onPart })),
    );
    await output.end();
    progress.end();
    const count = Number(headers.get('X-Row-Count'));
    const seconds = (performance.now() - startMs) / 1000;
    const places = (headers.get('X-Position-Columns') ?? '').split(' ').map(decodeURIComponent);
    tell(
      `nearsky match: ${count} rows, positions from ${[...new Set(places)].join(' and ')}; ${headers.get('X-Match-Count')} found; ` +
        `${seconds.toFixed(1)} s, ${Math.round(count / seconds)} rows/s`,
    );
    return 0;
  } catch (error) {
    progress.end();
    output.drop();
    throw error;
  }
}

const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

interface Output {
  write(part: Uint8Array): Promise<void>;
  end(): Promise<void>;
  /** Removes what was written. */
  drop(): void;
}

/** A file gets its name when it is whole. */
function outputOf(path: string | undefined): Output {
  if (path === undefined) return { write: writeOut, end: async () => {}, drop: () => {} };
  const partial = `${path}.${process.pid}.part`;
  const stream = createWriteStream(partial);
  const opened = once(stream, 'open');
  return {
    async write(part) {
      await opened;
      if (!stream.write(part)) await once(stream, 'drain');
    },
    async end() {
      await opened;
      stream.end();
      await once(stream, 'close');
      renameSync(partial, path);
    },
    drop() {
      opened.catch(() => {});
      stream.destroy();
      rmSync(partial, { force: true });
    },
  };
}
