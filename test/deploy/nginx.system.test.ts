/** The configuration for nginx before one service: the same answers, streams at once, and JSON when the service is away. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { freePorts } from '../capabilities/consume/kafka_server.ts';
import { eventually, nearsky, root, sample, send, startServer, withDirectory } from '../e2e/support.ts';
import { needs } from '../needs.ts';

const test = suite('deploy/nginx');
const whyNot = spawnSync('nginx', ['-v']).error ? 'there is no nginx: apt-get install nginx' : undefined;
const CONE = '/api/cone?ra=221.596&dec=-40.0&radius_arcsec=60';

/** The present is part of answers and their cursors. */
const withoutPresent = (text: string) => text.replaceAll(/("(?:as_of|next_cursor)": )"[^"]*"/g, '$1null');

needs(test, whyNot)('answers, large bodies, streams and outages pass through it', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', join(sample, 'alerts/lasair.ndjson'), '--data', data);
    const [behind, port] = await freePorts(2);
    const server = await startServer(['serve', '--data', data, '--port', `${behind}`, '--no-crossmatch']);
    const file = join(directory, 'nearsky.conf');
    const all = readFileSync(join(root, 'deploy/nginx.conf'), 'utf8')
      .replace('listen 80;', `listen ${port};`)
      .replace('127.0.0.1:8080', `127.0.0.1:${behind}`);
    assert.match(all, `listen ${port};`);
    const ownFiles = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      name => `${name}_temp_path ${join(directory, name)};`,
    );
    writeFileSync(
      file,
      `daemon off; pid ${join(directory, 'pid')}; error_log stderr; events {}\nhttp { access_log off; ${ownFiles.join(' ')}\n${all}}\n`,
    );
    const proxy = spawn('nginx', ['-c', file, '-p', directory], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    proxy.stderr.on('data', text => (said += text));
    const url = `http://127.0.0.1:${port}`;
    try {
      await eventually('nginx answers', async () => {
        if (proxy.exitCode !== null) throw new Error(`nginx ended: ${said}`);
        const answered = await request(`${url}/readyz`).catch(() => undefined);
        await answered?.body.dump();
        return answered?.statusCode === 200 || undefined;
      });
      const [direct, through] = await Promise.all(
        [server.url, url].map(async base => withoutPresent(await (await request(base + CONE)).body.text())),
      );
      assert.is(through, direct);
      assert.match(through!, '"diaObjectId"');

      const sent = { method: 'POST', body: `ra,dec\n${'221.5960000001,-40.0000000001\n'.repeat(100_000)}` } as const;
      const tables = [server.url, url].map(async base => {
        const headers = { 'content-type': 'text/csv' };
        const { statusCode, body } = await request(`${base}/api/crossmatch?format=csv`, { ...sent, headers });
        const text = await body.text();
        assert.is(statusCode, 200, text.slice(0, 500));
        return text;
      });
      const [matched, matchedThrough] = await Promise.all(tables);
      assert.ok(matched!.length > 1_000_000);
      assert.is(matchedThrough, matched);
      // By default nginx refuses lines of more than 8 KB.
      const long = await request(`${url}${CONE}&more=${'x'.repeat(12_000)}`);
      assert.is(long.statusCode, (await request(`${server.url}${CONE}&more=${'x'.repeat(12_000)}`)).statusCode);
      await long.body.dump();

      const stream = await request(`${url}/api/stream/matches`, { headers: { accept: 'text/event-stream' } });
      const { value: first } = await stream.body[Symbol.asyncIterator]().next();
      stream.body.destroy();
      assert.ok(first.length > 0, 'its beginning comes before its end');

      assert.is((await request(`${url}/metrics`)).statusCode, 200);
      const others = Object.values(networkInterfaces()).flatMap(each => each ?? []);
      const outside = others.find(({ family, internal }) => family === 'IPv4' && !internal);
      if (outside) assert.is((await request(`http://${outside.address}:${port}/metrics`)).statusCode, 403);

      send(server.child, 'SIGKILL');
      const away = await eventually('it is away', async () => {
        const { statusCode, headers, body } = await request(url + CONE);
        const text = await body.text();
        return statusCode === 200 ? undefined : { statusCode, headers, text };
      });
      assert.is(away.statusCode, 503);
      assert.is(away.headers['content-type'], 'application/json');
      assert.is(away.headers['retry-after'], '1');
      assert.equal([JSON.parse(away.text).code, JSON.parse(away.text).retryable], ['service_unavailable', true]);
    } finally {
      proxy.kill('SIGTERM');
      await once(proxy, 'exit');
      send(server.child, 'SIGKILL');
    }
  }),
);

test.run();
