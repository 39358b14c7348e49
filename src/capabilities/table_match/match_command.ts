/** `nearsky match`: matches a table with the objects, or with a catalog. */

import { readFileSync } from 'node:fs';
import { RA_UNIT_OPTION, requireAnswer, tellWarning } from '../../core/cli/ask.ts';
import { type Command, type Invocation, Progress, shownCount, tell, UsageError } from '../../core/cli/command.ts';
import { namesOf } from '../../core/contract/enums.ts';
import { MATCH_FORMATS } from '../../core/contract/formats.ts';
import type { RowProgress } from '../../core/contract/row_progress.ts';
import { FINDS, JOBS_PATH, ROWS_KEPT, TABLE_PATH } from '../../core/contract/table_match.ts';
import { RA_UNIT } from '../../core/documents/parameters.ts';
import { askAsJob, formatOfFile, outputOf } from '../jobs/table_job.ts';
import { sentTable } from '../objects/sent_list.ts';

export const command: Command = {
  usage:
    'match TABLE [--against NAME] [-o FILE] [--url URL] [--radius ARCSEC] [--find NAME] [--rows NAME] [--frame NAME] [--columns NAMES]',
  description: `Matches each row of a table with the objects of the data directory or of a running service (--url),
or with the catalogs registered there, and prints the rows. The table is CSV, ECSV, IPAC, NDJSON,
VOTable, FITS, Parquet or Arrow, a file or (-) standard input; or a list with a position, or a name
with its position, per line. The answer is that of POST
/api/crossmatch: all columns of the table, then a status, an id, a position and a separation.`,
  options: {
    against: {
      value: 'NAME',
      help: 'objects (the default), the name of a catalog, or all: the nearest source of each catalog, side by side',
    },
    out: {
      value: 'FILE',
      short: 'o',
      help: 'write to this file instead of standard output; the file appears when it is complete',
    },
    url: { value: 'URL', help: 'query the service at this address instead of a data directory' },
    radius: { value: 'ARCSEC', help: 'search radius, at most 60 (default 1, or the own radius of an added catalog)' },
    find: { value: 'NAME', help: `${namesOf(FINDS).join(' or ')} (default nearest)` },
    rows: { value: 'NAME', help: `${namesOf(ROWS_KEPT).join(' or ')} (default all)` },
    format: {
      value: 'NAME',
      help: `${namesOf(MATCH_FORMATS).join(', ')} (default: from the name of FILE, else the format of the table)`,
    },
    ra: { value: 'COLUMN', help: 'column of the right ascensions, if its UCD or name does not identify it' },
    dec: { value: 'COLUMN', help: 'column of the declinations' },
    'ra-unit': RA_UNIT_OPTION,
    columns: {
      value: 'NAMES',
      help: 'columns of the table to keep in the answer, comma-separated (default all)',
    },
    frame: {
      value: 'NAME',
      help: 'frame of the positions: ICRS, FK5 J1975, FK4 B1950, galactic (default: as the table or its column names declare, else ICRS)',
    },
    epoch: {
      value: 'EPOCH',
      help: 'time of the positions, to apply the proper motions of a catalog: a Julian year, a date, or the name of a column (default: no motion is applied)',
    },
    at: {
      value: 'N',
      help: 'match with the objects as they were after this journal entry (default: the newest; the summary names it)',
    },
    'error-arcsec': {
      value: 'ERROR',
      help: '1σ error of the positions, for the probabilities of matches with a catalog: a number of arcsec, or the name of its column, or of two for right ascension and declination, comma-separated',
    },
  },
  example: 'nearsky match targets.fits --data ./data --against gaia_dr3 -o matched.parquet',
  run,
};

/** The options that are parameters of the request under the same name. */
const SENT_AS_GIVEN = ['against', 'find', 'rows', 'ra', 'dec', 'frame', 'epoch', 'columns', 'at'];
/** The other ones. */
const RENAMED = { error_arcsec: 'error-arcsec', radius_arcsec: 'radius' };

async function run(invocation: Invocation): Promise<number> {
  const { options, positionals } = invocation;
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0)
    throw new UsageError('match takes one TABLE, or - for standard input', command);
  const { body, ra_unit } = sentTable(readFileSync(file === '-' ? 0 : file), invocation.value('ra-unit', RA_UNIT.kind));
  const out = options.get('out');
  const search = {
    ...Object.fromEntries(SENT_AS_GIVEN.map(name => [name, options.get(name)])),
    ...Object.fromEntries(Object.entries(RENAMED).map(([name, option]) => [name, options.get(option)])),
    ra_unit,
    format: options.get('format') ?? (out === undefined ? undefined : formatOfFile(out, MATCH_FORMATS, command)),
  };
  const output = await outputOf(out);
  const lines = new TableLines();
  const startMs = performance.now();
  const onPart = (part: Uint8Array) => output.write(part);
  let progress: RowProgress = { of: 0, searched: 0, done: 0 };
  const url = options.get('url');
  const timer = setInterval(() => lines.show(progress), LOOK_MS);
  try {
    const asked = { path: TABLE_PATH, search, body, onPart };
    const job = { path: JOBS_PATH, does: 'crossmatch the table', onProgress: (now: RowProgress) => lines.show(now) };
    const { headers } = await invocation.withService(
      ask => (url === undefined ? ask(asked) : askAsJob(ask, asked, job)).then(requireAnswer),
      now => (progress = now),
    );
    await output.end();
    lines.end();
    const count = Number(headers.get('X-Input-Row-Count'));
    const seconds = (performance.now() - startMs) / 1000;
    const places = (headers.get('X-Position-Columns') ?? '').split(' ').map(decodeURIComponent);
    const [frameRead = ''] = (headers.get('X-Position-Frame') ?? '').split(';');
    const entry = headers.get('X-Journal-Entry');
    tell(
      `nearsky match: ${count} rows, positions from ${[...new Set(places)].join(' and ')} (${frameRead}); ${headers.get('X-Match-Count')} found; ` +
        `${seconds.toFixed(1)} s, ${Math.round(count / seconds)} rows/s${entry === null ? '' : `; journal entry ${entry}`}`,
    );
    tellWarning('match', { headers });
    const dropped = headers.get('X-Dropped-Columns');
    if (dropped !== null)
      tell(
        `nearsky match: dropped columns that no answer can hold: ${dropped.split(' ').map(decodeURIComponent).join(', ')}`,
      );
    return 0;
  } catch (error) {
    lines.end();
    await output.drop();
    throw error;
  } finally {
    clearInterval(timer);
  }
}

const LOOK_MS = 100;

/** Shows progress: first the number of searched rows, then the number of written rows. */
class TableLines {
  #progress = new Progress();
  #isSearched = false;

  show({ of, searched, done }: RowProgress): void {
    if (of === 0) return;
    if (searched === of && !this.#isSearched) {
      this.#isSearched = true;
      this.#progress.end();
      this.#progress = new Progress();
    }
    const [rows, verb] = this.#isSearched ? [done, 'written'] : [searched, 'searched'];
    const pace = () => this.#progress.pace(rows, of, perSecond => `${shownCount(perSecond)} rows`);
    this.#progress.update(() => `${shownCount(rows)} of ${shownCount(of)} rows ${verb}, ${pace()}`);
  }

  end(): void {
    this.#progress.end();
  }
}
