/** `nearsky lookup`: the stored objects by id, or by the name of their transient. */
import { existsSync } from 'node:fs';
import { MAX_LINE_BYTES, openByteStream, readBlocks, splitLines } from '../../core/base/lines.ts';
import { ASK_OPTIONS, asDocument, requireAnswer, writeOut } from '../../core/cli/ask.ts';
import type { Ask } from '../../core/cli/asking.ts';
import { bytesOf, type Command, type Invocation, UsageError } from '../../core/cli/command.ts';
import { isForPeople, TerminalTable } from '../../core/cli/terminal_table.ts';
import type { Config } from '../../core/config/config.ts';
import { parseTnsName } from '../../core/contract/tns_names.ts';

export const command: Command = {
  usage: 'lookup [--url URL] [--format NAME] [--detail LEVEL] ID|NAME|FILE...|-',
  description: `Prints what is known about objects, from the data directory or (--url) from a running service. Name
them by diaObjectId, by TNS name such as "SN 2026abc", or in files or standard input (-) with one of
these per line; a line that is neither has the status invalid_input. The answer is that of
POST /api/lookup, in any of its formats. More inputs than one request takes (API_MAX_IDS,
API_MAX_POSITIONS) are split into several requests, and their lines are concatenated. This works for
table, csv and ndjson only.`,
  options: ASK_OPTIONS,
  example: 'nearsky lookup --data ./data --format csv 313637935709683761',
  run,
};

const IN_PARTS = ['csv', 'ndjson'];

async function run(invocation: Invocation): Promise<number> {
  const { config, options, positionals } = invocation;
  if (positionals.length === 0) throw new UsageError('no id, name or file given', command);
  const inputs = await inputsOf(positionals);
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
    for (const part of parts) {
      const bytes = await askFor(ask, part, format, options.get('detail'));
      if (isTable) {
        await writeOut(Buffer.from(linesOfAnswer(table, part, bytes)));
        continue;
      }
      // Only the first part keeps its header line.
      await writeOut(
        format === 'csv' && part !== parts[0] ? bytes.subarray(bytes.indexOf(10) + 1) : asDocument(bytes, format),
      );
    }
  });
  return 0;
}

/** The inputs, in their order, in parts that a request takes. */
function partsOf(inputs: readonly Input[], { API_MAX_IDS: maxIds, API_MAX_POSITIONS: maxNames }: Config): Input[][] {
  const parts: Input[][] = [[]];
  let room = { id: maxIds, tns: maxNames };
  for (const input of inputs) {
    if (room[input.kind]-- === 0) {
      parts.push([]);
      room = { id: maxIds, tns: maxNames };
      room[input.kind]--;
    }
    parts.at(-1)!.push(input);
  }
  return parts;
}

async function askFor(ask: Ask, inputs: readonly Input[], format: string | undefined, detail: string | undefined) {
  const body = `{"inputs": [${inputs.map(({ json }) => json).join(', ')}]${detail === undefined ? '' : `, "detail": ${JSON.stringify(detail)}`}}`;
  const { body: bytes } = requireAnswer(await ask({ path: '/api/lookup', search: { format }, body }));
  return Buffer.from(bytes);
}

/** The lines of an answer's results. A name, and an id that is no valid one, have lines of their own. */
function linesOfAnswer(table: TerminalTable, inputs: readonly Input[], answer: Buffer): string {
  const { results } = JSON.parse(answer.toString()) as { readonly results: readonly Result[] };
  return results
    .flatMap(({ status, objects = [] }, i) => {
      const { kind, text } = inputs[i]!;
      const own = kind === 'tns' || objects.length === 0 ? [table.input(text, status)] : [];
      return [...own, ...objects.map(object => table.object(object))];
    })
    .join('');
}

interface Result {
  readonly status: string;
  readonly objects?: readonly Parameters<TerminalTable['object']>[0][];
}

interface Input {
  readonly kind: 'id' | 'tns';
  readonly text: string;
  /** The input as JSON text, so that an id is never converted to a number. */
  readonly json: string;
}

async function inputsOf(given: readonly string[]): Promise<Input[]> {
  const inputs: Input[] = [];
  for (const text of given) {
    const isFile = text === '-' || (!isId(text) && existsSync(text));
    if (isFile) inputs.push(...(await linesOf(text)).map(inputOf));
    else if (isId(text) || parseTnsName(text)) inputs.push(inputOf(text));
    else throw new UsageError(`${text} is not a diaObjectId, a TNS name or an existing file`);
  }
  if (inputs.length === 0) throw new UsageError(`${given.join(', ')} contains no id and no name`);
  return inputs;
}

const isId = (text: string) => /^\d+$/.test(text);

/** A text that is neither an id nor a name is sent as a name, so that its own result says so. */
function inputOf(text: string): Input {
  return isId(text)
    ? { kind: 'id', text, json: `{"kind": "id", "diaObjectId": ${text.replace(/^0+(?=\d)/, '')}}` }
    : { kind: 'tns', text, json: `{"kind": "tns", "name": ${JSON.stringify(text)}}` };
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
