/** The client libraries that the service offers for download. Their version is that of the service. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { programFile } from '../base/program_files.ts';
import { buildWheel } from './wheel.ts';

interface ClientFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Clients {
  /** The file name of the Python client's wheel. It contains the version. */
  readonly wheel: string;
  readonly files: ReadonlyMap<string, ClientFile>;
}

let made: Clients | undefined;

/** Makes the files on the first call. */
export function clients(): Clients {
  made ??= makeClients();
  return made;
}

function makeClients(): Clients {
  const wheel = buildWheel();
  const script = (name: string, type: string) => {
    const bytes = new Uint8Array(readFileSync(programFile(`clients/typescript/${name}`)));
    return [name, clientFile(`${type}; charset=utf-8`, bytes)] as const;
  };
  return {
    wheel: wheel.name,
    files: new Map([
      [wheel.name, clientFile('application/zip', wheel.bytes)],
      script('nearsky.js', 'text/javascript'),
      script('nearsky.d.ts', 'application/typescript'),
    ]),
  };
}

function clientFile(type: string, bytes: Uint8Array<ArrayBuffer>): ClientFile {
  return { type, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"`, bytes };
}
