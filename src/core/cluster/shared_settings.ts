/**
 * The state that all nodes of a log share: the settings that affect stored data, which the first node wrote to the log,
 * and the level of the log.
 */
import type { Config } from '../config/config.ts';
import { brokerSetting, declaringBrokers } from '../contract/brokers.ts';
import { PROJECT_CATALOGS } from '../contract/catalogs.ts';
import { readLevel } from '../store/level.ts';
import { storedSettings } from '../store/meta.ts';
import { readNodes } from '../store/nodes.ts';
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store_error.ts';
import type { StoreReader } from '../store/store_reader.ts';
import type { Writer } from '../store/writer.ts';

const CATALOGS = 'the catalogs of this release';

/** The values as strings, by the name of the setting. */
export function sharedSettings(config: Config): Readonly<Record<string, string>> {
  const names = [
    'CROSSMATCH_RADIUS_ARCSEC',
    'CROSSMATCH_PROPER_MOTION',
    'MATCH_PRIOR_COMPLETENESS',
    'TNS_MATCH_RADIUS_ARCSEC',
    'MIN_DIASOURCE_RELIABILITY',
    'NEARSKY_RETENTION_DAYS',
    ...declaringBrokers.flatMap(({ name }) => [
      brokerSetting(name, 'DECLARED_MIN_RELIABILITY'),
      brokerSetting(name, 'DECLARED_MIN_RELIABILITY_AS_OF'),
    ]),
  ] as const;
  const releases = PROJECT_CATALOGS.all.map(({ name, release }) => `${name} (${release})`);
  return { ...Object.fromEntries(names.map(name => [name, `${config[name]}`])), [CATALOGS]: releases.join(', ') };
}

/**
 * Describes a setting that differs from the log, and the remedy; undefined if none differs. Settings that the log does
 * not have are ignored, because they belong to another release.
 */
export function whySettingsDiffer(store: StoreReader, config: Config): string | undefined {
  const shared = storedSettings.read(store.databases);
  const own = sharedSettings(config);
  const name = Object.keys(own).find(each => shared?.[each] !== undefined && shared[each] !== own[each]);
  if (name === undefined) return undefined;
  const differs = `${name} is ${own[name]} here, but ${shared![name]} in the log of the nodes`;
  const same = name === CATALOGS ? 'install the same release on all' : `set it to ${shared![name]}`;
  return `${differs}: ${same}, or apply this node's settings to all nodes with \`nearsky node settings\``;
}

/** Writes this node's settings, and the level of its release, to a new log that has no settings yet. */
export async function shareSettings(store: Store, writer: Writer, config: Config): Promise<void> {
  store.resetRead();
  if (storedSettings.read(store.databases)) return;
  await raiseLevel(store, writer);
  await writer.commit({ kind: 'share_settings', settings: sharedSettings(config), isReplacing: false });
}

/**
 * Raises the level of the log to the highest that this release reads, unless it is already there.
 * @throws StoreError if a node that has reported itself recently cannot read that level; the level is then unchanged
 */
export async function raiseLevel(store: Store, writer: Writer): Promise<void> {
  store.resetRead();
  const { readableLevel } = store;
  if (readLevel(store.databases) >= readableLevel) return;
  const behind = readNodes(store.databases).filter(({ level }) => level < readableLevel);
  if (behind.length > 0) {
    const nodes = behind.map(({ node, level }) => `${node} (up to ${level})`).join(', ');
    throw new StoreError(
      `Cannot raise the level of the log to ${readableLevel} because nodes that reported within the last five minutes cannot read it: ${nodes}. Upgrade these first. A node that is gone for good is ignored after that time`,
    );
  }
  await writer.commit({ kind: 'level', level: readableLevel });
}
