/**
 * Three nodes that share one log, as docs/nodes.md says how to run them: three Kafka servers, three nodes that
 * serve, and HAProxy before them, all of them plain processes.
 *
 *   node test/e2e/three_nodes.ts     runs them until Ctrl-C, and prints where they are
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { newTopic } from '../../src/core/cluster/kafka_settings.ts';
import { freePorts, KafkaServer, whyNoKafka } from '../capabilities/consume/kafka_server.ts';
import { checkout, eventually, type Program, root, type Server, send, start, startServer } from './support.ts';

const NODES = 3;
const SERVERS = 3;
const TOPIC = 'nearsky';

/** HAProxy's configuration. */
export const BALANCER = readFileSync(join(root, 'deploy/haproxy.cfg'), 'utf8');

const hasBalancer = spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).status === 0;
export const whyNoBalancer = hasBalancer ? undefined : 'there is no HAProxy: apt-get install haproxy';
/** Why these processes cannot run here; undefined if they can. */
export const whyNoNodes = whyNoKafka ?? whyNoBalancer;

/** The settings of a node whose log is that topic. */
export const logOf = (kafka: readonly KafkaServer[], topic: string) => ({
  NEARSKY_LOG: `kafka://${kafka.map(({ server }) => server).join(',')}/${topic}`,
  NEARSKY_LOG_TLS: 'no',
});

/**
 * HAProxy at a port before nodes at these addresses; resolves when it answers.
 * @param directory keeps its configuration
 * @param rule a further line of its frontend
 */
export async function startBalancer(
  directory: string,
  addresses: readonly string[],
  port: number,
  rule = '',
): Promise<ChildProcess> {
  let text = BALANCER.replace('bind :80', `bind 127.0.0.1:${port}\n    ${rule}`);
  // Other balancers may run on this machine.
  text = text.replaceAll('abns@nearsky', `abns@nearsky-${port}`);
  for (const [node, address] of addresses.entries()) text = text.replaceAll(`node-${node + 1}:8080`, address);
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, text);
  const balancer = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  balancer.stderr!.on('data', data => (said += data));
  await eventually('HAProxy answers', async () => {
    if (balancer.exitCode !== null) throw new Error(`HAProxy ended: ${said}`);
    const answered = await request(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await answered?.body.dump();
    return answered?.statusCode === 200 || undefined;
  });
  return balancer;
}

/** Where the servers of Kafka and the nodes are, and how the commands of a node are run. */
export interface Machines {
  /** The address of Kafka's servers. */
  readonly kafka: string;
  hostOf(node: number): string;
  programOf(node: number): Program;
}

const HERE: Machines = { kafka: '127.0.0.1', hostOf: () => '127.0.0.1', programOf: () => checkout };

export class ThreeNodes {
  readonly kafka: readonly KafkaServer[];
  /** For each command. */
  readonly settings: Readonly<Record<string, string>>;
  /** The address of the balancer. */
  url = '';
  readonly #directory: string;
  readonly #ports: readonly number[];
  readonly #machines: Machines;
  readonly #running: (Server | undefined)[] = [];
  #balancer: ChildProcess | undefined;
  /** The node that has each duty, from the start. */
  readonly holders = new Map<string, number>();
  /** Told of each duty that a node takes. */
  onDuty: (duty: string, node: number) => void = () => {};

  private constructor(
    directory: string,
    kafka: readonly KafkaServer[],
    ports: readonly number[],
    settings: object,
    machines: Machines,
  ) {
    this.#directory = directory;
    this.kafka = kafka;
    this.#ports = ports;
    this.#machines = machines;
    this.settings = { ...logOf(kafka, TOPIC), ...settings };
  }

  /** @param settings beside those of the log */
  static async start(
    directory: string,
    settings: Readonly<Record<string, string>> = {},
    machines = HERE,
  ): Promise<ThreeNodes> {
    const kafka = await KafkaServer.startCluster(join(directory, 'kafka'), SERVERS, machines.kafka);
    const nodes = new ThreeNodes(directory, kafka, await freePorts(NODES + 1), settings, machines);
    try {
      await kafka[0]!.createTopic(TOPIC, 1, newTopic(SERVERS).settings);
      await Promise.all(nodes.all.map(node => nodes.serve(node)));
      await nodes.#startBalancer();
    } catch (error) {
      await nodes.stop();
      throw error;
    }
    return nodes;
  }

  get all(): readonly number[] {
    return Array.from({ length: NODES }, (_, node) => node);
  }

  dataOf(node: number): string {
    return join(this.#directory, `node-${node + 1}`);
  }

  urlOf(node: number): string {
    return `http://${this.#addressOf(node)}`;
  }

  #addressOf(node: number): string {
    return `${this.#machines.hostOf(node)}:${this.#ports[node]}`;
  }

  /** Starts a node that does not run, at its address, and waits until it is ready. */
  async serve(node: number): Promise<void> {
    await this.listen(node);
    await eventually(`node ${node + 1} is ready`, async () => {
      const { statusCode, body } = await request(`${this.urlOf(node)}/readyz`);
      await body.dump();
      return statusCode === 200 || undefined;
    });
  }

  /** Starts a node that does not run, at its address. */
  async listen(node: number): Promise<void> {
    const host = this.#machines.hostOf(node);
    const args = ['serve', '--data', this.dataOf(node), '--host', host, '--port', `${this.#ports[node]}`];
    const running = await startServer(args, this.settings, this.#machines.programOf(node));
    this.#running[node] = running;
    running.child.stderr!.on('data', data => {
      for (const line of `${data}`.split('\n')) {
        if (line.includes('"node_stopped"')) this.stopped.push(`node ${node + 1}: ${line}`);
        const [, duty] = /"duty_taken","duty":"([^"]*)"/.exec(line) ?? [];
        if (duty === undefined) continue;
        this.onDuty(duty, node);
        this.holders.set(duty, node);
      }
    });
  }

  /** Runs a command on the directory of a node, to its end, and gives the document that it prints. */
  async command(node: number, ...args: string[]): Promise<Record<string, unknown>> {
    const all = [...args, '--data', this.dataOf(node), '--json'];
    const { code, stdout, stderr } = await start(all, this.settings, this.#machines.programOf(node)).finished;
    if (code !== 0) throw new Error(`nearsky ${args.join(' ')} exited with ${code}: ${stdout}${stderr}`);
    return JSON.parse(stdout);
  }

  /** The reasons for which nodes have stopped to follow the log. */
  readonly stopped: string[] = [];

  /** Sends a signal to the service of a node. */
  signal(node: number, signal: NodeJS.Signals): void {
    const running = this.#running[node];
    if (running) send(running.child, signal);
  }

  async kill(node: number): Promise<void> {
    const running = this.#running[node];
    if (!running) return;
    this.#running[node] = undefined;
    send(running.child, 'SIGKILL');
    await running.finished;
  }

  /** Ends each node's service as a service manager does. */
  async stopServing(): Promise<void> {
    for (const [node, running] of this.#running.entries()) {
      this.#running[node] = undefined;
      const ended = await running?.stop();
      if (ended && ended.code !== 0) throw new Error(`node ${node + 1} ended with ${ended.code}: ${ended.stderr}`);
    }
  }

  async #startBalancer(): Promise<void> {
    const addresses = this.all.map(node => this.#addressOf(node));
    this.#balancer = await startBalancer(this.#directory, addresses, this.#ports[NODES]!);
    this.url = `http://127.0.0.1:${this.#ports[NODES]}`;
  }

  /** Whatever runs is killed. */
  async stop(): Promise<void> {
    await Promise.all(this.all.map(node => this.kill(node)));
    const balancer = this.#balancer;
    if (balancer && balancer.exitCode === null && balancer.signalCode === null) {
      const ended = once(balancer, 'exit');
      balancer.kill('SIGKILL');
      await ended;
    }
    await Promise.all(this.kafka.map(server => server.stop()));
  }
}

async function main(): Promise<void> {
  if (whyNoNodes) throw new Error(whyNoNodes);
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-nodes-'));
  const interrupted = once(process, 'SIGINT');
  const nodes = await ThreeNodes.start(directory);
  console.log(`HAProxy      ${nodes.url}`);
  for (const node of nodes.all)
    console.log(`node ${node + 1}       ${nodes.urlOf(node)}  --data ${nodes.dataOf(node)}`);
  for (const [name, value] of Object.entries(nodes.settings)) console.log(`export ${name}=${value}`);
  await interrupted;
  await nodes.stop();
  rmSync(directory, { recursive: true });
}

if (import.meta.main) await main();
