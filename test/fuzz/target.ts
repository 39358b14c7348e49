/** The target of a campaign: a reader, the results that it may give, and those that it must never give. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutator } from './mutate.ts';

export interface Target {
  /** The name of its folder in `corpus/`. */
  readonly name: string;
  /** Whether inputs are text, which is mutated token by token too. */
  readonly isText: boolean;
  /** The number of inputs in the test run, in addition to the corpus; lower for expensive inputs. */
  readonly inputs: number;
  /** Wraps a mutated input, so that damage lies behind a checksum or an encoding. */
  wrap?(bytes: Buffer, mutator: Mutator): Buffer;
  /** Starts the target, and returns a function that runs one input and throws if an invariant is broken. */
  start(): Promise<Running>;
}

export interface Running {
  run(input: Buffer): unknown;
  close?(): Promise<void>;
}

export const corpusDirectory = (name: string) => fileURLToPath(new URL(`./corpus/${name}`, import.meta.url));

export function corpusOf(name: string): { readonly file: string; readonly bytes: Buffer }[] {
  const directory = corpusDirectory(name);
  return readdirSync(directory)
    .sort()
    .map(file => ({ file, bytes: readFileSync(join(directory, file)) }));
}

/** Runtime messages about programming errors, which mean nothing to a user. */
const PROGRAMMERS_WORDS =
  /Cannot (?:read|set) propert|Cannot convert|Cannot mix BigInt|is not a function|is not iterable|is not a constructor|Invalid (?:array|typed array|string) length|call stack|undefined \(|of undefined|outside the bounds|Reduce of empty|before initialization|must be of type|ERR_INTERNAL|\[object Object\]/;

/** Throws if a message comes from the runtime, not from our code. */
export function checkMessage(message: string): void {
  if (message === '' || PROGRAMMERS_WORDS.test(message))
    throw new Error(`the message is no answer: ${JSON.stringify(message)}`);
}

/** The result of `read`, or undefined if it throws an error of one of these kinds with a fit message; any other error is thrown. */
export async function orRefused<T>(
  read: () => T | Promise<T>,
  ...kinds: readonly (abstract new (
    ...args: never[]
  ) => Error)[]
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!kinds.some(kind => error instanceof kind)) throw error;
    checkMessage((error as Error).message);
    return undefined;
  }
}
