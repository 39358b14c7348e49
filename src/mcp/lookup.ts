/** The tool that looks up identifiers (docs/contract.md, Connector). */

import { COMPACT, toJson } from '@nearsky/astrotables/json';
import type { LookupInput } from '../answers/queries.ts';
import type { SentValue } from '../base/json_reader.ts';
import type { Config } from '../config/config.ts';
import { type ApiResult, idInput, lookUp } from './answers.ts';
import { classifyAll, type PlacedIdentifier } from './identifiers.ts';
import { lookupCommand } from './recipes.ts';
import { IDENTIFIER_STATUSES, meaningOf, noObjectWithin, notesOf, type Summary, summaryOf } from './summary.ts';
import type { ToolContext } from './tool_context.ts';

/** The result of one identifier. */
interface Entry {
  readonly identifier: PlacedIdentifier;
  /** Undefined if nothing could be looked up. */
  readonly result: ApiResult | undefined;
  /** The objects of the result that are shown. */
  readonly objects: Summary[];
}

type Reason = 'chat_object_limit' | 'chat_size_limit' | 'api_listing_limit';

/** The text of the answer. */
export async function lookUpIdentifiers(list: readonly SentValue[], context: ToolContext): Promise<string> {
  const { service } = context;
  const { config } = service;
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
  return new LookupAnswer(list.length, entries, context).text();
}

function inputOf(identifier: PlacedIdentifier, config: Config): LookupInput | undefined {
  if (identifier.kind === 'diaObjectId') return idInput(identifier.canonical);
  if (identifier.kind !== 'tns_name') return undefined;
  const { name, canonical } = identifier;
  return { kind: 'tns', ...name, radiusArcsec: config.TNS_MATCH_RADIUS_ARCSEC, sent: `"${canonical}"` };
}

class LookupAnswer {
  readonly #requested: number;
  readonly #all: readonly Entry[];
  readonly #context: ToolContext;
  readonly #reasons = new Set<Reason>();
  #shown: Entry[];

  constructor(requested: number, entries: readonly Entry[], context: ToolContext) {
    this.#requested = requested;
    this.#all = entries;
    this.#context = context;
    const { config } = context.service;
    this.#shown = this.#upTo(config.MCP_MAX_OBJECTS);
    if (entries.some(({ result }) => (result?.total ?? 0) > config.API_MAX_OBJECTS_PER_POSITION)) {
      this.#reasons.add('api_listing_limit');
    }
  }

  /** The answer, with as many objects as fit. */
  text(): string {
    const max = this.#context.service.config.MCP_MAX_RESULT_CHARS;
    let text = toJson(this.#wire(), COMPACT);
    while (text.length > max && this.#dropLast()) {
      this.#reasons.add('chat_size_limit');
      text = toJson(this.#wire(), COMPACT);
    }
    return text;
  }

  /** The first entries, with at most `max` objects in total. */
  #upTo(max: number): Entry[] {
    const shown: Entry[] = [];
    let room = max;
    for (const entry of this.#all) {
      const objects = entry.objects.slice(0, room);
      if (objects.length < totalOf(entry)) this.#reasons.add('chat_object_limit');
      if (objects.length === 0 && entry.objects.length > 0) break;
      shown.push({ ...entry, objects });
      room -= objects.length;
    }
    return shown;
  }

  /**
   * Removes the last object; if it was the entry's only object, removes the entry, too. If no objects are left, removes
   * the last entry. Returns false when nothing is left.
   */
  #dropLast(): boolean {
    const last = this.#shown.findLast(({ objects }) => objects.length > 0) ?? this.#shown.at(-1);
    last?.objects.pop();
    if (last?.objects.length === 0) this.#shown = this.#shown.filter(entry => entry !== last);
    return last !== undefined;
  }

  #wire() {
    const shown = this.#shown.flatMap(({ objects }) => objects);
    const results = this.#shown.map(entry => entryWire(entry, this.#context.service.config));
    return {
      requested: this.#requested,
      objects_found: sum(this.#all.map(foundIn)),
      objects_returned: shown.length,
      truncated: this.#reasons.size > 0,
      truncation: this.#reasons.size > 0 ? this.#truncation() : undefined,
      results,
      ...notesOf(
        shown,
        results.map(({ status }) => status),
      ),
    };
  }

  #truncation() {
    const { config } = this.#context.service;
    const { API_MAX_OBJECTS_PER_POSITION: perName, API_MAX_OBJECTS_PER_REQUEST: perRequest } = config;
    const identifiers = this.#all.length - this.#shown.length;
    const objects = sum(this.#all.map(foundIn)) - sum(this.#shown.map(shownIn));
    const command = lookupCommand(
      this.#context.base,
      this.#all.map(({ identifier }) => identifier),
      config,
    );
    return {
      reasons: [...this.#reasons],
      full_results: {
        note:
          `${identifiers} of ${this.#all.length} identifiers and ${objects} objects are left out here. This command looks up every ` +
          `identifier, with up to ${perName} objects for each TNS name and ${perRequest} in one request; /api/cone at a name's position ` +
          'pages through all of its objects.',
        curl: command,
      },
    };
  }
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
