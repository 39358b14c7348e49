/** The clients that the service hands out, in its own version. */
import { readFileSync } from 'node:fs';
import { programFile } from '../base/program_files.ts';
import { buildWheel } from './wheel.ts';

export interface ClientFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Clients {
  /** The name of the wheel of the Python client, which has its version. */
  readonly wheel: string;
  readonly files: ReadonlyMap<string, ClientFile>;
}

let made: Clients | undefined;

/** Reads and makes the files once. */
export function clients(): Clients {
  made ??= makeClients();
  return made;
}

function makeClients(): Clients {
  const wheel = buildWheel();
  const script = (name: string, type: string) =>
    [
      name,
      {
        type: `${type}; charset=utf-8`,
        bytes: new Uint8Array(readFileSync(programFile(`clients/typescript/${name}`))),
      },
    ] as const;
  return {
    wheel: wheel.name,
    files: new Map<string, ClientFile>([
      [wheel.name, { type: 'application/zip', bytes: wheel.bytes }],
      script('nearsky.js', 'text/javascript'),
      script('nearsky.d.ts', 'application/typescript'),
    ]),
  };
}
