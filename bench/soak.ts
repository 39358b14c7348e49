/**
 * A service under everything at once, for hours: alerts, crossmatches, the registry, exports, backups, normal clients,
 * and clients that do not read. Commands are killed now and then, the service in the first fifth of the time.
 * Everything is started by the command line as separate processes. At the end every acknowledged object must be in an
 * export, once.
 */

import {
  appendFileSync,
  closeSync,
  createReadStream,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { messageOf } from '../src/core/base/error_text.ts';
import { BROKER_NAMES } from '../src/core/contract/brokers.ts';
import { seededRandom } from '../test/oracle/skies.ts';
import { writeAlerts } from './ingest.ts';
import { Program, startListening } from './processes.ts';
import { type Options, type Report, slope, type Workload } from './report.ts';
import { AskingClients, SlowReaders } from './soak_clients.ts';
import { type Line, plot } from './soak_plot.ts';
import { CATALOG, SoakSky } from './soak_sky.ts';

const HOUR_MS = 3_600_000;
const MIB = 2 ** 20;
const START_OBJECTS = 100_000;
const ROUND_OBJECTS = 3000;
const ROUND_MS = 15_000;
const CROSSMATCH_MS = 40_000;
const REGISTRY_MS = 60_000;
/** The total number of exports and backups, because their work grows with the stored data. */
const COPIES = 12;
const CLIENTS = 16;
const REQUESTS_A_SECOND = 60;
const SLOW_READERS = 8;
/**
 * When the service is ended, as fractions of the time: it is killed, and the last time stopped by SIGTERM. After that,
 * it runs to the end.
 */
const SERVICE_ENDS = [0.05, 0.1, 0.15, 0.2];
/** Only the time after this fraction is judged. The same service process then runs to the end. */
const JUDGED_FROM = 1 / 3;
const SAMPLES = 240;
/** An object may be requested only this long after it was acknowledged. */
const FOUND_WITHIN_MS = 5000;
const STOP_MS = 15_000;
const TABLE_ROWS = 16;
/** A command that runs longer than this is killed. */
const KILL_WITHIN_MS = 3000;
const KILLED_SHARE = 0.3;

/** One sample of all figures. Memory in MiB, times in milliseconds. */
interface Sample {
  readonly minute: number;
  readonly anonymous: number;
  /** The anonymous memory of answers that clients have not read yet; most belong to slow readers. */
  readonly answers: number;
  readonly index: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly database: number;
  readonly indexFiles: number;
  readonly otherFiles: number;
  readonly objects: number;
  readonly pending: number;
  readonly p50: number;
  readonly p99: number;
  readonly answered: number;
  readonly refused: number;
}

class Soak {
  readonly #options: Options;
  readonly #note: (text: string) => void;
  readonly #totalMs: number;
  /** When the load began. */
  #startMs = performance.now();
  readonly #directory: string;
  readonly #dataDir: string;
  readonly #sky: SoakSky;
  readonly #random: () => number;
  readonly #log: number;
  readonly #clients: AskingClients;
  readonly #slow: SlowReaders;
  readonly #samples: Sample[] = [];
  readonly #marks: number[] = [];
  readonly #faults: string[] = [];
  /** By command: the number of runs that ended by themselves, and of runs that were killed. */
  readonly #ran: Record<string, { ended: number; killed: number }> = {};
  #service: Program | undefined;
  #url = '';
  #isUp = false;
  /** When the objects below a number were acknowledged. */
  #acknowledged: { readonly number: number; readonly atMs: number }[] = [];

  constructor(options: Options, note: (text: string) => void) {
    this.#options = options;
    this.#note = note;
    this.#totalMs = options.hours * HOUR_MS;
    const name = new Date().toISOString().slice(0, 19).replaceAll(':', '');
    this.#directory = join(tmpdir(), 'nearsky-bench', `soak-${name}-${process.pid}`);
    this.#dataDir = join(this.#directory, 'data');
    mkdirSync(this.#directory, { recursive: true });
    this.#log = openSync(join(this.#directory, 'programs.log'), 'a');
    this.#sky = new SoakSky(options.seed);
    this.#random = seededRandom(options.seed + 2);
    const target = () => ({ url: this.#url, isUp: this.#isUp, known: this.#known });
    this.#clients = new AskingClients(this.#sky, target, options.seed + 3);
    this.#slow = new SlowReaders(target);
  }

  async run(): Promise<Report> {
    this.#note(`everything is written to ${this.#directory}`);
    try {
      await this.#prepare();
      await this.#startService();
      this.#startMs = performance.now();
      this.#slow.start(SLOW_READERS);
      const asking = this.#clients.run(CLIENTS, REQUESTS_A_SECOND);
      await Promise.all([
        this.#every(ROUND_MS, 'ingest', round => this.#ingest(round)),
        this.#every(CROSSMATCH_MS, 'crossmatch', () => this.#mayBeKilled('crossmatch')),
        this.#every(REGISTRY_MS, 'tns', () => this.#loadRegistry()),
        this.#every(this.#totalMs / COPIES, 'export', () => this.#mayBeKilled('export', this.#path('export.ndjson'))),
        this.#every(this.#totalMs / COPIES, 'backup', () => this.#backUp()),
        this.#every(Math.max(1000, this.#totalMs / SAMPLES), 'sample', () => this.#sample()),
        this.#endServiceNowAndThen(),
      ]);
      this.#clients.stop();
      this.#slow.stop();
      await asking;
      await this.#finish();
    } finally {
      this.#clients.stop();
      this.#slow.stop();
      await this.#service?.stop();
      closeSync(this.#log);
      rmSync(this.#dataDir, { recursive: true, force: true });
    }
    return this.#report();
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startMs;
  }

  /** Objects below this number were acknowledged long enough ago. */
  get #known(): number {
    const before = performance.now() - FOUND_WITHIN_MS;
    return this.#acknowledged.findLast(({ atMs }) => atMs <= before)?.number ?? 0;
  }

  get #stored(): number {
    return this.#acknowledged.at(-1)?.number ?? 0;
  }

  #tell(text: string): void {
    appendFileSync(this.#path('events.log'), `${(this.#elapsedMs / 60_000).toFixed(2)} ${text}\n`);
  }

  #fault(text: string): void {
    this.#tell(`FAULT ${text}`);
    this.#faults.push(text);
  }

  /**
   * Repeats an action this many times within the time, if each ends soon enough. A failure counts as a fault, but ends
   * nothing.
   */
  async #every(periodMs: number, name: string, work: (round: number) => Promise<void>): Promise<void> {
    for (let round = 0; ; round++) {
      const next = Math.max(performance.now(), this.#startMs + (round + 1) * periodMs);
      const waitMs = next - performance.now();
      if (this.#elapsedMs + waitMs >= this.#totalMs) return;
      await sleep(waitMs);
      try {
        await work(round);
      } catch (error) {
        this.#fault(`${name}: ${messageOf(error)}`);
      }
    }
  }

  /**
   * Runs a command of nearsky to its end, or kills it after this many milliseconds. Returns whether it ended by itself.
   * Throws if it failed.
   */
  async #nearsky(args: readonly string[], killAfterMs?: number): Promise<boolean> {
    const program = new Program('../src/main.ts', [...args, '--data', this.#dataDir], undefined, this.#log);
    program.process.stdout!.resume();
    const kill = killAfterMs === undefined ? undefined : setTimeout(() => program.process.kill('SIGKILL'), killAfterMs);
    const ended = await new Promise<string>(resolve =>
      program.process.once('exit', (code, signal) => resolve(signal ?? `${code}`)),
    );
    clearTimeout(kill);
    const counts = (this.#ran[args[0]!] ??= { ended: 0, killed: 0 });
    if (ended === 'SIGKILL' && killAfterMs !== undefined) {
      counts.killed++;
      this.#tell(`killed ${args[0]} after ${killAfterMs.toFixed(0)} ms`);
      return false;
    }
    counts.ended++;
    if (ended !== '0') throw new Error(`${args.join(' ')} ended with ${ended}: see programs.log`);
    return true;
  }

  async #mayBeKilled(...args: readonly string[]): Promise<void> {
    await this.#nearsky(args, this.#random() < KILLED_SHARE ? KILL_WITHIN_MS * this.#random() : undefined);
  }

  async #prepare(): Promise<void> {
    this.#note(`storing ${START_OBJECTS} objects, and a catalog`);
    this.#sky.writeCatalog(this.#path('catalog'));
    await this.#nearsky(['catalog', 'add', CATALOG, this.#path('catalog')]);
    await this.#store('lasair', START_OBJECTS);
    await this.#loadRegistry();
    await this.#nearsky(['crossmatch']);
  }

  /** Stores the next objects. A killed run is repeated, as a user without an acknowledgement would do. */
  async #store(broker: (typeof BROKER_NAMES)[number], objects: number, isToBeKilled = false): Promise<void> {
    const file = this.#path('alerts.ndjson');
    const end = this.#stored + objects;
    await writeAlerts(file, broker, this.#sky.objects(this.#stored, end));
    const args = ['ingest', '--broker', broker, file];
    if (isToBeKilled) await this.#nearsky(args, KILL_WITHIN_MS * this.#random() * 0.5);
    await this.#nearsky(args);
    this.#acknowledged = [...this.#acknowledged.slice(-99), { number: end, atMs: performance.now() }];
  }

  #ingest(round: number): Promise<void> {
    return this.#store(BROKER_NAMES[round % BROKER_NAMES.length]!, ROUND_OBJECTS, this.#random() < KILLED_SHARE);
  }

  async #loadRegistry(): Promise<void> {
    this.#sky.writeRegistry(this.#path('tns.csv'), this.#stored);
    await this.#mayBeKilled('tns', 'load', this.#path('tns.csv'));
  }

  async #backUp(): Promise<void> {
    await this.#mayBeKilled('backup', this.#path('backup'));
    for (const name of readdirSync(this.#directory))
      if (name.startsWith('backup')) rmSync(this.#path(name), { recursive: true });
  }

  async #startService(): Promise<void> {
    const args = ['serve', '--data', this.#dataDir, '--port', '0'];
    const { program, url } = await startListening('../src/main.ts', args, undefined, this.#log);
    this.#service = program;
    this.#url = url;
    this.#isUp = true;
    program.process.once('exit', (code, signal) => {
      if (this.#isUp && this.#service === program) this.#fault(`the service ended by itself: ${signal ?? code}`);
      this.#isUp = false;
    });
    this.#tell(`the service is process ${program.process.pid} at ${url}`);
  }

  async #endServiceNowAndThen(): Promise<void> {
    for (const [i, share] of SERVICE_ENDS.entries()) {
      await sleep(Math.max(0, share * this.#totalMs - this.#elapsedMs));
      this.#marks.push(this.#elapsedMs / 60_000);
      await (i < SERVICE_ENDS.length - 1 ? this.#killService() : this.#stopService());
      await this.#startService();
    }
  }

  async #killService(): Promise<void> {
    this.#isUp = false;
    const ended = new Promise(resolve => this.#service!.process.once('exit', resolve));
    this.#service!.process.kill('SIGKILL');
    await ended;
    this.#tell('killed the service');
  }

  async #stopService(): Promise<void> {
    this.#isUp = false;
    const startMs = performance.now();
    const stopped = this.#service!.stop().then(() => true);
    const hasStopped = await Promise.race([stopped, sleep(STOP_MS, false)]);
    const { exitCode } = this.#service!.process;
    this.#tell(`the service ended with ${exitCode} after ${(performance.now() - startMs).toFixed(0)} ms`);
    if (!hasStopped || exitCode !== 0) this.#fault(`SIGTERM: status ${exitCode} after ${STOP_MS} ms at most`);
  }

  async #sample(): Promise<void> {
    const url = this.#url;
    if (!this.#isUp) return;
    const metrics = await this.#metrics().catch(error => {
      if (this.#isUp && this.#url === url) throw error;
    });
    // The service was stopped meanwhile.
    if (!metrics || !this.#isUp || this.#url !== url) return;
    const pid = this.#service!.process.pid;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const { p50, p99 } = this.#clients.takeLatencies();
    const sample: Sample = {
      minute: this.#elapsedMs / 60_000,
      anonymous: this.#service!.ownBytes / MIB,
      answers: metrics('nearsky_answer_memory_bytes') / MIB,
      index: metrics('nearsky_index_bytes') / MIB,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      threads: Number(/Threads:\s+(\d+)/.exec(status)![1]),
      database: sizeOf(join(this.#dataDir, 'nearsky.mdb')) / MIB,
      indexFiles: sizeOf(join(this.#dataDir, 'index')) / MIB,
      otherFiles: 0,
      objects: metrics('nearsky_objects'),
      pending: metrics('nearsky_objects_pending'),
      p50,
      p99,
      answered: this.#clients.counts.answered,
      refused: this.#clients.counts.refused,
    };
    const otherFiles = sizeOf(this.#dataDir) / MIB - sample.database - sample.indexFiles;
    this.#samples.push({ ...sample, otherFiles });
    this.#write();
  }

  /** The service's own figures by name; NaN for missing ones. */
  async #metrics(): Promise<(name: string) => number> {
    const { body } = await request(`${this.#url}/metrics`);
    const text = await body.text();
    return name => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  }

  /** Writes the results so far, so that they are not lost if a soak is ended early. */
  #write(): void {
    const keys = Object.keys(this.#samples[0]!) as (keyof Sample)[];
    const lines = this.#samples.map(sample => keys.map(key => +sample[key].toFixed(3)).join(','));
    writeFileSync(this.#path('samples.csv'), `${[keys.join(','), ...lines].join('\n')}\n`);
    const line = (key: keyof Sample, label: string): Line => ({
      label,
      points: this.#samples.map(sample => [sample.minute, sample[key]]),
    });
    const panels = [
      {
        title: 'memory of the service, MiB',
        lines: [line('anonymous', 'anonymous'), line('answers', 'unread answers'), line('index', 'index')],
      },
      { title: 'time of an answer, ms', lines: [line('p99', 'p99'), line('p50', 'p50')] },
      { title: 'descriptors and threads', lines: [line('descriptors', 'descriptors'), line('threads', 'threads')] },
      {
        title: 'files, MiB',
        lines: [line('database', 'database'), line('indexFiles', 'index'), line('otherFiles', 'others')],
      },
      { title: 'objects', lines: [line('objects', 'stored'), line('pending', 'pending')] },
    ];
    const title = `nearsky, ${this.#options.hours} h under load; dashed: the service was ended`;
    writeFileSync(this.#path('soak.svg'), plot(title, panels, this.#marks));
  }

  /** Crossmatches the remaining objects, ends the service, and compares stored with acknowledged objects. */
  async #finish(): Promise<void> {
    this.#note('the time is over: comparing what is stored with what was acknowledged');
    await this.#sample();
    await this.#stopService();
    await this.#nearsky(['crossmatch']);
    const file = this.#path('export.ndjson');
    await this.#nearsky(['export', file]);
    const seen = new Uint8Array(this.#stored);
    let strange = 0;
    for await (const line of createInterface({ input: createReadStream(file) })) {
      if (!line.startsWith('{"type":"object"')) continue;
      const id = /"diaObjectId":\s*"?(\d+)/.exec(line)?.[1];
      const number = id === undefined ? undefined : this.#sky.numberOf(BigInt(id));
      if (number === undefined || number >= seen.length) strange++;
      else seen[number]!++;
    }
    rmSync(file);
    const lost = seen.filter(times => times === 0).length;
    const doubled = seen.filter(times => times > 1).length;
    this.#tell(`${seen.length} objects were acknowledged: ${lost} lost, ${doubled} doubled, ${strange} strange`);
    if (lost + doubled + strange > 0)
      this.#fault(
        `of ${seen.length} acknowledged objects ${lost} are lost and ${doubled} doubled; ${strange} are nobody's`,
      );
  }

  #report(): Report {
    const judged = this.#samples.filter(({ minute }) => minute * 60_000 >= JUDGED_FROM * this.#totalMs);
    const hourly = (key: keyof Sample) => slope(judged.map(sample => [sample.minute / 60, sample[key]] as const));
    const every = Math.max(1, Math.ceil(this.#samples.length / TABLE_ROWS));
    const shown = this.#samples.filter((_, i) => (this.#samples.length - 1 - i) % every === 0);
    const columns: readonly (readonly [title: string, key: keyof Sample, digits: number])[] = [
      ['minute', 'minute', 1],
      ['anonymous MiB', 'anonymous', 0],
      ['unread answers MiB', 'answers', 0],
      ['index MiB', 'index', 1],
      ['descriptors', 'descriptors', 0],
      ['threads', 'threads', 0],
      ['database MiB', 'database', 0],
      ['index file MiB', 'indexFiles', 1],
      ['other files MiB', 'otherFiles', 1],
      ['objects', 'objects', 0],
      ['pending', 'pending', 0],
      ['p50 ms', 'p50', 1],
      ['p99 ms', 'p99', 1],
    ];
    const rows = shown.map(sample => columns.map(([, key, digits]) => sample[key].toFixed(digits)));
    const slopes = columns.slice(1).map(([, key, digits]) => hourly(key).toFixed(digits));
    const faults = [...this.#clients.faults, ...this.#faults];
    return {
      header: columns.map(([title]) => title),
      rows: [...rows, ['slope an hour', ...slopes]],
      json: {
        hours: this.#options.hours,
        objects_acknowledged: this.#stored,
        commands: this.#ran,
        service_ended: this.#marks.length,
        requests: this.#clients.counts,
        slow_readers: this.#slow.begun,
        judged_from_minute: judged[0]?.minute,
        slope_mib_an_hour: { anonymous: hourly('anonymous'), answers: hourly('answers'), index: hourly('index') },
        directory: this.#directory,
      },
      faults,
    };
  }
}

/** The bytes of a file, or of all files in a directory; 0 if it does not exist. */
function sizeOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.size ?? 0;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

export const soak: Workload = {
  name: 'soak',
  summary: 'everything at once for --hours, with kills: what grows, and whether anything is lost (only by its name)',
  onlyByName: true,
  run: (options, note) => {
    Object.assign(process.env, allocatorSettings());
    return new Soak(options, note).run();
  },
};

/** The C library's memory settings, as in the systemd unit. */
function allocatorSettings(): Record<string, string> {
  const unit = readFileSync(new URL('../deploy/nearsky.service', import.meta.url), 'utf8');
  return Object.fromEntries([...unit.matchAll(/\b(MALLOC_\w+)=(\d+)/g)].map(([, name, value]) => [name, value]));
}
