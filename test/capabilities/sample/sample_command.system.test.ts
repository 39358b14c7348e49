/** `nearsky sample`, over a data directory and over a service. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nearsky, sample, start, startServer, withDirectory } from '../../e2e/support.ts';

const test = suite('sample/sample_command');

const ID = '313637935709683761';
const run = (...args: readonly string[]) => start(['sample', ...args]).finished;

test('a list of ids and names, and a table, from the directory and from a service', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    await nearsky('catalog', 'add', 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'), '--data', data);
    const list = join(directory, 'list.txt');
    writeFileSync(list, `${ID}\nSN 2099aaa\n\nnothing "known"\n`);
    const table = join(directory, 'list.csv');
    writeFileSync(table, 'name,ra,dec\nthis one,61.62227592104076,-49.29512529953388\n');
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch', '--no-refresh']);
    const reports: string[] = [];
    for (const where of [
      ['--data', data],
      ['--url', server.url],
    ]) {
      const shown = await run(list, ...where);
      assert.is(shown.code, 0, shown.stderr);
      assert.match(shown.stdout, /^3 inputs: 1 crossmatch_pending, 1 resolver_unavailable, 1 invalid_input\n/);
      assert.match(shown.stdout, /gaia_dr3: 1 searched, .* 1 with a source/);
      const out = join(directory, 'report.json');
      const written = await run(table, ...where, '-o', out);
      assert.equal([written.code, written.stdout], [0, ''], written.stderr);
      reports.push(readFileSync(out, 'utf8'));
    }
    assert.is(reports[0], reports[1]);
    const { rows } = JSON.parse(reports[0]!);
    assert.equal([rows[0].label, rows[0].diaObjectId_str], ['this one', ID]);
    assert.is(rows[0].catalogs.gaia_dr3.catalog_source_id, '9000000000001000001');
    const fits = join(directory, 'report.fits');
    assert.is((await run(table, '--url', server.url, '-o', fits)).code, 0);
    assert.is(readFileSync(fits, 'latin1').slice(0, 8), 'SIMPLE  ');
    const page = join(directory, 'report.html');
    assert.is((await run(table, '--data', data, '-o', page)).code, 0);
    assert.match(readFileSync(page, 'utf8'), /^<!doctype html>[\s\S]*this one[\s\S]*<\/html>\n$/);
    const latex = join(directory, 'report.tex');
    assert.is((await run(table, '--url', server.url, '-o', latex)).code, 0);
    assert.match(readFileSync(latex, 'utf8'), '\n\\startdata\nthis one & ');
    assert.match((await run(list, '--data', data, '--format', 'csv')).stdout, /^label,status,diaObjectId,/);
    const keeping = await run(table, '--url', server.url, '--keep', 'My paper');
    const link = /^http\S+\/sample\?kept=([0-9a-f]{32}) \(until \d{4}-\d\d-\d\d\)\n$/.exec(keeping.stdout);
    assert.ok(link, keeping.stderr);
    const kept = async (url: string) =>
      (await (await fetch(`${url}/api/samples/${link[1]}`)).json()) as { rows: { label: string }[] };
    assert.is((await kept(server.url)).rows[0]!.label, 'this one');
    for (const args of [
      ['--keep', 'x', table],
      [],
      [table, '--url', server.url, '--catalogs', 'nothing'],
      [table, '--url', server.url, '--id', 'nothing'],
      [table, '-o', join(directory, 'report.exe')],
    ]) {
      const refused = await run(...args, ...(args.includes('--url') ? [] : ['--data', data]));
      assert.is(refused.code, 2, refused.stderr);
    }
    assert.not(existsSync(join(directory, 'report.exe')));
    // As if the machine had failed.
    server.child.kill('SIGKILL');
    const next = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch', '--no-refresh']);
    assert.is((await kept(next.url)).rows[0]!.label, 'this one');
    await next.stop();
  }));

test.run();
