/**
 * Simulates three machines on this one: each a network namespace with two cables, a clock of its own and a small disk.
 * Needs root.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout, type Program } from './support.ts';
import type { Machines } from './three_nodes.ts';

/** Where Debian has it. */
const CLOCK = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`;
const PREFIX = 24;
/** States of a port of a bridge: it drops everything, or forwards it. */
const [CUT, WHOLE] = ['0', '3'];
/** To Kafka, and to the balancer and everybody else. */
const CABLES = ['log', 'clients'] as const;
export type Cable = (typeof CABLES)[number];

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });

/** Why such machines are unavailable here, if they are. */
export function whyNoMachines(): string | undefined {
  if (!existsSync(CLOCK)) return 'there is no libfaketime: apt-get install faketime';
  const name = `nsky${process.pid}`;
  try {
    ip('link', 'add', name, 'type', 'bridge');
    ip('link', 'del', name);
    ip('netns', 'add', name);
    ip('netns', 'del', name);
    return undefined;
  } catch {
    return 'network namespaces need root, and iproute2';
  }
}

export class SeparateMachines implements Machines {
  readonly #directory: string;
  readonly #count: number;
  /** Names of interfaces have at most 15 characters. */
  readonly #name = `n${process.pid}`;
  readonly #net = 100 + (process.pid % 100);
  #disks = 0;

  /** @param directory keeps clocks and disks */
  constructor(directory: string, count: number) {
    this.#directory = directory;
    this.#count = count;
    mkdirSync(directory, { recursive: true });
    for (const [i, cable] of CABLES.entries()) {
      ip('link', 'add', this.#bridge(cable), 'type', 'bridge');
      ip('link', 'set', this.#bridge(cable), 'up');
      ip('addr', 'add', `10.${this.#net}.${i}.254/${PREFIX}`, 'dev', this.#bridge(cable));
    }
    for (let node = 0; node < count; node++) this.#add(node);
  }

  #add(node: number): void {
    const space = this.#space(node);
    ip('netns', 'add', space);
    ip('-n', space, 'link', 'set', 'lo', 'up');
    for (const [i, cable] of CABLES.entries()) {
      ip('link', 'add', this.#port(node, cable), 'type', 'veth', 'peer', 'name', cable, 'netns', space);
      ip('link', 'set', this.#port(node, cable), 'master', this.#bridge(cable), 'up');
      ip('-n', space, 'addr', 'add', `10.${this.#net}.${i}.${node + 1}/${PREFIX}`, 'dev', cable);
      ip('-n', space, 'link', 'set', cable, 'up');
    }
    this.setClock(node, 0);
  }

  #bridge = (cable: Cable) => `${this.#name}${cable[0]}`;
  #port = (node: number, cable: Cable) => `${this.#bridge(cable)}${node + 1}`;
  #space = (node: number) => `${this.#name}-${node + 1}`;
  #clock = (node: number) => join(this.#directory, `clock-${node + 1}`);

  get kafka(): string {
    return `10.${this.#net}.0.254`;
  }

  hostOf(node: number): string {
    return `10.${this.#net}.1.${node + 1}`;
  }

  programOf(node: number): Program {
    const clock = {
      LD_PRELOAD: CLOCK,
      FAKETIME_TIMESTAMP_FILE: this.#clock(node),
      FAKETIME_CACHE_DURATION: '1',
      // No machine sets its monotonic clock.
      DONT_FAKE_MONOTONIC: '1',
    };
    return {
      ...checkout,
      file: 'nsenter',
      args: [`--net=/run/netns/${this.#space(node)}`, checkout.file, ...checkout.args],
      env: { ...checkout.env, ...clock },
    };
  }

  /** Sets a clock this many seconds ahead of this machine's clock, within about a second. */
  setClock(node: number, seconds: number): void {
    writeFileSync(this.#clock(node), `${seconds < 0 ? '' : '+'}${seconds}s\n`);
  }

  /** Silently drops everything that goes through a cable, or stops dropping it. */
  cut(node: number, cable: Cable, isCut = true): void {
    execFileSync('bridge', ['link', 'set', 'dev', this.#port(node, cable), 'state', isCut ? CUT : WHOLE]);
  }

  /** Mounts a disk of that size for a node at a directory that is made. */
  mount(directory: string, size: string): void {
    mkdirSync(directory, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, `${this.#name}-${++this.#disks}`, directory]);
  }

  unmount(directory: string): void {
    execFileSync('umount', ['-l', directory]);
  }

  remove(): void {
    for (let node = 0; node < this.#count; node++) ip('netns', 'del', this.#space(node));
    for (const cable of CABLES) ip('link', 'del', this.#bridge(cable));
  }
}
