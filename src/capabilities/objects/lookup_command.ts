/** `nearsky lookup`: the stored objects by id, or by the name of their transient. */
import { existsSync } from 'node:fs';
import { printable } from '../../core/base/error_text.ts';
import { ASK_OPTIONS, asDocument, RA_UNIT_OPTION, requireAnswer, tellWarning, writeOut } from '../../core/cli/ask.ts';
import type { Ask } from '../../core/cli/asking.ts';
import { bytesOf, type Command, type Invocation, tell, UsageError } from '../../core/cli/command.ts';
import type { Config } from '../../core/config/config.ts';
import type { RaUnit } from '../../core/contract/table_match.ts';
import { parseTnsName } from '../../core/contract/tns_names.ts';
import { upTo } from '../../core/documents/kinds.ts';
import { RA_UNIT } from '../../core/documents/parameters.ts';
import { MAX_LINE_BYTES, openByteStream, readBlocks, splitLines } from '../ingest/lines.ts';
import { inHours, parseSearchList } from './search_text.js';
import { NOT_SEARCHED, sourcesThere } from './sources_there.ts';
import { isForPeople, TerminalTable } from './terminal_table.ts';

/** The radius of a position that has none, arcsec. */
const DEFAULT_RADIUS = 5;
/** The service has a maximum of its own. */
const RADIUS = upTo(3600, 'arcsec');

export const command: Command = {
  usage:
    'lookup [--url URL] [--format NAME] [--detail LEVEL] [--radius ARCSEC] [--ra-unit UNIT] ID|NAME|POSITION|FILE...|-',
  description: `Prints what is known about objects, from the data directory or (--url) from a running service. Name
them by diaObjectId, by TNS name such as "SN 2026abc", by position such as "12:34:56.7 -01:02:03", or in
files or standard input (-) with these as people write them, also a name with its position on one line.
A line that cannot be read has the status invalid_input. The answer is that of
POST /api/lookup, in any of its formats. More inputs than one request takes (API_MAX_IDS,
API_MAX_POSITIONS) are split into several requests, and their lines are concatenated. This works for
table, csv and ndjson only. The table for people also lists the catalogs' own sources at the first ten
names and positions, and which catalogs were searched.`,
  options: {
    ...ASK_OPTIONS,
    radius: {
      value: 'ARCSEC',
      help: `search radius of names and positions without one of their own (default for positions ${DEFAULT_RADIUS})`,
    },
    'ra-unit': RA_UNIT_OPTION,
  },
  example: 'nearsky lookup --data ./data --format csv 313637935709683761',
  run,
};

const IN_PARTS = ['csv', 'ndjson'];

async function run(invocation: Invocation): Promise<number> {
  const { config, options, positionals } = invocation;
  if (positionals.length === 0) throw new UsageError('no id, name, position or file given', command);
  const radius = invocation.value('radius', RADIUS)?.toString();
  const raUnit = invocation.value('ra-unit', RA_UNIT.kind);
  const inputs = await inputsOf(positionals, radius, raUnit);
  const isTable = isForPeople(invocation);
  const format = isTable ? undefined : options.get('format');
  const parts = partsOf(inputs, config);
  if (!isTable && parts.length > 1 && !IN_PARTS.includes(format ?? '')) {
    const { API_MAX_IDS: ids, API_MAX_POSITIONS: names } = config;
    throw new UsageError(
      `${inputs.length} inputs exceed the limit of one answer (${ids} ids, API_MAX_IDS, and ${names} names, API_MAX_POSITIONS): use --format ${IN_PARTS.join(' or ')}`,
    );
  }
  await invocation.withService(async ask => {
    const table = new TerminalTable(false);
    if (isTable) await writeOut(Buffer.from(table.head()));
    const places: Place[] = [];
    for (const part of parts) {
      const bytes = await askFor(ask, part, { format, detail: options.get('detail'), raUnit });
      if (isTable) {
        const { results } = JSON.parse(bytes.toString()) as { readonly results: readonly Result[] };
        await writeOut(Buffer.from(linesOfResults(table, part, results)));
        places.push(...results.flatMap((result, i) => placeOf(part[i]!.text, result)));
        continue;
      }
      // Only the first part keeps its header line.
      await writeOut(
        format === 'csv' && part !== parts[0] ? bytes.subarray(bytes.indexOf(10) + 1) : asDocument(bytes, format),
      );
    }
    await writeSources(ask, places);
  });
  return 0;
}

/** The inputs, in their order, in parts that a request takes. */
function partsOf(inputs: readonly Input[], { API_MAX_IDS: maxIds, API_MAX_POSITIONS: maxNames }: Config): Input[][] {
  const parts: Input[][] = [[]];
  let room = { id: maxIds, place: maxNames };
  for (const input of inputs) {
    const kind = input.kind === 'id' ? 'id' : 'place';
    if (room[kind]-- === 0) {
      parts.push([]);
      room = { id: maxIds, place: maxNames };
      room[kind]--;
    }
    parts.at(-1)!.push(input);
  }
  return parts;
}

async function askFor(
  ask: Ask,
  inputs: readonly Input[],
  { format, detail, raUnit }: Record<'format' | 'detail', string | undefined> & { readonly raUnit: RaUnit | undefined },
) {
  const body = `{"inputs": [${inputs.map(({ json }) => json).join(', ')}]${detail === undefined ? '' : `, "detail": ${JSON.stringify(detail)}`}}`;
  const answer = requireAnswer(await ask({ path: '/api/lookup', search: { format, ra_unit: raUnit && 'deg' }, body }));
  tellWarning('lookup', answer);
  return Buffer.from(answer.body);
}

/** The lines of results. A name, a position, and an id that is no valid one, have lines of their own. */
function linesOfResults(table: TerminalTable, inputs: readonly Input[], results: readonly Result[]): string {
  return results
    .flatMap(({ status, objects = [] }, i) => {
      const { kind, text } = inputs[i]!;
      const own = kind !== 'id' || objects.length === 0 ? [table.input(text, status)] : [];
      return [...own, ...objects.map(object => table.object(object))];
    })
    .join('');
}

interface Result {
  readonly status: string;
  readonly objects?: readonly Parameters<TerminalTable['object']>[0][];
  /** The registry's entry of a name. */
  readonly tns?: { readonly ra: number; readonly dec: number } | null;
  readonly normalized?: {
    readonly kind: string;
    readonly ra?: number;
    readonly dec?: number;
    readonly radius_arcsec?: number;
  } | null;
}

/** Where an input was searched for, whether or not an object is there. */
interface Place {
  readonly text: string;
  readonly ra: string;
  readonly dec: string;
  readonly radiusArcsec: string;
}

function placeOf(text: string, { tns, normalized }: Result): Place[] {
  const { ra, dec } = tns ?? (normalized?.kind === 'position' ? normalized : {});
  if (ra === undefined) return [];
  return [{ text, ra: `${ra}`, dec: `${dec}`, radiusArcsec: `${normalized!.radius_arcsec}` }];
}

/** More places are read faster together, by `nearsky sample`. */
const MAX_SEARCHED_PLACES = 10;

/** Writes the catalogs' own sources at the places. */
async function writeSources(ask: Ask, places: readonly Place[]): Promise<void> {
  for (const { text, radiusArcsec, ...place } of places.slice(0, MAX_SEARCHED_PLACES)) {
    const sources = await sourcesThere(ask, place, radiusArcsec);
    await writeOut(Buffer.from(`\n${printable(text)}: ${sources}`));
    if (sources === NOT_SEARCHED) return;
  }
  const left = places.length - MAX_SEARCHED_PLACES;
  if (left > 0)
    tell(
      `nearsky lookup: the catalogs were searched at the first ${MAX_SEARCHED_PLACES} places: nearsky sample and nearsky match search all`,
    );
}

interface Input {
  readonly kind: 'id' | 'tns' | 'position';
  readonly text: string;
  /** The input as JSON text, so that an id is never converted to a number. */
  readonly json: string;
}

async function inputsOf(
  given: readonly string[],
  radius: string | undefined,
  raUnit: RaUnit | undefined,
): Promise<Input[]> {
  const inputs: Input[] = [];
  for (const text of given) {
    const isFile = text === '-' || (!isId(text) && existsSync(text));
    if (isFile) inputs.push(...(await linesOf(text)).flatMap(line => inputsOfLine(line, radius, raUnit)));
    else {
      const found = inputsOfLine(text, radius, raUnit);
      if (!isInput(text) && found.every(({ kind }) => kind === 'tns'))
        throw new UsageError(`${text} is not a diaObjectId, a TNS name, a position or an existing file`);
      inputs.push(...found);
    }
  }
  if (inputs.length === 0) throw new UsageError(`${given.join(', ')} contains no id, name or position`);
  return inputs;
}

const isId = (text: string) => /^\d+$/.test(text);
const isInput = (text: string) => isId(text) || (!/^[\d\s]+$/.test(text) && parseTnsName(text) !== undefined);

/** A line that cannot be read is sent as a name: its result then has the status `invalid_input`. */
function inputsOfLine(line: string, radius: string | undefined, raUnit: RaUnit | undefined): Input[] {
  const read = isInput(line) ? [] : parseSearchList(line);
  const entries = raUnit === 'h' ? inHours(read) : read;
  if (isInput(line) || entries.some(({ search }) => search.kind === 'unclear')) return [idOrName(line, radius)];
  return entries.map(({ typed, search, label }): Input => {
    if (search.kind === 'id') return idOrName(search.id, radius);
    if (search.kind !== 'position') {
      const { name, radiusArcsec = radius } = search as Extract<typeof search, { kind: 'tns' }>;
      return { ...idOrName(name, radiusArcsec?.toString()), text: typed };
    }
    const { ra, dec, radiusArcsec = radius ?? DEFAULT_RADIUS } = search;
    const json = `{"kind": "position", "ra": ${ra}, "dec": ${dec}, "radius_arcsec": ${radiusArcsec}}`;
    return { kind: 'position', text: label ?? typed, json };
  });
}

function idOrName(text: string, radius: string | undefined): Input {
  if (isId(text)) return { kind: 'id', text, json: `{"kind": "id", "diaObjectId": ${text.replace(/^0+(?=\d)/, '')}}` };
  const own = radius === undefined ? '' : `, "radius_arcsec": ${radius}`;
  return { kind: 'tns', text, json: `{"kind": "tns", "name": ${JSON.stringify(text)}${own}}` };
}

/** The lines that are not blank. */
async function linesOf(file: string): Promise<string[]> {
  bytesOf([file]);
  const found: string[] = [];
  const stream = openByteStream(file);
  try {
    for await (const block of readBlocks(stream, file))
      for (const { text } of splitLines(block, MAX_LINE_BYTES)) if (text.trim() !== '') found.push(text.trim());
  } finally {
    stream.destroy();
  }
  return found;
}
