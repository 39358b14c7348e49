/** Finds the objects of a sample's inputs, and what the archive records of them (docs/contract.md, Sample). */
import type { InSteps, QueryContext, Steps } from '../../core/answers/context.ts';
import { shownStatus } from '../../core/answers/object_writer.ts';
import { type Query, type QueryKind, queryKind } from '../../core/answers/queries.ts';
import type { InputStatus, ObjectStatus } from '../../core/contract/enums.ts';
import { type Verdict, verdictOf } from '../../core/contract/verdict.js';
import { worthOf } from '../../core/store/match_statistics.ts';
import { type ObjectView, readAssociation } from '../../core/store/object_record.ts';
import type { RecordedOutcome, SkyPosition } from '../../core/store/types.ts';
import { WEIGHT_OF_INPUTS } from '../objects/lookup_answer.ts';
import type { LookupInput } from '../objects/queries.ts';
import { type Found, findCircle, findName, type Row, readRow, rowsWithin, separationOf } from '../objects/search.ts';
import { SAME_PLACE_ARCSEC } from './limits.ts';

/** One input, and its name in the report. */
export interface SampleInput {
  readonly input: LookupInput;
  readonly label: string | null;
}

/** An object's entry in the registry, or the entry of a name. */
export interface RegistryEntry {
  readonly name: string;
  readonly classification: string | null;
  readonly redshift: number | null;
}

/** What a catalog says of a source. */
export interface JudgedSource {
  readonly id: string;
  readonly separationArcsec: number;
  /** Sources per square arcmin; null if it is unknown. */
  readonly density: number | null;
  readonly verdict: Verdict;
  readonly reason: string;
}

/** The outcome that the archive records for a catalog. */
export interface RecordedCell {
  readonly outcome: RecordedOutcome;
  readonly source: JudgedSource | undefined;
}

/** The object of an input; null where there is none. */
export interface Resolved {
  readonly label: string | null;
  /** That of the object, or of an input without one. */
  readonly status: ObjectStatus | InputStatus;
  readonly id: string | null;
  /** Further objects within SAME_PLACE_ARCSEC, ascending. */
  readonly samePlace: readonly string[];
  /** The position of the object, or of an input without one. */
  readonly position: SkyPosition | null;
  /** The separation of the object from the input's position, arcsec. */
  readonly separationArcsec: number | null;
  readonly tns: RegistryEntry | null;
  /** By catalog; empty for an object that is pending. */
  readonly recorded: Readonly<Record<string, RecordedCell>>;
  readonly error: string | null;
}

export interface SampleQuery extends Query {
  readonly kind: QueryKind<SampleQuery>;
  readonly inputs: readonly SampleInput[];
  /** Receives the results, in the order of the inputs. */
  readonly found: Resolved[];
}

export const SAMPLE_QUERY = queryKind<SampleQuery>({
  name: 'sample',
  answer: resolveAll,
  objects: ({ inputs }) => WEIGHT_OF_INPUTS.objects({ inputs: inputs.map(({ input }) => input) }),
  searchesIndex: () => true,
});

function* resolveAll({ inputs, found }: SampleQuery, context: QueryContext): Steps {
  for (const each of inputs) {
    if (context.clock.due) yield;
    found.push(yield* resolve(each, context));
  }
}

const NOTHING = {
  id: null,
  samePlace: [],
  position: null,
  separationArcsec: null,
  tns: null,
  recorded: {},
  error: null,
} as const;

export function* resolve({ input, label }: SampleInput, context: QueryContext): InSteps<Resolved> {
  if (input.kind === 'invalid') return { ...NOTHING, label, status: 'invalid_input', error: input.error.message };
  if (input.kind === 'id') {
    const { object } = context;
    const own = label ?? `${input.diaObjectId}`;
    if (!context.stored.readObject(input.diaObjectId, object))
      return { ...NOTHING, label: own, status: 'not_in_service' };
    return yield* withSamePlace({ ...NOTHING, label: own, ...stored(object, context) }, context);
  }
  const byName = input.kind === 'tns' ? yield* findName(context, input) : undefined;
  const found: Found = byName ?? (yield* findCircle(context, input as Extract<LookupInput, { kind: 'position' }>));
  const entry = byName?.record;
  const tns = entry
    ? { name: shownName(entry.namePrefix, entry.name), classification: entry.classification, redshift: entry.redshift }
    : null;
  const own = label ?? (input.kind === 'tns' ? input.name : null);
  const nearest = found.circle && found.rows && nearestObject(found.rows, found.circle, context);
  const position = found.circle ? { ra: found.circle.ra, dec: found.circle.dec } : null;
  if (!nearest) {
    const status = found.rows ? 'no_rubin_object' : found.status;
    return yield* withSamePlace({ ...NOTHING, label: own, status, position, tns }, context);
  }
  const { object, separationArcsec } = nearest;
  return yield* withSamePlace({ ...NOTHING, label: own, separationArcsec, ...object, tns: tns ?? object.tns }, context);
}

function nearestObject(rows: readonly Row[], circle: NonNullable<Found['circle']>, context: QueryContext) {
  const near = rows.map(row => ({ row, separationArcsec: separationOf(context, circle, row) }));
  near.sort((a, b) => a.separationArcsec - b.separationArcsec || (a.row.id < b.row.id ? -1 : 1));
  for (const { row, separationArcsec } of near) {
    const object = readRow(context, row);
    if (object) return { object: stored(object, context), separationArcsec };
  }
  return undefined;
}

const shownName = (prefix: string | null, name: string) => (prefix === null ? name : `${prefix} ${name}`);

/** What is stored of the object that was read last. */
export function stored(
  object: ObjectView,
  context: Pick<QueryContext, 'store' | 'stored' | 'fragments'>,
): Pick<Resolved, 'status' | 'id' | 'position' | 'tns' | 'recorded'> {
  const { fragments, store } = context;
  const tns = readAssociation(object.tns);
  return {
    status: shownStatus(object, fragments.current(store, object.current)),
    id: `${object.diaObjectId}`,
    position: object.position,
    tns:
      tns?.name == null
        ? null
        : { name: shownName(tns.namePrefix, tns.name), classification: tns.classification, redshift: tns.redshift },
    recorded: object.state === 'pending' ? {} : recordedCells(object, context),
  };
}

function recordedCells(
  object: ObjectView,
  { store, stored, fragments }: Pick<QueryContext, 'store' | 'stored' | 'fragments'>,
): Resolved['recorded'] {
  const { catalogs } = fragments.settings;
  const cells: Record<string, RecordedCell> = {};
  for (const [name, outcome] of object.record?.catalogOutcomes ?? []) cells[name] = { outcome, source: undefined };
  const matches = object.currentMatches();
  const sources = matches.length > 0 ? stored.readSources(object) : [];
  for (const { at, index } of matches) {
    const name = object.catalogName(at);
    const definition = catalogs.get(name);
    if (!definition) continue;
    const { keys = null, values = [] } = sources[index] ?? {};
    const payload =
      keys === null ? null : Object.fromEntries(store.payloadKeys(keys).map((key, i) => [key, values[i]]));
    const separationArcsec = object.nearness(at);
    const { source_density } = worthOf({ separationArcsec }, object.statistics(at));
    const source = {
      id: object.sourceId(at),
      separationArcsec,
      density: source_density,
      ...verdictOf(definition, payload),
    };
    cells[name] = { outcome: 'searched', source };
  }
  return cells;
}

function* withSamePlace(resolved: Resolved, context: QueryContext): InSteps<Resolved> {
  const { position, id } = resolved;
  if (!position) return resolved;
  const rows = yield* rowsWithin(context, { ...position, radiusArcsec: SAME_PLACE_ARCSEC });
  const others = rows.map(row => row.id).sort((a, b) => (a < b ? -1 : 1));
  return { ...resolved, samePlace: others.map(String).filter(other => other !== id) };
}
