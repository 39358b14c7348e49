/** Clients fill the disk with uploads while the service runs. */
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { freeBytesAt } from '../../../src/core/base/disk.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { delivery, NOW_US, withDirectory } from '../../core/http/support.ts';
import { startServer } from '../../e2e/support.ts';
import { needs } from '../../needs.ts';
import { send } from '../../neighbour/raw_http.ts';
import { fillDisk, mountSmallDisk } from '../../small_disk.ts';

const test = suite('adql/shared_disk');

const shared = mountSmallDisk('64m');
test.after(() => shared?.unmount());

needs(test, shared ? undefined : 'this process may not mount a small disk')(
  'clients that fill the disk: the space of the archive stays free, ingest goes on, and small tables are answered',
  () =>
    withDirectory(async () => {
      const data = join(shared!.directory, 'data');
      const store = openStore(data, 'write');
      const writer = new Writer(store);
      await writer.ingest([delivery(1n)], NOW_US);
      const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch']);
      const post = async (path: string, from: number, body: string, headers: Record<string, string> = {}) =>
        await send(server.url, path, { body, headers, client: `198.18.0.${from}` });
      const table = (mib: number) => `ra,dec\n${'150,2\n'.repeat((mib * 2 ** 20) / 6)}`;
      const FORM = { 'Content-Type': 'multipart/form-data; boundary=b' };
      const upload = (mib: number) => {
        const fields = { LANG: 'ADQL', QUERY: 'SELECT * FROM TAP_UPLOAD.t', UPLOAD: 't,param:part' };
        const parts = Object.entries(fields).map(([name, value]) => `; name="${name}"\r\n\r\n${value}`);
        parts.push(`; name="part"; filename="t"\r\n\r\n${table(mib)}`);
        return `${parts.map(part => `--b\r\nContent-Disposition: form-data${part}\r\n`).join('')}--b--\r\n`;
      };
      const small = async () => {
        const { status, text } = await post('/api/crossmatch?format=csv', 100, 'ra,dec\n150,2\n');
        assert.is(status, 200, text);
      };
      const statuses = new Set<number>();
      const fill = async (from: number) => {
        statuses.add((await post('/vo/tap/async', from, upload(6), FORM)).status);
      };
      for (let round = 0; round < 4; round++) await Promise.all(Array.from({ length: 12 }, (_, i) => fill(i)));
      assert.equal([...statuses].sort(), [303, 503]);
      const free = () => freeBytesAt(shared!.directory)!;
      assert.ok(free() > 15 * 2 ** 20, `${free()} bytes are free`);
      await writer.ingest(
        Array.from({ length: 500 }, (_, i) => delivery(BigInt(10 + i))),
        NOW_US,
      );
      await small();
      // Somebody else has taken the rest.
      const filler = fillDisk(shared!.directory, 0);
      for (const [path, body, headers] of [
        ['/vo/tap/sync', upload(1), FORM],
        ['/api/crossmatch?format=csv', table(1), {}],
        ['/api/area?response=count', table(2), {}],
      ] as const) {
        const answer = await post(path, 100, body, headers);
        assert.is(answer.status, 503, path);
        assert.match(answer.text, /disk/, path);
      }
      await small();
      unlinkSync(filler);
      await server.stop();
      await store.close();
    }),
);

test.run();
