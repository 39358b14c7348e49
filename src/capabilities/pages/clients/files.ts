/** The client libraries that the service offers for download. Their version is that of the service. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { programFile } from '../../../core/base/program_files.ts';
import { buildWheel } from './wheel.ts';

let made: ReturnType<typeof makeClients> | undefined;

/** Makes the files on the first call. */
export function clients() {
  made ??= makeClients();
  return made;
}

function makeClients() {
  const { name: wheel, bytes } = buildWheel();
  const file = (type: string, bytes: Uint8Array<ArrayBuffer>) => ({
    type,
    bytes,
    etag: `"${createHash('sha256').update(bytes).digest('base64url')}"`,
  });
  const script = (name: string, type: string) => {
    const bytes = new Uint8Array(readFileSync(programFile(`clients/typescript/${name}`)));
    return [name, file(`${type}; charset=utf-8`, bytes)] as const;
  };
  return {
    /** The file name of the Python client's wheel. It contains the version. */
    wheel,
    files: new Map([
      [wheel, file('application/zip', bytes)],
      script('nearsky.js', 'text/javascript'),
      script('nearsky.d.ts', 'application/typescript'),
    ]),
  };
}
