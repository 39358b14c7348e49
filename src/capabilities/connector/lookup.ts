/** The tool that looks up identifiers (docs/contract.md, Connector). */

import type { SentValue } from '../../core/base/json_reader.ts';
import type { Config } from '../../core/config/config.ts';
import type { ToolContext, ToolRun } from '../../core/http/tool.ts';
import type { LookupInput } from '../objects/queries.ts';
import { answerText } from './answer_text.ts';
import { type ApiResult, idInput, lookUp } from './answers.ts';
import { classifyAll, type PlacedIdentifier } from './identifiers.ts';
import { lookupCommand } from './recipes.ts';
import { connectorSettings } from './settings.ts';
import { IDENTIFIER_STATUSES, meaningOf, noObjectWithin, notesOf, type Summary, summaryOf } from './summary.ts';

/** The result of one identifier. */
interface Entry {
  readonly identifier: PlacedIdentifier;
  /** Undefined if nothing could be looked up. */
  readonly result: ApiResult | undefined;
  /** The objects of the result that are shown. */
  readonly objects: Summary[];
}

type Reason = 'chat_object_limit' | 'chat_size_limit' | 'api_listing_limit';

export const lookUpIdentifiers =
  (list: readonly SentValue[]): ToolRun =>
  async context => {
    const { service } = context;
    const config = connectorSettings.of(service.config);
    const identifiers = classifyAll(list);
    const inputs = identifiers.map(identifier => inputOf(identifier, config));
    const known = inputs.filter(input => input !== undefined);
    const results = (await lookUp(known, config.MCP_MAX_OBJECTS, context))[Symbol.iterator]();
    const entries = identifiers.map((identifier, i): Entry => {
      const result = inputs[i] && (results.next().value as ApiResult);
      return {
        identifier,
        result,
        objects: (result?.objects ?? []).map(object => summaryOf(object, service, result?.tns?.url)),
      };
    });
    const reasons = new Set<Reason>();
    let shown = upTo(config.MCP_MAX_OBJECTS, entries, reasons);
    if (entries.some(({ result }) => (result?.total ?? 0) > config.API_MAX_OBJECTS_PER_POSITION))
      reasons.add('api_listing_limit');
    for (;;) {
      const text = answerText(answerOf(list.length, entries, shown, reasons, context));
      if (text.length <= config.MCP_MAX_RESULT_CHARS || shown.length === 0) return text;
      shown = withoutLast(shown);
      reasons.add('chat_size_limit');
    }
  };

function inputOf(identifier: PlacedIdentifier, config: Config): LookupInput | undefined {
  if (identifier.kind === 'diaObjectId') return idInput(identifier.canonical);
  if (identifier.kind !== 'tns_name') return undefined;
  const { name, canonical } = identifier;
  return { kind: 'tns', ...name, radiusArcsec: config.TNS_MATCH_RADIUS_ARCSEC, sent: `"${canonical}"` };
}

/** The first entries, with at most `max` objects in total. */
function upTo(max: number, entries: readonly Entry[], reasons: Set<Reason>): readonly Entry[] {
  const shown: Entry[] = [];
  let room = max;
  for (const entry of entries) {
    const objects = entry.objects.slice(0, room);
    if (objects.length < totalOf(entry)) reasons.add('chat_object_limit');
    if (objects.length === 0 && entry.objects.length > 0) break;
    shown.push({ ...entry, objects });
    room -= objects.length;
  }
  return shown;
}

/** The entries without their last object, and without its entry if it was the only one; else without the last entry. */
function withoutLast(shown: readonly Entry[]): readonly Entry[] {
  const last = shown.findLast(({ objects }) => objects.length > 0) ?? shown.at(-1)!;
  last.objects.pop();
  return last.objects.length === 0 ? shown.filter(entry => entry !== last) : shown;
}

function answerOf(
  requested: number,
  all: readonly Entry[],
  shown: readonly Entry[],
  reasons: ReadonlySet<Reason>,
  context: ToolContext,
) {
  const objects = shown.flatMap(({ objects }) => objects);
  const results = shown.map(entry => entryWire(entry, context.service.config));
  return {
    requested,
    objects_found: sum(all.map(foundIn)),
    objects_returned: objects.length,
    truncated: reasons.size > 0,
    truncation:
      reasons.size > 0 ? { reasons: [...reasons], full_results: fullResults(all, shown, context) } : undefined,
    results,
    ...notesOf(
      objects,
      results.map(({ status }) => status),
    ),
  };
}

function fullResults(all: readonly Entry[], shown: readonly Entry[], { service, base }: ToolContext) {
  const { API_MAX_OBJECTS_PER_POSITION: perName, API_MAX_OBJECTS_PER_REQUEST: perRequest } = service.config;
  const objects = sum(all.map(foundIn)) - sum(shown.map(shownIn));
  return {
    note:
      `${all.length - shown.length} of ${all.length} identifiers and ${objects} objects are left out here. This command looks up every ` +
      `identifier, with up to ${perName} objects for each TNS name and ${perRequest} in one request; /api/cone at a name's position ` +
      'pages through all of its objects.',
    curl: lookupCommand(
      base,
      all.map(({ identifier }) => identifier),
      service.config,
    ),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The number of objects that an entry would show without limits. */
function totalOf({ result, objects }: Entry): number {
  return result?.total ?? objects.length;
}

/** The number of the service's objects that match an identifier. */
function foundIn(entry: Entry): number {
  return entry.result?.status === 'not_in_service' ? 0 : totalOf(entry);
}

/** The number of the service's objects that an entry shows. */
function shownIn({ result, objects }: Entry): number {
  return result?.status === 'not_in_service' ? 0 : objects.length;
}

function entryWire({ identifier, result, objects }: Entry, config: Config) {
  const { position, kind } = identifier;
  if (!('canonical' in identifier)) return { position, identifier: null, kind, ...notLookedUp(kind), objects };
  return {
    position,
    identifier: identifier.canonical,
    kind,
    status: result!.status as string,
    ...whyNothing(result!, config),
    tns: tnsWire(result!),
    objects_total: result!.total ?? undefined,
    objects,
  };
}

/** The reason why a name led to no object; includes the snapshot's epoch if the registry lacks the name. */
function whyNothing({ status, tns_snapshot_epoch }: ApiResult, config: Config) {
  switch (status) {
    case 'tns_name_not_found':
    case 'resolver_unavailable':
      return { reason: `${meaningOf(status)}.`, tns_snapshot_epoch };
    case 'no_rubin_object':
      return { reason: noObjectWithin(config.TNS_MATCH_RADIUS_ARCSEC, "the registry's position") };
    default:
      return undefined;
  }
}

const [UNRECOGNIZED, PRECISION_LOST] = IDENTIFIER_STATUSES;

function notLookedUp(kind: string): { readonly status: string; readonly reason: string } {
  if (kind === 'precision_lost') {
    return { status: PRECISION_LOST.name, reason: 'Send a diaObjectId as a string: this number may have lost digits.' };
  }
  return { status: UNRECOGNIZED.name, reason: 'Give a diaObjectId in decimal digits, or a name such as SN 2026abc.' };
}

/** The registry's record of a resolved name. */
function tnsWire({ tns, tns_snapshot_epoch: snapshot_epoch }: ApiResult) {
  if (!tns) return undefined;
  const { name, name_prefix, classification, redshift, ra, dec, url } = tns;
  return { name, name_prefix, classification, redshift, ra, dec, url, snapshot_epoch };
}
