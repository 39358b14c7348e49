/** Examples for the pages: an id, a name and positions from this database. */
import { Arena } from '@nearsky/sky-index';
import { takeText } from '../../core/answers/answer_memory.ts';
import { Budget } from '../../core/base/budget.ts';
import { parseTnsName } from '../../core/contract/tns_names.ts';
import type { Service } from '../../core/service/service.ts';
import { lookupQuery } from '../objects/lookup_request.ts';
import type { LookupInput } from '../objects/queries.ts';

export interface Examples {
  readonly diaObjectId?: string;
  /** Degrees. */
  readonly position?: { readonly ra: number; readonly dec: number };
  /** A name of the registry, with its prefix. */
  readonly name?: string;
}

/** The number of objects considered as examples, taken evenly from the index. */
const SAMPLE = 100;
const BUDGET_SECONDS = 1;
/** The time for which examples are offered. */
const KEEP_MS = 600_000;
/** The time before retrying a service that was too busy. */
const RETRY_MS = 5000;

/** Finds examples for the pages, and renews them regularly. The first caller waits a few milliseconds for them. */
export class ExampleFinder {
  readonly #service: Service;
  #examples: Promise<Examples> | undefined;
  #until = 0;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Never rejects, because a page also works without examples. */
  find(): Promise<Examples> {
    if (this.#examples && performance.now() < this.#until) return this.#examples;
    this.#until = performance.now() + RETRY_MS;
    this.#examples = this.#look().then(
      found => {
        // An empty database is checked again at once, because that costs nothing.
        this.#until = found.diaObjectId === undefined ? 0 : performance.now() + KEEP_MS;
        return found;
      },
      () => ({}),
    );
    return this.#examples;
  }

  async #look(): Promise<Examples> {
    const ids = sampleOf(this.#service.coordination.generation?.arenas ?? []);
    if (ids.length === 0) return {};
    const objects = (await this.#lookup(ids.map(id => ({ kind: 'id', diaObjectId: id, sent: 'null' })))).flatMap(
      result => result.objects ?? [],
    );
    // The object with the most sources shows the most.
    const byMatches = objects.toSorted((a, b) => (b.matches?.length ?? 0) - (a.matches?.length ?? 0));
    const [first, second = first] = byMatches;
    if (!first) return {};
    const name = await this.#nameOf(byMatches);
    return {
      diaObjectId: first.diaObjectId_str,
      ...(second?.ra != null && { position: { ra: second.ra, dec: second.dec! } }),
      ...(name !== undefined && { name }),
    };
  }

  /** A name that resolves to an object now. The stored association may come from an older registry. */
  async #nameOf(objects: readonly Found[]): Promise<string | undefined> {
    const associated = objects.map(({ tns }) => tns?.name).find(each => each != null);
    const parsed = associated && parseTnsName(associated);
    if (!parsed) return undefined;
    const radiusArcsec = this.#service.config.TNS_MATCH_RADIUS_ARCSEC;
    const [result] = await this.#lookup([{ kind: 'tns', ...parsed, radiusArcsec, sent: 'null' }]);
    return result?.objects?.length ? `${result.tns?.name_prefix ?? ''} ${result.tns?.name}`.trim() : undefined;
  }

  async #lookup(inputs: readonly LookupInput[]): Promise<readonly Result[]> {
    const { config, queries } = this.#service;
    const query = lookupQuery(inputs, { detail: 'matches', filters: null, response: 'objects' }, config);
    const { body } = await queries.run(query, { client: 'pages', budget: new Budget(BUDGET_SECONDS) });
    return (JSON.parse(takeText(body)) as { results: readonly Result[] }).results;
  }
}

interface Transient {
  readonly name: string | null;
  readonly name_prefix?: string | null;
}

interface Found {
  readonly diaObjectId_str: string;
  readonly ra: number | null;
  readonly dec: number | null;
  readonly matches?: readonly unknown[];
  readonly tns?: Transient | null;
}

interface Result {
  readonly objects?: readonly Found[];
  readonly tns?: Transient | null;
}

/** Ids at even steps through the largest arena. */
function sampleOf(arenas: readonly SharedArrayBuffer[]): bigint[] {
  const largest = arenas.toSorted((a, b) => b.byteLength - a.byteLength)[0];
  if (!largest) return [];
  const arena = new Arena(largest);
  const count = Math.min(SAMPLE, arena.length);
  return Array.from({ length: count }, (_, i) => arena.id(Math.floor((i * arena.length) / count)));
}
