/** A node whose disk has too little space for the records of the log: it is named, and the node goes on later. */
import { mkdtempSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RESERVE_BYTES } from '../../src/core/store/disk_space.ts';
import { KafkaServer, whyNoKafka } from '../capabilities/consume/kafka_server.ts';
import { needs } from '../needs.ts';
import { fillDisk, mountSmallDisk } from '../small_disk.ts';
import { eventually, sample, start, startServer } from './support.ts';

const test = suite('e2e/nodes_full_disk');
const disk = whyNoKafka ? undefined : mountSmallDisk('64m');
const real = needs(test, whyNoKafka ?? (disk ? undefined : 'this process may not mount a small disk'));
const kafka = KafkaServer.of(test);
const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
test.after(() => {
  disk?.unmount();
  rmSync(directory, { recursive: true, force: true });
});

async function ready(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const { statusCode, body } = await request(`${url}/readyz`);
  return { status: statusCode, text: await body.text() };
}

real(
  'too little space for a record of the log: disk_full and no log_failed, and /readyz says so; then it goes on',
  async () => {
    await kafka.createTopic('archive');
    const settings = {
      NEARSKY_LOG: `kafka://${kafka.server}/archive`,
      NEARSKY_LOG_TLS: 'no',
      NEARSKY_WORKERS: '1',
      NEARSKY_LOG_MAX_LAG_SECONDS: '1',
    };
    const data = join(disk!.directory, 'data');
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch'], settings);
    await eventually('it is ready', async () => (await ready(server.url)).status === 200 || undefined);
    // More than the reserve, and less than the sample's alerts may need.
    const filler = fillDisk(disk!.directory, RESERVE_BYTES + 2 ** 18);
    const alerts = join(sample, 'alerts/lasair.ndjson');
    const args = ['ingest', '--broker', 'lasair', alerts, '--data', join(directory, 'other')];
    const { code, stderr: why } = await start(args, settings).finished;
    assert.is(code, 0, why);
    const { text } = await eventually('it is behind, and says why', async () => {
      const now = await ready(server.url);
      return now.status === 503 ? now : undefined;
    });
    assert.match(text, /is behind the log of the nodes because its disk is full: \d+ bytes are free, and \d+ needed/);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const gauge = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)![1]);
    assert.ok(gauge('nearsky_disk_needed_bytes') > gauge('nearsky_disk_free_bytes'));
    unlinkSync(filler);
    await eventually('it has caught up', async () => (await ready(server.url)).status === 200 || undefined);
    const { code: end, stderr } = await server.stop();
    assert.is(end, 0, stderr);
    assert.match(stderr, /"disk_full".*"needed_bytes"(?:.|\n)*"disk_has_space"/);
    assert.not.match(stderr, /log_failed|log_back/);
  },
);

test.run();
