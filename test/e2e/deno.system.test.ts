/** The tasks of deno.json have exactly the permissions that they need. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { duckdbObstacle, needs, toolObstacle } from '../needs.ts';
import { deno, taskOptions } from '../runtime.ts';
import {
  environment,
  eventually,
  get,
  type Program,
  type Running,
  root,
  sample,
  start,
  startServer,
  withDirectory,
} from './support.ts';

type Task = Parameters<typeof taskOptions>[0];

const test = suite('e2e/deno');
const check = needs(test, toolObstacle('deno'));

/** `nearsky` under Deno, as a task starts it, with `data` in the place of the checkout's data directory. */
const denoProgram = (task: Task, data: string): Program => {
  const args = ['run', ...taskOptions(task, data), join(root, 'src/main.ts')];
  return { file: deno, args, cwd: root, env: environment };
};

const run = (data: string, ...args: string[]) => {
  return start([...args, '--data', data], {}, denoProgram('nearsky', data)).finished;
};

async function succeed(finished: Running['finished']): Promise<void> {
  const { code, stderr } = await finished;
  assert.is(code, 0, stderr);
}

test('no task has every permission, none asks, and none writes, loads or asks of the system all', () => {
  for (const task of ['demo', 'serve', 'nearsky', 'test'] as const) {
    const options = taskOptions(task);
    assert.ok(options.includes('--no-prompt'), task);
    for (const wide of ['-A', '--allow-all', '--allow-write', '--allow-ffi', '--allow-sys'])
      assert.not.ok(options.includes(wide), `${task} ${wide}`);
    const programs = options.filter(option => option.startsWith('--allow-run'));
    assert.equal(programs, [task === 'test' ? '--allow-run' : `--allow-run=${deno},/bin/sh`], task);
  }
});

check('the whole line under the permissions of the tasks: ingest, catalog add, crossmatch, serve', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await succeed(run(data, 'ingest', '--broker', 'lasair', join(sample, 'alerts/lasair.ndjson')));
    await succeed(run(data, 'catalog', 'add', 'gaia_dr3', join(sample, 'catalogs/gaia_dr3')));
    await succeed(run(data, 'crossmatch'));
    await succeed(run(data, 'ingest', '--broker', 'lasair', join(sample, 'alerts/lasair-late.ndjson')));
    const threads = ['--workers', '2'];
    const server = await startServer(
      ['serve', '--port', '0', ...threads, '--data', data],
      { API_MAX_IDS: '7', NODE_ENV: 'x' },
      denoProgram('serve', data),
    );
    const { results } = await get(`${server.url}/api/objects/313637935709683761?detail=full`);
    assert.is(results[0].objects[0].matches[0]?.catalog_name, 'gaia_dr3');
    assert.is((await get(`${server.url}/api/describe`)).limits.max_ids, 7);
    const query = `${server.url}/vo/tap/sync?LANG=ADQL&FORMAT=csv&QUERY=SELECT+COUNT(*)+AS+n+FROM+objects`;
    if (duckdbObstacle() === undefined)
      assert.match(
        await eventually('a query is answered', async () => {
          const response = await fetch(query);
          const text = await response.text();
          return response.status === 503 ? undefined : text;
        }),
        /^n\n[1-9]\d*\n$/,
      );
    for (const path of ['/', '/metrics', '/api/sky-map?resolution=1', '/readyz', '/api/status']) {
      const { status } = await fetch(`${server.url}${path}`);
      assert.is(status, 200, path);
    }
    const { code, stderr } = await server.stop();
    assert.is(code, 0, stderr);
    assert.not.match(stderr, /NotCapable|Requires/);
  }),
);

check('the demo under the permissions of its task', async () => {
  const server = await startServer(['demo', '--port', '0'], {}, denoProgram('demo', 'data'));
  const { results } = await get(`${server.url}/api/objects/313637935709683761`);
  assert.is(results[0].objects[0].status, 'coincident_sources');
  assert.is((await server.stop()).code, 0);
});

check('nothing outside of the data directory is written: not by a command, nor by any code in the process', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const other = join(directory, 'other');
    await succeed(run(data, 'ingest', '--broker', 'lasair', join(sample, 'alerts/lasair.ndjson')));
    for (const task of ['serve', 'nearsky'] as const) {
      const { code, stderr } = await start(['serve', '--port', '0', '--data', other], {}, denoProgram(task, data))
        .finished;
      assert.is(code, 1, task);
      assert.match(stderr, /Requires (read|write) access to/, task);
    }
    const backup = await run(data, 'backup', other);
    assert.is(backup.code, 1);
    assert.not.ok(existsSync(other));

    mkdirSync(other);
    const attempts = join(root, 'test/e2e/fixtures/attempts.ts');
    const { stdout } = await promisify(execFile)(deno, ['run', ...taskOptions('serve', data), attempts, data, other], {
      cwd: root,
    });
    const done: Record<string, string> = JSON.parse(stdout);
    assert.equal(done, {
      'write in the data directory': 'done',
      'write beside it': 'NotCapable',
      'write in the checkout': 'NotCapable',
      'write in the home directory': 'NotCapable',
      'read the passwords': 'NotCapable',
      'run a program': 'NotCapable',
      'load a library': 'NotCapable',
    });
    assert.equal(readdirSync(other), []);
  }),
);

test.run();
