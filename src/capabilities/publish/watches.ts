/**
 * The operator's watches, from the file in PUBLISH_WATCHES: they select which events are published to which topics.
 */

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { toJson } from '@nearsky/astrotables/json';
import { AreaIndex, type Region } from '@nearsky/sky-index/areas';
import { readFilters } from '../../core/answers/read_filters.ts';
import { messageOf, mustBe } from '../../core/base/error_text.ts';
import { ConfigError } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { type Kind, matching, oneOf } from '../../core/contract/kind.ts';
import { DEFAULT_CREDIBLE_LEVEL } from '../../core/contract/limits.ts';
import { ANY_NUMBER } from '../../core/documents/kinds.ts';
import type { Store } from '../../core/store/store.ts';
import type { RemovedObject } from '../../core/store/types.ts';
import { readRegion } from '../areas/area_task.ts';
import { EVENT_KINDS, type EventKind, eventTest, type WithSources, withSources } from '../streams/event_test.ts';
import type { MatchMessage, MessageReader } from '../streams/message.ts';
import { OBJECT_STREAM_PARAMETERS } from '../streams/parameters.ts';

export interface Watch {
  readonly name: string;
  readonly topic: string;
  readonly stream: EventKind;
  /** Undefined for the whole sky. */
  readonly region: Region | undefined;
  /** Whether an event meets the filters and has the status; undefined if there are none. */
  readonly meets: ReturnType<typeof eventTest> | undefined;
}

const FIELDS = {
  name: matching(/^.{1,100}$/, 'a string of 1 to 100 characters'),
  topic: matching(/^[\w.-]{1,249}$/, 'the name of a topic: at most 249 letters, digits and . _ -'),
  stream: oneOf(EVENT_KINDS),
  area: OBJECT_STREAM_PARAMETERS.area.kind,
  file: matching(/./, 'the path of a file'),
  level: OBJECT_STREAM_PARAMETERS.level.kind,
  radius_arcsec: OBJECT_STREAM_PARAMETERS.radius_arcsec.kind,
  status: OBJECT_STREAM_PARAMETERS.status.kind,
} satisfies Record<string, Kind<unknown>>;
const NAMES = [...Object.keys(FIELDS), 'filters'];

type Entry = Readonly<Record<string, unknown>>;
type FieldName = keyof typeof FIELDS;
type ValueOf<N extends FieldName> = (typeof FIELDS)[N] extends Kind<infer T> ? T : never;

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Reads the watches with their areas.
 * @param file JSON: a list of watches; paths in it are relative to its directory
 * @param maxAreas the maximum number of watches that have an area
 * @throws ConfigError naming the watch and what is wrong with it
 */
export async function readWatches(file: string, catalogs: Catalogs, maxAreas: number): Promise<readonly Watch[]> {
  const cannot = (why: string) => new ConfigError(`Cannot use the watches in ${file} because ${why}`);
  let entries: unknown;
  try {
    entries = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw cannot(`it cannot be read: ${messageOf(error)}`);
  }
  if (!Array.isArray(entries) || !entries.every(isEntry)) throw cannot('it must be a JSON list of objects');
  const areas = entries.filter(({ area, file }) => area !== undefined || file !== undefined).length;
  if (areas > maxAreas)
    throw cannot(`it has ${areas} areas, but NEARSKY_MAX_STREAM_AREAS allows ${maxAreas}: raise that setting`);
  const watches: Watch[] = [];
  for (const [i, entry] of entries.entries()) {
    try {
      watches.push(await readWatch(entry, dirname(file), catalogs));
    } catch (error) {
      throw cannot(`of watch ${i + 1}: ${messageOf(error)}`);
    }
  }
  const twice = watches.find(({ name }, i) => watches.findIndex(other => other.name === name) < i);
  if (twice) throw cannot(`two watches have the name ${twice.name}`);
  return watches;
}

async function readWatch(entry: Entry, directory: string, catalogs: Catalogs): Promise<Watch> {
  const unknown = Object.keys(entry).find(name => !NAMES.includes(name));
  if (unknown !== undefined) throw new Error(`${unknown} is not a key of a watch; the keys are ${NAMES.join(', ')}`);
  const { filters = {} } = entry;
  if (!isEntry(filters)) throw new Error(mustBe('filters', 'a JSON object of filters', toJson(filters)));
  const values = readFilters(Object.entries(filters), catalogs, ({ name, kind }, value) =>
    kind === 'catalog' ? `${value}` : valid(name, ANY_NUMBER, value),
  );
  const stream = optional(entry, 'stream') ?? 'matches';
  const status = optional(entry, 'status');
  if (status !== undefined && stream === 'matches') throw new Error('status is allowed for the stream of objects only');
  const conditions = { filters: values ?? undefined, status };
  return {
    name: required(entry, 'name'),
    topic: required(entry, 'topic'),
    stream,
    region: await regionOf(entry, directory),
    meets: values || status ? eventTest(stream, conditions, catalogs) : undefined,
  };
}

async function regionOf(entry: Entry, directory: string): Promise<Region | undefined> {
  const [area, file] = [optional(entry, 'area'), optional(entry, 'file')];
  const [level, radiusArcsec] = [optional(entry, 'level'), optional(entry, 'radius_arcsec')];
  if (area !== undefined && file !== undefined) throw new Error('it has both an area and a file: leave out one');
  if (file !== undefined)
    return readRegion(await readFile(resolve(directory, file)), level ?? DEFAULT_CREDIBLE_LEVEL, radiusArcsec);
  if (level !== undefined || radiusArcsec !== undefined) throw new Error('level and radius_arcsec need a file');
  return area === undefined ? undefined : readRegion(Buffer.from(area), DEFAULT_CREDIBLE_LEVEL, undefined);
}

function required<N extends FieldName>(entry: Entry, name: N): ValueOf<N> {
  const value = optional(entry, name);
  if (value === undefined) throw new Error(`it has no ${name}`);
  return value;
}

function optional<N extends FieldName>(entry: Entry, name: N): ValueOf<N> | undefined {
  const value = entry[name];
  return value === undefined ? undefined : valid(name, FIELDS[name] as Kind<ValueOf<N>>, value);
}

function valid<T>(name: string, kind: Kind<T>, value: unknown): T {
  const parsed = kind.parse(value);
  if (parsed === undefined) throw new Error(mustBe(name, kind.must, typeof value === 'string' ? value : toJson(value)));
  return parsed;
}

/** Yields events with the topics to which they are published. Events without a topic are left out. */
export class WatchedMessages implements MessageReader {
  readonly #store: Store;
  readonly #source: MessageReader;
  /** The topic to which all events are published. */
  readonly #topic: string | undefined;
  readonly #everywhere: readonly Watch[];
  readonly #inAreas = new AreaIndex<Watch>();

  /** @param watches the watches for the stream to which the source's events belong */
  constructor(store: Store, source: MessageReader, topic: string | undefined, watches: readonly Watch[]) {
    [this.#store, this.#source, this.#topic] = [store, source, topic];
    this.#everywhere = watches.filter(({ region }) => !region);
    for (const watch of watches) if (watch.region) this.#inAreas.add(watch, watch.region);
  }

  messages(diaObjectId: bigint, version: number | undefined, removed?: RemovedObject): readonly MatchMessage[] {
    const messages = this.#source.messages(diaObjectId, version, removed);
    const position = messages[0]?.position;
    const inside = position ? [...this.#inAreas.at(position.ra, position.dec)] : [];
    const watches = [...this.#everywhere, ...inside];
    let object: WithSources | undefined;
    const stored = () => (object ??= withSources(this.#store, diaObjectId));
    return messages.flatMap(message => {
      const met = watches.filter(({ meets }) => meets?.(message, stored()) ?? true);
      const topics = new Set(met.map(({ topic }) => topic));
      if (this.#topic !== undefined) topics.add(this.#topic);
      return topics.size > 0 ? [{ ...message, topics: [...topics] }] : [];
    });
  }
}
