/** `nearsky catalog add|replace|compare|list|check|remove`: the catalogs that are searched, and their locations. */
import { basename, join } from 'node:path';
import { isThere } from '../../core/base/files.ts';
import { nowUs } from '../../core/base/times.ts';
import {
  type Command,
  type Invocation,
  Progress,
  printResult,
  shownCount,
  table,
  tell,
  UsageError,
  valueOfText,
} from '../../core/cli/command.ts';
import { openArchive } from '../../core/cluster/open_archive.ts';
import {
  CATALOGS,
  type CatalogDefinition,
  Catalogs,
  catalogDefinition,
  registeredRelease,
} from '../../core/contract/catalogs.ts';
import { integer, matching, number } from '../../core/contract/kind.ts';
import { MAX_CATALOGS, MAX_CROSSMATCH_RADIUS_ARCSEC } from '../../core/contract/limits.ts';
import { upTo } from '../../core/documents/kinds.ts';
import { radiusText } from '../../core/documents/prose.ts';
import {
  type CatalogColumns,
  type CatalogRegistration,
  type PayloadColumn,
  type RowCounts,
  readCatalog,
  readCatalogNames,
  readCatalogs,
} from '../../core/store/catalog_registration.ts';
import { FILE_NAME } from '../../core/store/data_files.ts';
import { openStore, type Store } from '../../core/store/store.ts';
import { FLOAT32_STEP_ARCSEC } from './columns.ts';
import { compareReleases, type ReleaseChanges, type ReleaseComparison } from './compare_releases.ts';
import { type ChosenFootprint, skyFraction } from './coverage.ts';
import { checkDefinition, type UndefinedCatalog } from './definition.ts';
import { CatalogPositionsWriter, removePositions } from './positions_writer.ts';
import { areaIn } from './read_area.ts';
import { checkCatalog, type RegisterOptions, registerCatalog } from './register.ts';
import { remoteOptions } from './remote_options.ts';
import type { SurveyProgress } from './survey.ts';

const MAX_FOOTPRINT_ORDER = 10;
/** Releases may list a source at slightly different positions. */
const SAME_WITHIN_ARCSEC = 0.2;
const ADD_OPTIONS = [
  'release',
  'id',
  'description',
  'radius',
  'radius-column',
  'footprint',
  'allow-missing-columns',
  'quick',
  'rows',
  'no-positions',
];
interface Verb {
  /** The allowed numbers of arguments after the verb: a name, then a location. */
  readonly takes: readonly number[];
  /** In addition to the options of all commands. */
  readonly options: readonly string[];
  run(invocation: Invocation, name: string, location: string): Promise<number>;
}
const VERBS: ReadonlyMap<string | undefined, Verb> = new Map([
  ['add', { takes: [1, 2], options: ADD_OPTIONS, run: addNew }],
  ['replace', { takes: [2], options: ADD_OPTIONS, run: replace }],
  ['compare', { takes: [1], options: ['within'], run: compare }],
  ['list', { takes: [0], options: [], run: list }],
  ['recipes', { takes: [0, 1], options: [], run: showRecipes }],
  ['check', { takes: [1], options: ['rows', 'no-positions'], run: check }],
  ['remove', { takes: [1], options: [], run: remove }],
]);
/** The rules of `radius` in a description. */
const RADIUS = upTo(MAX_CROSSMATCH_RADIUS_ARCSEC, 'arcsec');
const FACTOR = number({ min: 0, max: 1000, aboveMin: true });
/** The rule of `release` in a description (src/core/contract/catalogs/schema.json). */
const RELEASE = matching(/^\P{Cc}{1,300}$/u, 'a text of 1 to 300 characters, none of them a control character');

export const command: Command = {
  usage:
    'catalog add NAME [LOCATION] | catalog add|replace NAME LOCATION [--release TEXT] [--id COLUMN] [--description FILE] [--radius ARCSEC] [--radius-column COLUMN] [--footprint FILE|all-sky|ORDER] | catalog compare NAME [--within ARCSEC] | catalog list | catalog recipes [NAME] | catalog check NAME | catalog remove NAME',
  description: `add: registers a catalog at a HATS directory, or a collection of them, after checking its
properties, files and columns. A registration of the same name is overwritten. The catalog keeps its
radius unless another is stated, and older objects keep their crossmatch. LOCATION is a local
directory or its file:// address, an http(s):// address whose host supports range requests, or
s3://BUCKET/KEY of a public bucket.
replace: replaces a registered catalog by its next release, after the same checks. If a check fails,
nothing changes. New objects are crossmatched with the new release at once. serve crossmatches older
objects again, up to CROSSMATCH_AGAIN_PER_SECOND; crossmatch --again does so at full speed. Matches of
older crossmatches stay, with the release that found them. The description is kept unless --id or
--description is given.
compare: compares the matches with the present release and with older ones, for the objects that have
been crossmatched with both: kept, new, gone, or with a changed id. It reads every object.
list: prints the registered catalogs.
recipes: lists the catalogs that nearsky has a recipe for, with radius, citation and licence. add uses a
recipe by its NAME, unless --id or --description is given; LOCATION may then be left out if a copy is
public. With NAME: prints the recipe's description (columns, units, errors) as JSON, to be edited and given
as --description.
check: opens every file of a registered catalog. If it is local, stores its positions again.
remove: removes a registered catalog from all future searches.
add, replace and check count rows that cannot match, because they have no position or no id.
nearsky includes descriptions of ${CATALOGS.map(({ name }) => name).join(', ')}. For any other
catalog pass --id, the column of its ids (64-bit integers or strings), and optionally --description.
Keys that the file lacks are taken from the catalog.`,
  options: {
    release: {
      value: 'TEXT',
      help: 'add, replace: the title and release, which are recorded with each crossmatch (default: those of the description). For replace, they must differ from the registered ones',
    },
    within: {
      value: 'ARCSEC',
      help: `compare: a new source and one that is gone are the same source, with a changed id, if they are at most this far apart (default: ${SAME_WITHIN_ARCSEC})`,
    },
    id: {
      value: 'COLUMN',
      help: 'add, replace: the column with the ids of the sources, 64-bit integers or strings; required for every catalog that nearsky does not describe',
    },
    description: {
      value: 'FILE',
      help: 'add, replace: JSON with title, columns, filters, marker and colour of the catalog (see docs/catalogs.md)',
    },
    radius: {
      value: 'ARCSEC',
      help: `add, replace: the radius of the crossmatch with this catalog, above 0, at most ${MAX_CROSSMATCH_RADIUS_ARCSEC} (default: CROSSMATCH_RADIUS_ARCSEC); not for the catalogs that nearsky describes`,
    },
    'radius-column': {
      value: 'COLUMN',
      help: 'add, replace: with --radius, the column with the radius of each source, or a multiple of it such as 3*POS_ERR. The match is the nearest source whose radius, at most --radius, contains the position',
    },
    footprint: {
      value: 'FILE|all-sky|ORDER',
      help: `add, replace: the observed area: a MOC or any other area that POST /api/area accepts, all-sky, or a HEALPix order (0 to ${MAX_FOOTPRINT_ORDER}), whose pixels with rows are used; by default it is estimated from the rows`,
    },
    'allow-missing-columns': { help: 'add, replace: treat payload columns that the catalog lacks as null' },
    quick: {
      help: 'add, replace: check only that the files exist, the ids of one file, and some rows of up to 16 files. Rows without a position are not counted',
    },
    rows: {
      help: 'add, replace, check: read the position of every row; this is always done for a local directory',
    },
    'no-positions': {
      help: 'add, replace, check: do not store the positions of a local catalog in DATA/catalog-positions (16 bytes per row). Searches near a position are slower without them',
    },
  },
  example: 'nearsky catalog add gaia_dr3 https://data.lsdb.io/hats/gaia_dr3/gaia',
  async run(invocation) {
    const [verb, ...rest] = invocation.positionals;
    const known = VERBS.get(verb);
    if (!known)
      throw new UsageError(
        `catalog needs add, replace, compare, list, recipes, check or remove, not ${verb === undefined ? 'nothing' : JSON.stringify(verb)}`,
      );
    const { takes, options, run } = known;
    const stray = [...invocation.options.keys(), ...invocation.flags].find(
      name => name in this.options && !options.includes(name),
    );
    if (stray !== undefined) throw new UsageError(`catalog ${verb} takes no --${stray}`, this);
    if (!takes.includes(rest.length))
      throw new UsageError(
        `catalog ${verb} takes ${takes.join(' or ')} ${takes.at(-1) === 1 ? 'argument' : 'arguments'}, not ${rest.length}`,
        this,
      );
    return run(invocation, rest[0]!, rest[1]!);
  },
};

async function catalogOf(name: string, invocation: Invocation): Promise<CatalogDefinition | UndefinedCatalog> {
  const { options } = invocation;
  const [idColumn, file] = [options.get('id'), options.get('description')];
  const known = catalogDefinition(name);
  if (known && (options.get('radius') ?? options.get('radius-column')) !== undefined)
    throw new UsageError(`the radius of ${name} is CROSSMATCH_RADIUS_ARCSEC: omit --radius and --radius-column`);
  if (known && (idColumn ?? file) === undefined) return known;
  if (known) throw new UsageError(`nearsky already describes ${name}: omit --id and --description`);
  if ((idColumn ?? file) === undefined) {
    const recipe = await recipeFor(name, invocation);
    if (recipe) return { name, idColumn, description: withRadius(recipe.description, invocation) };
    throw new UsageError(
      `${JSON.stringify(name)} needs --id COLUMN, like every catalog except ${CATALOGS.map(catalog => catalog.name).join(', ')} and those of nearsky catalog recipes`,
    );
  }
  if (file === undefined) return { name, idColumn, description: withRadius({}, invocation) };
  const { readDescription } = await import('./description_file.ts');
  return { name, idColumn, description: withRadius(readDescription(file), invocation) };
}

/** The description with the radius that the options state. @throws UsageError if they state no radius */
function withRadius<T extends Pick<CatalogDefinition, 'radius'>>(description: T, { options }: Invocation): T {
  const [text, sought] = [options.get('radius'), options.get('radius-column')];
  if (text === undefined && sought === undefined) return description;
  const arcsec = text === undefined ? description.radius?.arcsec : valueOfText(RADIUS, '--radius', text);
  if (arcsec === undefined) throw new UsageError('--radius-column needs --radius, the largest radius of a source');
  if (sought === undefined) return { ...description, radius: { ...description.radius, arcsec } };
  const [, factor, column] = /^(?:([\d.]+)\*)?(.+)$/s.exec(sought) ?? [];
  if (column === undefined)
    throw new UsageError('--radius-column must name a column, or a multiple of one: it is empty');
  const times = factor === undefined ? {} : { factor: valueOfText(FACTOR, 'the factor of --radius-column', factor) };
  return { ...description, radius: { arcsec, column, ...times } };
}

/** A catalog that is added again keeps its own radius, unless its description or the options state another. */
async function withFormerRadius(
  catalog: CatalogDefinition | UndefinedCatalog,
  { config }: Invocation,
): Promise<CatalogDefinition | UndefinedCatalog> {
  const { NEARSKY_DATA } = config;
  if (!('description' in catalog) || catalog.description.radius || !isThere(join(NEARSKY_DATA, FILE_NAME)))
    return catalog;
  await using store = openStore(NEARSKY_DATA, 'read');
  const radius = readCatalog(store.databases, catalog.name)?.definition?.radius;
  if (!radius) return catalog;
  tell(
    `nearsky catalog: ${catalog.name} keeps its radius: ${radiusText(radius, '')}. To change it, set --radius; to drop it, remove the catalog and add it again`,
  );
  return { ...catalog, description: { ...catalog.description, radius } };
}

async function addNew(invocation: Invocation, name: string, location: string | undefined): Promise<number> {
  return add(invocation, await catalogOf(name, invocation), location ?? (await publicLocationOf(name, invocation)));
}

/** The recipe that `catalog add` uses for a name; undefined if there is none, or if the options describe the catalog. */
async function recipeFor(name: string, { options }: Invocation) {
  if (options.has('id') || options.has('description')) return undefined;
  const { recipeOf } = await import('./recipes.ts');
  return recipeOf(name);
}

/** @throws UsageError, CatalogError without a public copy of the catalog */
async function publicLocationOf(name: string, invocation: Invocation): Promise<string> {
  const recipe = await recipeFor(name, invocation);
  if (!recipe) throw new UsageError(`catalog add ${name} needs the LOCATION of the catalog`);
  const { publicLocation } = await import('./recipes.ts');
  return publicLocation(recipe);
}

/** @throws UsageError if there is no recipe of that name */
async function showRecipes(invocation: Invocation, name: string | undefined): Promise<number> {
  const { RECIPES, recipeOf } = await import('./recipes.ts');
  if (name === undefined) {
    const text = RECIPES.map(
      ({ title, location, description, ...recipe }) =>
        `${recipe.name}\n${table([
          ['  catalog', title],
          ['  public in HATS', location ?? 'no'],
          ['  columns', description.columns!.length],
          ...(description.radius ? [['  radius', radiusText(description.radius, '')] as const] : []),
          ['  cite', `${description.reference!.paper} (${recipe.bibcode})`],
          ['  licence', recipe.licence ?? 'not found'],
          ...(recipe.unverified ?? []).map(each => ['  not verified', each] as const),
        ])}`,
    ).join('\n\n');
    printResult(invocation, RECIPES, text);
    return 0;
  }
  const recipe = recipeOf(name);
  if (!recipe)
    throw new UsageError(
      `there is no recipe ${JSON.stringify(name)}: they are ${RECIPES.map(each => each.name).join(', ')}`,
    );
  printResult(invocation, recipe.description, JSON.stringify(recipe.description, null, 2));
  return 0;
}

/** @throws UsageError if the catalog is not registered, or the release does not differ */
async function replace(invocation: Invocation, name: string, location: string): Promise<number> {
  const { options } = invocation;
  const previous = await registered(invocation, name);
  const isDescribedAnew = options.has('id') || options.has('description');
  const kept = isDescribedAnew || !previous.definition ? undefined : withRadius(previous.definition, invocation);
  if (kept) checkDefinition(kept, location);
  const catalog = kept ?? (await catalogOf(name, invocation));
  // Before the files are read, which may take long.
  if ('columns' in catalog) requireOther(previous, invocation.value('release', RELEASE) ?? registeredRelease(previous));
  return add(invocation, catalog, location, true);
}

async function add(
  invocation: Invocation,
  asked: CatalogDefinition | UndefinedCatalog,
  location: string,
  isReplacing = false,
): Promise<number> {
  const catalog = await withFormerRadius(asked, invocation);
  using progress = new Progress();
  const positions = positionsFor(invocation);
  const found = await registerCatalog(catalog, location, {
    addedAtUs: nowUs(),
    remote: remoteOptions(invocation.config),
    release: invocation.value('release', RELEASE),
    ...depthOf(invocation),
    footprint: footprintOf(invocation),
    allowMissing: invocation.flags.has('allow-missing-columns'),
    positions,
    onProgress: at => progress.update(() => progressText(at)),
  });
  progress.end();
  await using archive = await openArchive(invocation.config);
  const { store, writer } = archive;
  requireRoom(store, found.name);
  const previous = isReplacing ? requireRegistered(store, found.name) : readCatalog(store.databases, found.name);
  const registration = { ...found, ...replacedBy(found, previous, isReplacing) };
  await writer.commit({ kind: 'register_catalog', registration });
  if (previous) removePositions(invocation.config.NEARSKY_DATA, previous, readCatalogs(store.databases));
  printResult(invocation, summaryOf(registration), `${isReplacing ? 'replaced' : 'added'} ${describe(registration)}`);
  if (!isReplacing && previous && registeredRelease(previous) !== registeredRelease(registration))
    tell(
      `nearsky catalog: the release of ${registration.name} was ${registeredRelease(previous)}. To crossmatch objects again that were compared with it, run nearsky crossmatch --again`,
    );
  if (registration.columns.hasSinglePositions)
    tell(
      `nearsky catalog: the positions of ${registration.name} are float32: right ascensions and separations are only exact to ${FLOAT32_STEP_ARCSEC.toFixed(2)} arcsec`,
    );
  tellOfPositions(found.name, positions);
  const { sparse, order, source } = registration.coverage;
  if (sparse)
    tell(
      `nearsky catalog: the rows of ${registration.name} are sparse, so its footprint is known only to ${pixelDegrees(order)} degrees (from ${source}). ` +
        'If you know the observed area, add the catalog again with --footprint',
    );
  return 0;
}

/**
 * The release that the registration replaces. Adding a catalog again with the same release only moves it.
 * @throws UsageError if `isReplacing` and the releases are equal
 */
function replacedBy(
  registration: CatalogRegistration,
  previous: CatalogRegistration | undefined,
  isReplacing: boolean,
): Pick<CatalogRegistration, 'replaced'> {
  if (!previous) return {};
  if (isReplacing) return { replaced: requireOther(previous, registeredRelease(registration)) };
  const { replaced } = previous;
  return replaced !== undefined && registeredRelease(previous) === registeredRelease(registration) ? { replaced } : {};
}

/** Returns the registered release. @throws UsageError if the new one is the same */
function requireOther(previous: CatalogRegistration, release: string): string {
  const registered = registeredRelease(previous);
  if (release !== registered) return registered;
  throw new UsageError(
    `the registered release of ${previous.name} is ${JSON.stringify(release)}, too: name the new one with --release TEXT. To move a catalog, use catalog add`,
  );
}

async function registered({ config }: Invocation, name: string): Promise<CatalogRegistration> {
  await using store = openStore(config.NEARSKY_DATA, 'read');
  return requireRegistered(store, name);
}

/** @throws UsageError if no catalog has that name */
function requireRegistered(store: Store, name: string): CatalogRegistration {
  const registration = readCatalog(store.databases, name);
  if (registration) return registration;
  const names = readCatalogNames(store.databases);
  throw new UsageError(
    `there is no registered catalog ${JSON.stringify(name)}: ${names.length === 0 ? 'none is registered' : `they are ${names.join(', ')}`}`,
  );
}

/** @throws UsageError if no catalog has that name, or --within is no separation */
async function compare(invocation: Invocation, name: string): Promise<number> {
  const within =
    invocation.value('within', {
      ...number({ min: 0, max: MAX_CROSSMATCH_RADIUS_ARCSEC }),
      must: `from 0 to ${MAX_CROSSMATCH_RADIUS_ARCSEC} arcsec`,
    }) ?? SAME_WITHIN_ARCSEC;
  await using store = openStore(invocation.config.NEARSKY_DATA, 'read');
  const release = registeredRelease(requireRegistered(store, name));
  const comparison = compareReleases(store, name, release, within);
  store.requireUndisturbed();
  printResult(invocation, comparison, comparisonText(comparison));
  return 0;
}

function comparisonText({ catalog, release, done, outstanding, compared_with }: ReleaseComparison): string {
  return table([
    [catalog, release],
    ['  crossmatched with it', `${shownCount(done)} objects`],
    ['  crossmatched with another release', `${shownCount(outstanding)} objects`],
    ...Object.entries(compared_with).flatMap(([other, changes]) => changeRows(other, changes)),
  ]);
}

function changeRows(other: string, changes: ReleaseChanges): (readonly [string, string])[] {
  const differing = (label: string, kind: keyof ReleaseChanges['examples']) => {
    const examples = changes.examples[kind];
    const named = examples.length > 0 ? `, for example of ${examples.join(', ')}` : '';
    return [`  ${label}`, `${shownCount(changes[kind])}${named}`] as const;
  };
  const { objects, other_settings, unread, kept } = changes;
  return [
    ['compared with', other],
    ['  objects', shownCount(objects)],
    ...(other_settings > 0 ? [['  of these, with other settings, too', shownCount(other_settings)] as const] : []),
    ...(unread > 0 ? [['  not compared: a release could not be read', shownCount(unread)] as const] : []),
    ['  matches kept', shownCount(kept)],
    differing('new matches', 'new'),
    differing('matches gone', 'gone'),
    differing('matches with a changed id', 'changed_id'),
  ];
}

/** @throws UsageError if no catalog has that name */
async function remove(invocation: Invocation, name: string): Promise<number> {
  await using archive = await openArchive(invocation.config);
  const removed = requireRegistered(archive.store, name);
  await archive.writer.commit({ kind: 'remove_catalog', name });
  removePositions(invocation.config.NEARSKY_DATA, removed, readCatalogs(archive.store.databases));
  printResult(
    invocation,
    { removed: name },
    `removed ${name}: it is no longer searched. Existing matches stay in JSON answers; tables and queries lose its columns until it is added again. Its files were not touched`,
  );
  return 0;
}

/** @throws UsageError, AreaError */
function footprintOf({ options }: Invocation): ChosenFootprint | undefined {
  const text = options.get('footprint');
  if (text === undefined) return undefined;
  if (text === 'all-sky') return { kind: 'all-sky' };
  if (!/^-?\d+$/.test(text)) return { kind: 'area', area: areaIn(text), source: basename(text) };
  const must = `a file, all-sky or an order from 0 to ${MAX_FOOTPRINT_ORDER}`;
  return {
    kind: 'order',
    order: valueOfText({ ...integer({ min: 0, max: MAX_FOOTPRINT_ORDER }), must }, '--footprint', text),
  };
}

/** The side of a HEALPix pixel, degrees. */
function pixelDegrees(order: number): string {
  return ((Math.sqrt((4 * Math.PI) / 12) / 2 ** order) * (180 / Math.PI)).toPrecision(2);
}

/** @throws Error if the maximum number of catalogs is reached */
function requireRoom(store: Store, name: string): void {
  const names = new Set([...CATALOGS.map(catalog => catalog.name), ...readCatalogNames(store.databases), name]);
  if (names.size > MAX_CATALOGS)
    throw new Error(
      `Cannot add ${name} because there are already ${MAX_CATALOGS} catalogs, the maximum: use another data directory`,
    );
}

async function list(invocation: Invocation): Promise<number> {
  await using store = openStore(invocation.config.NEARSKY_DATA, 'read');
  const stored = new Map(readCatalogs(store.databases).map(registration => [registration.name, registration]));
  const registrations = new Catalogs([...stored.values()]).all.flatMap(({ name }) => stored.get(name) ?? []);
  const text =
    registrations.map(describe).join('\n\n') ||
    'no catalog is registered: add one with nearsky catalog add NAME LOCATION';
  printResult(invocation, registrations.map(summaryOf), text);
  return 0;
}

async function check(invocation: Invocation, name: string): Promise<number> {
  await using store = openStore(invocation.config.NEARSKY_DATA, 'read');
  const registration = readCatalog(store.databases, name);
  if (!registration)
    throw new Error(
      `Cannot check ${name} because it is not registered: add it with nearsky catalog add ${name} LOCATION`,
    );
  using progress = new Progress();
  const positions = positionsFor(invocation);
  const result = await checkCatalog(registration, {
    positions,
    remote: remoteOptions(invocation.config),
    ...(invocation.flags.has('rows') ? { depth: 'rows' } : {}),
    onProgress: at => progress.update(() => progressText(at)),
  });
  progress.end();
  const verdict =
    result.problems.length === 0 ? 'all files can be used' : `${result.problems.length} files cannot be used`;
  const text = [
    `${name}: ${result.files} files, ${result.rows} rows, ${verdict}`,
    table([['  footprint', footprintText(registration)]]),
    table([
      ...rowCountsOf(registration.hats.rows, result, registration.columns),
      ...differenceRows(result.differing ?? [], result.files),
      ...leftOutRows(result),
    ]),
    ...result.problems,
  ].join('\n');
  const counts = { without_position: result.withoutPosition, without_id: result.withoutId };
  const { files, rows, problems } = result;
  const rows_stated = registration.hats.rows;
  const differences = differencesOf(result.differing ?? []);
  printResult(
    invocation,
    { name, files, rows, ...counts, rows_stated, ...differences, left_out_columns: result.leftOut ?? {}, problems },
    text,
  );
  tellOfPositions(name, positions);
  return result.problems.length === 0 ? 0 : 1;
}

function positionsFor({ config, flags }: Invocation): CatalogPositionsWriter | undefined {
  return flags.has('no-positions') ? undefined : new CatalogPositionsWriter(config.NEARSKY_DATA);
}

function tellOfPositions(name: string, positions: CatalogPositionsWriter | undefined): void {
  if (positions && positions.unusable > 0)
    tell(
      `nearsky catalog: the stored positions of ${positions.unusable} files of ${name} could not be used, because the files were replaced or the positions were damaged: they are stored again`,
    );
  if (positions?.problem !== undefined)
    tell(
      `nearsky catalog: the positions of ${name} are stored for ${positions.files} files only: ${positions.problem}. Searches read the other files instead, which takes longer. To try again, run nearsky catalog check ${name}`,
    );
}

function progressText({ files, filesDone, rows }: SurveyProgress): string {
  return `checking the files: ${filesDone} of ${files}, ${rows} rows`;
}

function depthOf({ flags }: Invocation): Pick<RegisterOptions, 'depth'> {
  if (flags.has('quick') && flags.has('rows')) throw new UsageError('--quick and --rows cannot be given together');
  return flags.has('quick') ? { depth: 'files' } : flags.has('rows') ? { depth: 'rows' } : {};
}

/** Lines about the counted rows, beside the number of rows that the catalog's properties state. */
function rowCountsOf(
  stated: number | null,
  counted: RowCounts,
  { hasTextIds }: CatalogColumns,
): [string, string | number][] {
  const { rows, withoutPosition, withoutId, refusedIds } = counted;
  const unknown = 'not counted: --rows reads the positions of all rows';
  const why = rows < Number(stated) ? 'files may be missing' : 'files may have been added since';
  return [
    ['  rows', stated === null || stated === rows ? rows : `${rows}, but hats_nrows states ${stated}: ${why}`],
    ['  rows without a position', withoutPosition ?? unknown],
    [
      '  rows without an id',
      withoutId ??
        (hasTextIds ? 'not counted: --rows reads the ids of all rows' : 'not counted: the files do not state it'),
    ],
    ...(refusedIds ? [['  of these', `${refusedIds.rows} with ${refusedIds.first}`] as [string, string]] : []),
  ];
}

/** A registration without its partition list and footprint bytes. */
function summaryOf(registration: CatalogRegistration) {
  const { name, location, addedAtUs, partitions, columns, coverage, counted, hats, definition, replaced } =
    registration;
  return {
    name,
    release: registeredRelease(registration),
    ...(replaced !== undefined && { replaced_release: replaced }),
    ...(definition && {
      id_column: definition.idColumn,
      id_type: definition.idType ?? 'int64',
    }),
    ...(definition?.radius && { radius: definition.radius }),
    location,
    added_at: new Date(addedAtUs / 1000).toISOString(),
    partitions: partitions.length,
    rows: counted?.rows ?? hats.rows,
    rows_stated: hats.rows,
    rows_without_position: counted?.withoutPosition ?? null,
    rows_without_id: counted?.withoutId ?? null,
    coverage: {
      order: coverage.order,
      from: coverage.source,
      sky_fraction: skyFraction(coverage),
      pixels_left_out: coverage.pixelsLeftOut,
    },
    missing_columns: columns.payload.filter(({ column }) => column === null).map(({ key }) => key),
    ...differencesOf(columns.payload),
    left_out_columns: registration.leftOut ?? {},
  };
}

/** The payload columns in which files differ, by key: their kinds, and the number of files without values. */
function differencesOf(payload: CatalogColumns['payload']) {
  const by = <T>(of: (column: PayloadColumn) => T | undefined) =>
    Object.fromEntries(
      payload.flatMap(column => (of(column) === undefined ? [] : [[column.key, of(column)!] as const])),
    );
  return { mixed_columns: by(({ kinds }) => kinds), partial_columns: by(({ filesWithout }) => filesWithout) };
}

function differenceRows(payload: CatalogColumns['payload'], files: number): [string, string][] {
  const { mixed_columns, partial_columns } = differencesOf(payload);
  const mixed = Object.entries(mixed_columns).map(([key, kinds]) => `${key} (${kinds.join(', ')})`);
  const partial = Object.entries(partial_columns).map(([key, without]) => `${key} (${without} of ${files})`);
  return [
    ...(mixed.length > 0 ? [['  columns of several types', mixed.join(', ')] as [string, string]] : []),
    ...(partial.length > 0 ? [['  columns null in some files', partial.join(', ')] as [string, string]] : []),
  ];
}

function leftOutRows({ leftOut = {} }: Pick<CatalogRegistration, 'leftOut'>): [string, string][] {
  const columns = Object.entries(leftOut).map(([name, type]) => `${name} (${type})`);
  return columns.length > 0 ? [['  columns left out by type', columns.join(', ')]] : [];
}

function footprintText({ coverage }: CatalogRegistration): string {
  const { order, source, sparse } = coverage;
  const why = sparse
    ? ` (order ${sparse.order} would have had ${Number(sparse.rowsPerPixel.toPrecision(2))} rows per pixel)`
    : '';
  return `order ${order}, from ${source}${why}: ${Number((100 * skyFraction(coverage)).toPrecision(4))}% of the sky`;
}

function describe(registration: CatalogRegistration): string {
  const { name, location, added_at, partitions, coverage, missing_columns } = summaryOf(registration);
  const { columns, counted, hats, definition, replaced } = registration;
  return `${name}\n${table([
    ['  release', registeredRelease(registration)],
    ...(replaced === undefined ? [] : [['  replaces', replaced] as const]),
    ...(definition ? [['  ids', `${definition.idColumn}${columns.hasTextIds ? ', texts' : ''}`] as const] : []),
    ...(definition?.radius ? [['  radius', radiusText(definition.radius, '')] as const] : []),
    ['  location', location],
    ['  added', added_at],
    ['  partitions', partitions],
    ...(counted
      ? rowCountsOf(hats.rows, counted, columns)
      : [['  rows', `${hats.rows ?? 'not'} stated, not counted`] as const]),
    ['  footprint', footprintText(registration)],
    ...(coverage.pixels_left_out
      ? [['  left out of it', `${coverage.pixels_left_out} pixels that no partition touches`] as const]
      : []),
    ['  columns that are null', missing_columns.join(', ') || 'none'],
    ...differenceRows(
      columns.payload,
      registration.partitions.reduce((sum, { files }) => sum + files.length, 0),
    ),
    ...leftOutRows(registration),
  ])}`;
}
