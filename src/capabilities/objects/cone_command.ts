/** `nearsky cone`: the objects within a radius of a position. */

import { ASK_OPTIONS, asDocument, requireAnswer, writeOut } from '../../core/cli/ask.ts';
import type { Answered, Ask } from '../../core/cli/asking.ts';
import { type Command, type Invocation, tell, UsageError } from '../../core/cli/command.ts';
import { parseSearchText } from './search_text.js';
import { SOURCES_PATH, sourcesThere } from './sources_there.ts';
import { isForPeople, TerminalTable } from './terminal_table.ts';

export const command: Command = {
  usage: 'cone [--url URL] [--format NAME] [--detail LEVEL] [--sources] RA DEC RADIUS',
  description: `Prints the objects within RADIUS arcsec of a position (RA, DEC: ICRS, in decimal degrees or as
04h06m29.35s -49d17m42.5s), from the data directory or (--url) from a running service. The answer is
that of GET /api/cone, in any of its formats, with the objects of all pages. The table for people also
lists the catalogs' own sources there, and which catalogs were searched. With --sources the answer is
that of GET /api/sources: these sources alone, in any format.`,
  options: { ...ASK_OPTIONS, sources: { help: "print the catalogs' own sources instead of objects" } },
  example: 'nearsky cone --data ./data --format csv 221.596 -40.0 60',
  run,
};

/** The cursor of an answer lies within this many of its last bytes. */
const MAX_CURSOR_BYTES = 4096;
const IN_PAGES = ['csv', 'ndjson'];

async function run(invocation: Invocation): Promise<number> {
  const { options, positionals } = invocation;
  const [ra, dec, radius, ...others] = positionals;
  if (radius === undefined || others.length > 0) throw new UsageError('cone takes RA, DEC and RADIUS', command);
  const isTable = isForPeople(invocation);
  const format = isTable ? undefined : options.get('format');
  const place = degreesOf(ra!, dec!);
  const search = { ...place, radius_arcsec: radius, format, detail: options.get('detail') };
  await invocation.withService(async ask => {
    if (invocation.flags.has('sources')) {
      const answer = requireAnswer(await ask({ path: SOURCES_PATH, search: { ...search, detail: undefined } }));
      return await writeOut(
        isTable ? Buffer.from(await sourcesThere(ask, place, radius)) : asDocument(answer.body, format),
      );
    }
    let answer = requireAnswer(await ask({ path: '/api/cone', search }));
    if (isTable) {
      await writeTable(ask, answer);
      const sources = await sourcesThere(ask, place, radius);
      return await writeOut(Buffer.from(`\n${sources}`));
    }
    await writeOut(asDocument(answer.body, format));
    for (let cursor = cursorOf(answer); cursor !== undefined; cursor = cursorOf(answer)) {
      if (!IN_PAGES.includes(format ?? '')) {
        tell(
          `nearsky cone: there are more objects than fit on one page: use --format ${IN_PAGES.join(' or ')} to get all`,
        );
        break;
      }
      answer = requireAnswer(await ask({ path: '/api/cone', search: { format, cursor } }));
      const bytes = Buffer.from(answer.body);
      // Only the first page keeps its header line.
      await writeOut(format === 'csv' ? bytes.subarray(bytes.indexOf(10) + 1) : bytes);
    }
  });
  return 0;
}

/** Writes the objects of all pages as a table. */
async function writeTable(ask: Ask, first: Answered): Promise<void> {
  const table = new TerminalTable(true);
  await writeOut(Buffer.from(table.head()));
  let count = 0;
  for (let answer = first; ; ) {
    const { results, next_cursor: cursor } = JSON.parse(Buffer.from(answer.body).toString());
    for (const object of results[0].objects) {
      await writeOut(Buffer.from(table.object(object)));
      count++;
    }
    if (cursor === null) break;
    answer = requireAnswer(await ask({ path: '/api/cone', search: { cursor } }));
  }
  await writeOut(Buffer.from(`${count} object${count === 1 ? '' : 's'}\n`));
}

/**
 * Converts a position that is sexagesimal, or has a typographic minus, to degrees. Returns any other text unchanged,
 * for the service to check.
 */
function degreesOf(ra: string, dec: string): { ra: string; dec: string } {
  const position = /[:hd°−]/.test(`${ra}${dec}`) ? parseSearchText(`${ra} ${dec}`) : undefined;
  return position?.kind === 'position' ? { ra: `${position.ra}`, dec: `${position.dec}` } : { ra, dec };
}

/** The cursor of the next page: from the Link header of a table, or from the end of a JSON answer. */
function cursorOf({ headers, body }: Answered): string | undefined {
  const inBody = /"next_cursor": ?"([^"]+)"[^"]*\}\s*$/.exec(
    Buffer.from(body.subarray(-MAX_CURSOR_BYTES)).toString('latin1'),
  );
  if (inBody) return inBody[1];
  const link = /<([^>]*)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1];
  const cursor = link === undefined ? undefined : new URL(link, 'http://localhost').searchParams.get('cursor');
  return cursor ?? undefined;
}
