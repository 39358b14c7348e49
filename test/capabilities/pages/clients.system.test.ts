/**
 * The clients that a service offers: pip installs the wheel, which equals the one that flit builds, and Node imports
 * the script.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { zip } from '../../../src/capabilities/pages/clients/zip.ts';
import { Service } from '../../clients/support.ts';
import { root } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';

const test = suite<{ service: Service; wheel: string }>('pages/clients');
const directory = mkdtempSync(join(tmpdir(), 'nearsky-served-'));
test.before(async context => {
  context.service = await Service.start();
  const { text } = await context.service.app.get('/consuming');
  context.wheel = /\/clients\/(nearsky-[\d.]+-py3-none-any\.whl)/.exec(text)![1]!;
});
test.after(async ({ service }) => {
  await service.close();
  rmSync(directory, { recursive: true, force: true });
});

test('the files are those of the checkout, for pages of any origin, and others are 404 [Documents]', async ({
  service,
  wheel,
}) => {
  for (const [name, type] of [
    ['nearsky.js', 'text/javascript; charset=utf-8'],
    ['nearsky.d.ts', 'application/typescript; charset=utf-8'],
  ] as const) {
    const { headers, text } = await service.app.get(`/clients/${name}`);
    assert.is(text, readFileSync(join(root, 'clients/typescript', name), 'utf8'));
    assert.is(headers.get('Content-Type'), type);
    assert.is(headers.get('Access-Control-Allow-Origin'), '*');
  }
  for (const name of ['nearsky.js', 'nearsky.d.ts', wheel]) {
    const address = `${service.url}/clients/${name}`;
    const first = await fetch(address);
    const etag = first.headers.get('ETag')!;
    const bytes = Buffer.from(await first.arrayBuffer());
    const unchanged = await fetch(address, { headers: { 'If-None-Match': `"other", W/${etag}` } });
    assert.equal([unchanged.status, unchanged.headers.get('ETag'), await unchanged.text()], [304, etag, '']);
    const changed = await fetch(address, { headers: { 'If-None-Match': '"other"' } });
    assert.ok(bytes.length > 0 && bytes.equals(Buffer.from(await changed.arrayBuffer())));
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.is(wheel, `nearsky-${version}-py3-none-any.whl`);
  for (const name of ['nothing', 'nearsky-0.0.0-py3-none-any.whl', '..%2fpackage.json'])
    assert.is((await service.app.get(`/clients/${name}`)).status, 404, name);
});

const PIP = 'pip,venv';

needs(test, whyNoPython(PIP))(
  'pip installs the wheel from the service into an empty environment, where it asks the service [Documents]',
  async ({ service, wheel }) => {
    const python = pythonWith(PIP)!;
    const place = join(directory, 'environment');
    await runPython(python, ['-m', 'venv', '--without-pip', place]);
    const own = join(place, 'bin/python');
    const address = `${service.url}/clients/${wheel}`;
    const target = (await runPython(own, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'])).trim();
    await runPython(python, ['-m', 'pip', 'install', '-q', '--no-deps', '--no-index', '--target', target, address]);
    const code = `
import sys, importlib.metadata
from nearsky import Nearsky
print(importlib.metadata.version("nearsky"), Nearsky(sys.argv[1]).status()["service_version"], len(importlib.metadata.files("nearsky")))`;
    const [installed, serves, files] = (await runPython(own, ['-c', code, service.url])).trim().split(' ');
    assert.is(installed, serves);
    assert.ok(Number(files) >= 7);
  },
);

const COMPARE = `
import base64, email, hashlib, sys, zipfile

def read(path):
    wheel = zipfile.ZipFile(path)
    assert wheel.testzip() is None
    files = {info.filename: wheel.read(info).decode() for info in wheel.infolist()}
    record = [name for name in files if name.endswith("/RECORD")][0]
    metadata = email.message_from_string(files.pop(record.replace("RECORD", "METADATA")))
    files.pop(record.replace("RECORD", "WHEEL"))
    rows = dict(row.split(",", 1) for row in files.pop(record).splitlines())
    assert sorted(rows) == sorted(wheel.namelist())
    assert rows.pop(record) == ","
    for name, said in rows.items():
        data = wheel.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        assert said == f"sha256={digest},{len(data)}", name
    return {"files": files, "metadata": sorted(metadata.items()), "payload": metadata.get_payload().strip()}

ours, theirs = read(sys.argv[1]), read(sys.argv[2])
for key in ours:
    assert ours[key] == theirs[key], (key, ours[key], theirs[key])
`;

/** pip gets flit from a registry. */
function obstacle(): string | undefined {
  const why = whyNoPython('pip');
  if (why) return why;
  const args = ['-m', 'pip', 'wheel', '-q', '--no-deps', '--retries=1', '--timeout=10', '-w', join(directory, 'flit')];
  const { status, stderr } = spawnSync(pythonWith('pip')!, [...args, join(root, 'clients/python')], {
    encoding: 'utf8',
  });
  return status === 0 ? undefined : `pip cannot get flit_core: ${stderr.trim().split('\n').at(-1)}`;
}

needs(test, obstacle())(
  'the wheel has the files and the metadata of the one that flit builds',
  async ({ service, wheel }) => {
    const served = await fetch(`${service.url}/clients/${wheel}`);
    const bytes = new Uint8Array(await served.arrayBuffer());
    const ours = join(directory, wheel);
    writeFileSync(ours, bytes);
    const [flit] = readdirSync(join(directory, 'flit'));
    assert.is(flit, wheel);
    await runPython(pythonWith('pip')!, ['-c', COMPARE, ours, join(directory, 'flit', flit!)]);
  },
);

needs(test, whyNoPython('zipfile'))('an archive is the same bytes each time, and Python unpacks it', async () => {
  const files = new Map([
    ['empty', new Uint8Array()],
    ['a/naïve.txt', new TextEncoder().encode('text\n')],
    ['bytes', Uint8Array.from({ length: 70_000 }, (_, i) => (i * i) % 251)],
  ]);
  const bytes = zip(files);
  assert.equal(bytes, zip(files));
  mkdirSync(join(directory, 'zip'));
  writeFileSync(join(directory, 'zip/a.zip'), bytes);
  const code = `
import hashlib, json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps({name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}))`;
  const read = JSON.parse(await runPython(pythonWith('zipfile')!, ['-c', code, join(directory, 'zip/a.zip')]));
  assert.equal(
    read,
    Object.fromEntries([...files].map(([name, each]) => [name, createHash('sha256').update(each).digest('hex')])),
  );
});

test('Node runs the script that a service hands out', async ({ service }) => {
  const { text } = await service.app.get('/clients/nearsky.js');
  const file = join(directory, 'nearsky.mjs');
  writeFileSync(file, text);
  const { Nearsky } = await import(file);
  assert.is((await new Nearsky(service.url).describe()).catalogs.length > 0, true);
});

test.run();
