/** The example of docs/extending.md, run as printed; and modules that cannot be loaded or used. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadOutside } from '../../src/core/outside.ts';
import { get, nearsky, root, sample, start, startServer, withDirectory } from '../e2e/support.ts';

const test = suite('core/extending');

const page = readFileSync(join(root, 'docs/extending.md'), 'utf8');

/** Writes the files that the page prints. Returns the path of each. */
const written = (directory: string) => (name: string) => {
  const path = join(directory, name);
  writeFileSync(
    path,
    new RegExp(`^\`\`\`js\\n// ${name.replaceAll('.', '\\.')}\\n(.*?)^\`\`\`$`, 'ms').exec(page)![1]!,
  );
  return path;
};

const metricsOf = async ({ url }: { readonly url: string }) => await (await fetch(`${url}/metrics`)).text();

/** Serves the alerts of one broker. */
async function serveSample(data: string, environment: Readonly<Record<string, string>>) {
  await nearsky('ingest', '--broker', 'lasair', join(sample, 'alerts/lasair.ndjson'), '--data', data);
  return await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch'], environment);
}

test('an endpoint, a setting, a metric and a command from outside', () =>
  withDirectory(async directory => {
    const file = written(directory);
    const environment = { NEARSKY_CAPABILITIES: file('age.js'), AGE_OLD_HOURS: '48' };
    const data = join(directory, 'data');
    const service = await serveSample(data, environment);
    try {
      process.env.SERVICE = service.url;
      await import(pathToFileURL(file('age.test.js')).href);
      const { paths } = await get(`${service.url}/openapi.json`);
      assert.is(paths['/api/age'].get.operationId, 'get_age');
      assert.match(await metricsOf(service), /^age_asked_total 2$/m);
    } finally {
      await service.stop();
    }
    // The number goes on, and the service asks for it with another thread.
    const next = await startServer(['serve', '--data', data, '--port', '0', '--workers', '2'], environment);
    try {
      assert.match(await metricsOf(next), /^age_asked_total 2$/m);
      await get(`${next.url}/api/age`);
      assert.match(await metricsOf(next), /^age_asked_total 3$/m);
    } finally {
      await next.stop();
    }
    const printed = async (...args: string[]) => (await start(args, environment).finished).stdout;
    assert.match(await printed('age', '--data', data), /^0\.\d hours$/m);
    assert.match(await printed('config'), /AGE_OLD_HOURS +environment +48/);
    assert.match(await printed('--help'), /^ {2}age +show how old the newest object is$/m);
  }));

test('a module that cannot be loaded is named, and nothing starts', () =>
  withDirectory(async directory => {
    const broken = join(directory, 'broken.js');
    for (const [code, why] of [
      ['export default 1;', 'its default export is not a function'],
      ["throw new Error('it is broken');", 'it is broken'],
      ["export default () => ({ name: 'adql' });", 'another capability is named adql'],
      ["export default () => ({ name: 'mine', needs: ['theirs'] });", 'it needs theirs, which is missing'],
      ["export default () => ({ name: 'mine', commands: {} });", 'its commands are not a Map'],
      [
        "export default () => ({ name: 'mine', settings: { settings: { NEARSKY_PORT: {} } } });",
        'another setting is named NEARSKY_PORT',
      ],
    ] as const) {
      writeFileSync(broken, code);
      const { code: status, stderr } = await start(['stats'], { NEARSKY_CAPABILITIES: broken }).finished;
      assert.is(status, 2);
      assert.is(stderr, `nearsky: Cannot load ${broken}, which NEARSKY_CAPABILITIES names, because ${why}\n`);
    }
  }));

test('a package for import only is found from the working directory', () =>
  withDirectory(async directory => {
    const folder = join(directory, 'node_modules/mine');
    mkdirSync(folder, { recursive: true });
    const exports = { '.': { types: './mod.d.ts', import: { default: './mod.js' } } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'mine', type: 'module', exports }));
    writeFileSync(join(folder, 'mod.js'), "export default () => ({ name: 'mine' });");
    const before = process.cwd();
    process.chdir(directory);
    try {
      assert.equal(await loadOutside('mine,', []), [{ name: 'mine' }]);
    } finally {
      process.chdir(before);
    }
  }));

const serving = (members: string) => `export default () => ({ name: 'mine', serve: async () => (${members}) });`;
const taken = (name: string, path: string) =>
  serving(`{ operations: [{ name: '${name}', method: 'GET', path: '${path}', handler: () => () => {} }] }`);
const making = (body: string) =>
  `export default nearsky => ({ name: 'mine', main: async () => ({ part: host => { ${body} } }) });`;

test('a capability that fails, or has what another one has, is named, and nothing is served', () =>
  withDirectory(async directory => {
    const file = join(directory, 'mine.ts');
    const data = join(directory, 'data');
    mkdirSync(data);
    const refused = async (args: string[], code: string, why: string) => {
      writeFileSync(file, code);
      const { code: status, stderr } = await start(args, { NEARSKY_CAPABILITIES: file }).finished;
      assert.is.not(status, 0, code);
      assert.match(stderr, `Cannot use the capability mine because ${why}\n`);
      assert.not.match(stderr, 'unending');
    };
    const serve = ['serve', '--port', '0', '--workers', '2', '--data', data];
    await refused(serve, serving("(() => { throw new Error('it is broken'); })()"), 'it is broken');
    await refused(serve, taken('mine', '/api/objects/:id'), 'objects has the path /api/objects/:id, too');
    const lookup = ['lookup', '1', '--data', data];
    await refused(lookup, taken('cone_search', '/mine'), 'objects has the operation cone_search, too');
    const page = "{ resources: () => [{ method: 'POST', path: '/api/cone', metric: 'mine', handler: () => {} }] }";
    await refused(lookup, serving(page), 'objects has the path /api/cone, too');
    await refused(lookup, making("throw new Error('it is broken');"), 'it is broken');
    const twice = "host.answer(nearsky.parts.channel('jobs'), () => 1);";
    await refused(lookup, making(twice + twice), 'another part answers on the channel jobs');
    const counting = (name: string) =>
      `export default () => ({ name: 'mine', counters: [{ name: '${name}', help: '' }] });`;
    await refused(lookup, counting('mine'), 'the counter mine is no name ending in _total');
    await refused(
      serve,
      counting('nearsky_stream_events_total'),
      'another counter is named nearsky_stream_events_total',
    );
    for (const name of ['stats', 'catalog'])
      await refused(
        lookup,
        `export default () => ({ name: 'mine', commands: new Map([['${name}', { summary: '' }]]) });`,
        `another command is named ${name}`,
      );
  }));

test('a handler that returns no answer gets an internal error, and its thread serves on', () =>
  withDirectory(async directory => {
    const file = join(directory, 'mine.js');
    writeFileSync(file, taken('mine', '/api/mine'));
    const data = join(directory, 'data');
    const service = await serveSample(data, { NEARSKY_CAPABILITIES: file });
    try {
      for (let i = 0; i < 2; i++) assert.is((await fetch(`${service.url}/api/mine`)).status, 500);
      assert.match(await (await fetch(`${service.url}/metrics`)).text(), /^nearsky_server_threads_replaced_total 0$/m);
    } finally {
      await service.stop();
    }
  }));

test.run();
