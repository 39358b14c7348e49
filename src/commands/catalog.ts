/** `nearsky catalog add|list|check`: the catalogs that are searched, and their locations. */
import { nowUs } from '../base/times.ts';
import { checkCatalog, type RegisterOptions, registerCatalog } from '../catalogs/register.ts';
import { remoteOptions } from '../catalogs/remote/options.ts';
import type { SurveyProgress } from '../catalogs/survey.ts';
import type { CatalogDefinition } from '../contract/catalogs.ts';
import { CATALOGS, catalogDefinition } from '../contract/catalogs.ts';
import type { CatalogRegistration, RowCounts } from '../store/catalog_registration.ts';
import { openStore, type Store } from '../store/store.ts';
import { Writer } from '../store/writer.ts';
import { type Command, type Invocation, Progress, printResult, table, UsageError } from './cli.ts';

export const command: Command = {
  usage: 'catalog add NAME LOCATION | catalog list | catalog check NAME',
  description: [
    'add: registers one of the four catalogs at a HATS directory, or a collection of them, after checking its properties, files and columns;',
    'one of the same name is replaced. LOCATION is a local directory or its file:// address, an http(s):// address whose host answers to range requests, or',
    's3://BUCKET/KEY of a public bucket. list: shows what is registered. check: opens every file of a registered catalog. Rows that can be',
    'the source of no match, because they have no position or no id, are counted.',
    `NAME is ${CATALOGS.map(({ name }) => name).join(', ')}.`,
  ].join('\n'),
  options: {
    'allow-missing-columns': { help: 'add: take payload columns that the catalog lacks as null' },
    quick: {
      help: 'add: look only whether the files are there, not whether each can be used and which rows have no position',
    },
    rows: {
      help: 'add, check: read the position of every row, which is done anyway where the catalog is a local directory',
    },
  },
  example: 'nearsky catalog add gaia_dr3 https://data.lsdb.io/hats/gaia_dr3/gaia',
  async run(invocation) {
    const [verb, ...rest] = invocation.positionals;
    const expect = (count: number) => {
      if (rest.length !== count)
        throw new UsageError(
          `catalog ${verb} takes ${count} ${count === 1 ? 'argument' : 'arguments'}, not ${rest.length}. Usage: nearsky ${this.usage}`,
        );
    };
    switch (verb) {
      case 'add':
        expect(2);
        return add(invocation, definitionOf(rest[0]!), rest[1]!);
      case 'list':
        expect(0);
        return list(invocation);
      case 'check':
        expect(1);
        return check(invocation, definitionOf(rest[0]!));
      default:
        throw new UsageError(
          `catalog needs add, list or check, not ${verb === undefined ? 'nothing' : JSON.stringify(verb)}`,
        );
    }
  },
};

function definitionOf(name: string): CatalogDefinition {
  const definition = catalogDefinition(name);
  if (definition) return definition;
  throw new UsageError(
    `unknown catalog ${JSON.stringify(name)}. The catalogs are ${CATALOGS.map(catalog => catalog.name).join(', ')}`,
  );
}

async function withStore<T>(
  invocation: Invocation,
  mode: 'read' | 'write',
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const store = openStore(invocation.config.NEARSKY_DATA, mode);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function add(invocation: Invocation, definition: CatalogDefinition, location: string): Promise<number> {
  const progress = new Progress();
  const registration = await registerCatalog(definition, location, {
    addedAtUs: nowUs(),
    remote: remoteOptions(invocation.config),
    ...depthOf(invocation),
    allowMissing: invocation.flags.has('allow-missing-columns'),
    onProgress: at => progress.update(() => progressText(at)),
  });
  progress.end();
  await withStore(invocation, 'write', store => new Writer(store).putCatalog(registration));
  printResult(invocation, summaryOf(registration), `added ${describe(registration)}`);
  return 0;
}

async function list(invocation: Invocation): Promise<number> {
  return withStore(invocation, 'read', async store => {
    const stored = new Map(store.catalogs().map(registration => [registration.name, registration]));
    const registrations = CATALOGS.flatMap(({ name }) => stored.get(name) ?? []);
    const text =
      registrations.map(describe).join('\n\n') ||
      'no catalog is registered: add one with nearsky catalog add NAME LOCATION';
    printResult(invocation, registrations.map(summaryOf), text);
    return 0;
  });
}

async function check(invocation: Invocation, { name }: CatalogDefinition): Promise<number> {
  return withStore(invocation, 'read', async store => {
    const registration = store.catalog(name);
    if (!registration)
      throw new Error(
        `Cannot check ${name} because it is not registered: add it with nearsky catalog add ${name} LOCATION`,
      );
    const progress = new Progress();
    const result = await checkCatalog(registration, {
      remote: remoteOptions(invocation.config),
      ...(invocation.flags.has('rows') ? { depth: 'rows' } : {}),
      onProgress: at => progress.update(() => progressText(at)),
    });
    progress.end();
    const verdict =
      result.problems.length === 0 ? 'all files can be used' : `${result.problems.length} files cannot be used`;
    const text = [
      `${name}: ${result.files} files, ${result.rows} rows, ${verdict}`,
      table(rowCountsOf(registration.hats.rows, result)),
      ...result.problems,
    ].join('\n');
    const counts = { without_position: result.withoutPosition, without_id: result.withoutId };
    const { files, rows, problems } = result;
    printResult(invocation, { name, files, rows, ...counts, rows_stated: registration.hats.rows, problems }, text);
    return result.problems.length === 0 ? 0 : 1;
  });
}

function progressText({ files, filesDone, rows }: SurveyProgress): string {
  return `looking at the files: ${filesDone} of ${files}, ${rows} rows`;
}

function depthOf({ flags }: Invocation): Pick<RegisterOptions, 'depth'> {
  if (flags.has('quick') && flags.has('rows')) throw new UsageError('--quick and --rows cannot be given together');
  return flags.has('quick') ? { depth: 'files' } : flags.has('rows') ? { depth: 'rows' } : {};
}

/** Lines about the counted rows, beside the rows that the catalog's properties state. */
function rowCountsOf(stated: number | null, counted: RowCounts): [string, string | number][] {
  const { rows, withoutPosition, withoutId } = counted;
  const unknown = 'not counted: --rows reads the positions of all rows';
  const why = rows < Number(stated) ? 'files may be missing' : 'files may have been added since';
  return [
    ['  rows', stated === null || stated === rows ? rows : `${rows}, but hats_nrows states ${stated}: ${why}`],
    ['  rows without a position', withoutPosition ?? unknown],
    ['  rows without an id', withoutId ?? 'not counted: the files do not state it'],
  ];
}

/** A registration without its partition list and footprint bytes. */
function summaryOf({ name, location, addedAtUs, partitions, columns, coverage, counted, hats }: CatalogRegistration) {
  return {
    name,
    location,
    added_at: new Date(addedAtUs / 1000).toISOString(),
    partitions: partitions.length,
    rows: counted?.rows ?? hats.rows,
    rows_stated: hats.rows,
    rows_without_position: counted?.withoutPosition ?? null,
    rows_without_id: counted?.withoutId ?? null,
    coverage: { order: coverage.order, from: coverage.source, pixels_left_out: coverage.pixelsLeftOut ?? null },
    missing_columns: columns.payload.filter(({ column }) => column === null).map(({ key }) => key),
  };
}

function describe(registration: CatalogRegistration): string {
  const { name, location, added_at, partitions, coverage, missing_columns } = summaryOf(registration);
  const { counted, hats } = registration;
  return `${name}\n${table([
    ['  location', location],
    ['  added', added_at],
    ['  partitions', partitions],
    ...(counted ? rowCountsOf(hats.rows, counted) : [['  rows', `${hats.rows ?? 'not'} stated, not counted`] as const]),
    ['  footprint', `order ${coverage.order}, from ${coverage.from}`],
    ...(coverage.pixels_left_out
      ? [['  left out of it', `${coverage.pixels_left_out} pixels that no partition touches`] as const]
      : []),
    ['  columns that are null', missing_columns.join(', ') || 'none'],
  ])}`;
}
