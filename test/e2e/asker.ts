/** Queries a service that may be killed at any moment, and checks that it keeps its promises. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import type { Place } from '../oracle/skies.ts';
import type { Expected } from './expected.ts';
import { random } from './kill_support.ts';
import { idOf } from './live_brokers.ts';
import { eventually, get } from './support.ts';
import type { Transients } from './transients.ts';

const RANK: Record<string, number> = { not_in_service: 0, crossmatch_pending: 1 };
const rankOf = (status: string) => RANK[status] ?? 2;

/** Queries a service that may be killed at any moment, and remembers what it has acknowledged. */
export class Asker {
  readonly #places: readonly Place[];
  readonly #expected: readonly Expected[];
  readonly #transients: Transients;
  readonly #url: () => string | undefined;
  /** By object, its earliest acknowledged state. */
  readonly ranks = new Map<number, number>();
  answers = 0;
  #isStopping = false;
  readonly #ended: Promise<void>;
  failure: unknown;

  constructor(
    places: readonly Place[],
    expected: readonly Expected[],
    transients: Transients,
    url: () => string | undefined,
  ) {
    this.#places = places;
    this.#expected = expected;
    this.#transients = transients;
    this.#url = url;
    this.#ended = this.#run().catch(error => {
      this.failure = error;
    });
  }

  async #run(): Promise<void> {
    const questions = [() => this.#object(), () => this.#transient(), () => this.#cone()];
    while (!this.#isStopping) {
      const asked = this.#url();
      try {
        if (asked) await questions[Math.floor(3 * random())]!();
      } catch (error) {
        // The service was killed meanwhile, and the error may arrive first.
        if (error instanceof assert.Assertion || !asked) throw error;
        await eventually(`${asked} is gone: ${error}`, async () => this.#url() !== asked || undefined);
      }
      await sleep(5);
    }
  }

  async #ask(path: string) {
    const { results } = await get(`${this.#url()}${path}`);
    this.answers++;
    return results[0];
  }

  async #object(): Promise<void> {
    const object = Math.floor(this.#places.length * random());
    const { objects } = await this.#ask(`/api/objects/${idOf(object)}`);
    assert.is(objects.length, 1);
    const rank = rankOf(objects[0].status);
    const known = this.ranks.get(object) ?? 0;
    assert.ok(rank >= known, `${idOf(object)} was ${known} and is ${objects[0].status}`);
    this.ranks.set(object, rank);
    if (rank < 2) return;
    const { status, matches } = this.#expected[object]!;
    assert.equal([objects[0].status, namesOf(objects[0].matches)], [status, namesOf(matches)]);
  }

  async #transient(): Promise<void> {
    const i = this.#transients.someNamedAlike();
    const name = this.#transients.former.records[i]!.name;
    const { tns, tns_snapshot_epoch } = await this.#ask(`/api/tns/${name}`);
    const record = this.#transients.ofEpoch(1000 * Date.parse(tns_snapshot_epoch)).records[i]!;
    assert.equal([tns.ra, tns.dec], [record.ra, record.dec]);
  }

  async #cone(): Promise<void> {
    const { ra, dec } = this.#places[Math.floor(this.#places.length * random())]!;
    const { objects } = await this.#ask(`/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=1&detail=ids`);
    const ids: string[] = objects.map(({ diaObjectId_str }: { diaObjectId_str: string }) => diaObjectId_str);
    assert.is(new Set(ids).size, ids.length);
  }

  abandon(): void {
    this.#isStopping = true;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#ended;
    if (this.failure) throw this.failure;
  }
}

export const namesOf = (matches: readonly { catalog_name: string; catalog_source_id: string }[]) =>
  matches.map(({ catalog_name, catalog_source_id }) => `${catalog_name} ${catalog_source_id}`);
