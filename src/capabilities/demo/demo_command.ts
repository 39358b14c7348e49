/** `nearsky demo`: the sample that ships with nearsky, ingested, crossmatched and served. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, limited } from '../../core/base/log.ts';
import { requireFreePort } from '../../core/base/ports.ts';
import { programFile } from '../../core/base/program_files.ts';
import { nowUs } from '../../core/base/times.ts';
import { type Command, type Invocation, LISTEN_OPTIONS, tell } from '../../core/cli/command.ts';
import type { Config } from '../../core/config/config.ts';
import type { BrokerName } from '../../core/contract/brokers.ts';
import { CATALOGS } from '../../core/contract/catalogs.ts';
import { defaultThreads } from '../../core/pool/pool.ts';
import { openStore, type Store } from '../../core/store/store.ts';
import { Writer } from '../../core/store/writer.ts';
import { registerCatalog } from '../catalogs/register.ts';
import { crossmatchPool } from '../crossmatch/crossmatch_pool.ts';
import { crossmatchPending, settingsOf } from '../crossmatch/crossmatcher.ts';
import { ingestFile } from '../ingest/files.ts';
import { Ingester } from '../ingest/ingester.ts';
import { RejectLog } from '../ingest/rejects.ts';
import { RegistryLoader } from '../names/loader.ts';
import { readPublicPath } from '../names/public_file.ts';
import { publishLoad } from '../names/registry_writer.ts';

const SAMPLE = programFile('sample');

const ALERTS: readonly (readonly [broker: BrokerName, file: string])[] = [
  ['lasair', 'lasair.ndjson'],
  ['antares', 'antares.ndjson'],
  ['pittgoogle', 'pittgoogle.ndjson'],
];
/** Ingested after the crossmatch, so that some objects stay pending. */
const LATE_ALERTS = ['lasair', 'lasair-late.ndjson'] as const;

/** Addresses to try; sample/README.md says more about these objects. */
const EXAMPLES: readonly (readonly [path: string, shows: string])[] = [
  ['/api/objects/313637935709683761', 'a supernova candidate with a source in all four catalogs'],
  ['/api/objects/9000000000000000004?detail=full', 'a real Gaia star within 1.0 arcsec, with its columns'],
  ['/api/objects/313664312957206554', 'searched, no match: the nearest source is 1.0005 arcsec away'],
  ['/api/objects/169579900785655908', 'outside the footprint of every catalog: not searched'],
  ['/api/objects/9000000000000000001', 'an alert whose position is invalid'],
  ['/api/objects/169641483339038753', 'ingested after the crossmatch: pending'],
  ['/api/objects/170028513894596704', 'not in service: its reliability is below the cut'],
  ['/api/tns/SN2099aaa', 'a made-up transient of the registry sample, and the object at its position'],
  ['/api/cone?ra=221.596&dec=-40.0&radius_arcsec=60', 'the objects within 60 arcsec of a position'],
  ['/api/status', 'the service itself'],
];

const NOTICE = 'Demo: most catalog rows and TNS names are made up.';

export const command: Command = {
  usage: 'demo [--host HOST] [--port PORT]',
  description: `Makes a data directory from the sample that ships with nearsky (real alerts; see sample/README.md),
crossmatches it and serves it until it gets SIGTERM or SIGINT. It prints a few addresses to open.
The data directory is temporary and is removed at the end, unless --data names a missing or empty
directory, which is kept.`,
  options: LISTEN_OPTIONS,
  defaults: { PAGES_NOTICE: NOTICE },
  example: 'nearsky demo --port 8080',
  async run({ config, options, serve }) {
    // The port is checked first, so that a port in use is reported at once.
    if (config.NEARSKY_PORT !== 0) await requireFreePort(config.NEARSKY_HOST, config.NEARSKY_PORT);
    const given = options.get('data');
    if (given !== undefined) {
      requireEmpty(given);
      await demo(config, serve);
      return 0;
    }
    const temporary = mkdtempSync(join(tmpdir(), 'nearsky-demo-'));
    const remove = () => rmSync(temporary, { recursive: true, force: true });
    // The `exit` event fires whatever ends the process, except SIGKILL.
    process.once('exit', remove);
    await demo({ ...config, NEARSKY_DATA: temporary }, serve);
    return 0;
  },
};

function requireEmpty(directory: string): void {
  let held: string[] = [];
  try {
    held = readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  if (held.length > 0)
    throw new Error(
      `Cannot make the demo in ${directory} because it is not empty (${held[0]}): give --data another directory`,
    );
}

async function demo(config: Config, serve: Invocation['serve']): Promise<void> {
  const leave = () => process.exit(0);
  process.on('SIGINT', leave).on('SIGTERM', leave);
  await prepare(config);
  process.off('SIGINT', leave).off('SIGTERM', leave);
  await serve({ ...config, NEARSKY_LOG: null }, { onListening: announce, log: tellEvent });
}

/** Fills the data directory. */
async function prepare(config: Config): Promise<void> {
  await using store = openStore(config.NEARSKY_DATA, 'write');
  const writer = new Writer(store);
  for (const alerts of ALERTS) await ingest(config, writer, ...alerts);
  for (const definition of CATALOGS) {
    const location = join(SAMPLE, 'catalogs', definition.name);
    const registration = await registerCatalog(definition, location, { addedAtUs: nowUs() });
    await writer.commit({ kind: 'register_catalog', registration });
    say(`catalog ${definition.name}: ${registration.hats.rows} rows, footprint from ${registration.coverage.source}`);
  }
  await loadRegistry(config, writer);
  await crossmatch(config, store, writer);
  await ingest(config, writer, ...LATE_ALERTS);
}

async function crossmatch(config: Config, store: Store, writer: Writer): Promise<void> {
  await using pool = crossmatchPool(config, defaultThreads());
  const { statuses } = await crossmatchPending({ store, writer, pool, ...settingsOf(config, store, pool) });
  say(`crossmatch: ${counts(statuses)}`);
}

async function ingest(config: Config, writer: Writer, broker: BrokerName, file: string): Promise<void> {
  using rejects = new RejectLog(config, broker);
  const ingester = new Ingester(writer, rejects);
  await ingestFile(join(SAMPLE, 'alerts', file), { broker, config, ingester });
  say(`ingest ${file}: ${counts({ ...ingester.counts })}`);
  for (const reject of ingester.firstRejects)
    if ('line' in reject)
      say(
        `  rejected on purpose, to show it: line ${reject.line} is cut off. It is kept, with its reason, and the rest is stored.`,
      );
}

/**
 * Loads the sample's registry with the current time as its epoch, because names are resolved only by a current
 * registry.
 */
async function loadRegistry(config: Config, writer: Writer): Promise<void> {
  using rejects = new RejectLog(config, 'tns');
  const loader = new RegistryLoader({ writer, rejects, onBatch: () => {} });
  const file = join(SAMPLE, 'tns', 'tns_public_objects.csv');
  const { load, epochUs, objects } = await loader.stage(readPublicPath(file), file, nowUs);
  await publishLoad(writer, load, epochUs);
  say(`tns: ${objects} objects of the registry`);
}

const counts = (named: Readonly<Record<string, number>>) =>
  Object.entries(named)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`)
    .join(', ');

/**
 * Writes the service's log events as text between the demo's lines. `index_ready` is left out because `announce`
 * reports it, and `stopping` because the user caused it.
 */
const tellEvent: Log = limited((event, fields = {}) => {
  if (event === 'stopping' || event === 'index_ready') return;
  const details = Object.entries(fields).map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`);
  tell(`${event.replaceAll('_', ' ')}${details.length > 0 ? `: ${details.join(', ')}` : ''}`);
});

function announce(url: string): void {
  say(`\nOpen ${url}/ in a browser for the pages of this service. Addresses for programs, and what each shows:`);
  for (const [path, shows] of EXAMPLES) say(`\n${shows}:\n  ${url}${path}`);
  say('\nCtrl-C ends the demo.');
  say(`listening on ${url}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
