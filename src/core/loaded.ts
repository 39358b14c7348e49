/** Loads what capabilities need in a thread. */
import { type Counter, Counts, MAX_COUNTERS } from './base/counts.ts';
import { messageOf } from './base/error_text.ts';
import { allLimits } from './documents/limits.ts';
import type { Api, Capability, PartOf, Served } from './host.ts';

/** @throws Error naming a capability with a counter that cannot be used */
export function countersOf(capabilities: readonly Capability[]): readonly Counter[] {
  const all: Counter[] = [];
  for (const { name: owner, counters = [] } of capabilities)
    for (const counter of counters) {
      const { name } = counter;
      if (!/^[a-z][a-z0-9_]*_total$/.test(name))
        throw unusable(owner, `the counter ${name} is no name ending in _total`);
      if (all.some(other => other.name === name)) throw unusable(owner, `another counter is named ${name}`);
      if (all.push(counter) > MAX_COUNTERS) throw unusable(owner, `there are more than ${MAX_COUNTERS} counters`);
    }
  return all;
}

/** Adds the counters to `/metrics`. */
function counting(counters: readonly Counter[]): PartOf {
  return ({ state }) => {
    const counts = new Counts(counters, state.counts);
    return {
      addMetrics(exposition) {
        for (const counter of counters) exposition.counter(counter.name, counter.help, [[{}, counts.get(counter)]]);
      },
    };
  };
}

/** @throws Error naming a capability that cannot be loaded, or whose operations have the name or path of another one's */
export async function loadApi(capabilities: readonly Capability[]): Promise<Api> {
  const loaded = await Promise.all(
    capabilities.map(async ({ name, serve }) => ({ name, served: (await namingErrors(name, serve)) ?? {} })),
  );
  const owners = new Map<string, string>();
  const served: readonly Served[] = loaded.map(({ served }) => served);
  /** A path is the same one if only its parameters have other names. */
  const claim = (capability: string, place: string) => {
    const key = place.replaceAll(/:\w+/g, ':');
    const owner = owners.get(key) ?? capability;
    if (owner !== capability) throw unusable(capability, `${owner} has ${place}, too`);
    owners.set(key, owner);
  };
  for (const { name: owner, served } of loaded) {
    for (const { name, path } of served.operations ?? [])
      for (const place of [`the operation ${name}`, `the path ${path}`]) claim(owner, place);
    for (const name of Object.keys(served.schemas ?? {})) claim(owner, `the schema ${name}`);
    for (const { name } of served.tools ?? []) claim(owner, `the tool ${name}`);
    if (served.elsewhere) claim(owner, 'the answer to all other paths');
  }
  const api: Api = {
    operations: served.flatMap(({ operations }) => operations ?? []),
    counters: countersOf(capabilities),
    resources: service =>
      loaded.flatMap(({ name, served }) => {
        const resources = served.resources?.(service, api) ?? [];
        for (const { path } of resources) claim(name, `the path ${path}`);
        return resources;
      }),
    schemas: Object.assign({}, ...served.map(({ schemas }) => schemas)),
    documented: (config, catalogs) => served.flatMap(({ documented }) => documented?.(config, catalogs) ?? []),
    setup: (config, base) => served.flatMap(({ setup }) => setup?.(config, base) ?? []),
    tools: served.flatMap(({ tools }) => tools ?? []),
    hasPages: served.some(({ elsewhere }) => elsewhere !== undefined),
    limits: allLimits(served.flatMap(({ limits }) => limits ?? [])),
    vosiCapabilities: (config, base) =>
      served.map(({ vosiCapability }) => vosiCapability?.(config, base) ?? '').join(''),
    bodies: config => served.flatMap(({ bodies }) => bodies?.(config) ?? []),
    writers: Object.assign({}, ...served.map(({ writers }) => writers)),
    elsewhere: served.find(({ elsewhere }) => elsewhere)?.elsewhere,
  };
  return api;
}

/**
 * The makers of what exists once per process.
 * @throws Error naming a capability that cannot be loaded; makers and parts throw such errors, too
 */
export async function loadParts(capabilities: readonly Capability[]): Promise<readonly PartOf[]> {
  const loaded = await Promise.all(
    capabilities.map(async ({ name, main }) => ({ name, part: (await namingErrors(name, main))?.part })),
  );
  const parts = loaded.flatMap(({ name, part }) => {
    if (!part) return [];
    const naming = <T>(work: () => T): T => {
      try {
        return work();
      } catch (error) {
        throw unusable(name, messageOf(error), error);
      }
    };
    const makes: PartOf = host => {
      const made = naming(() => part(host));
      return {
        start: () => naming(() => made.start?.()),
        addMetrics: exposition => naming(() => made.addMetrics?.(exposition)),
        close: () => made.close?.(),
      };
    };
    return makes;
  });
  return [...parts, counting(countersOf(capabilities))];
}

async function namingErrors<T>(name: string, load?: () => Promise<T>): Promise<T | undefined> {
  try {
    return await load?.();
  } catch (error) {
    throw unusable(name, messageOf(error), error);
  }
}

function unusable(name: string, why: string, cause?: unknown): Error {
  return new Error(`Cannot use the capability ${name} because ${why}`, { cause });
}
