/** One run of the demo as a user runs it, and that docs/api.md shows its answers. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadConfig } from '../../../src/core/config/config.ts';
import { API } from '../../capabilities.ts';
import { get, root, startServer, withDirectory } from '../../e2e/support.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const api = readFileSync(join(root, 'docs/api.md'), 'utf8');

/**
 * docs/api.md's answer as a pattern: line breaks are added after commas and brackets, `…` stands for what is left out, and the
 * times of ingest, crossmatch and registry are others.
 */
function patternOf(printed: string): RegExp {
  const escaped = printed
    .trim()
    .replace(/\n\s*/g, ' ')
    .replace(/([[{]) /g, '$1')
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('…', '.*?')
    .replace(/("(?:ingest_time|crossmatched_at|snapshot_epoch)": )"[^"]*"/g, '$1"[-+:.T\\d]+"');
  return new RegExp(`^${escaped}$`);
}

const test = suite('demo/demo');

test('shows each status, answers every address that it prints, answers as docs/api.md says, and leaves nothing behind', () =>
  withDirectory(async directory => {
    const temporary = join(directory, 'tmp');
    mkdirSync(temporary);
    const demo = await startServer(['demo', '--port', '0'], { TMPDIR: temporary });
    assert.is(readdirSync(temporary).length, 1);

    const [, host, path] = /^curl -s (http:\/\/[^/\s]+)(\S+)$/m.exec(readme)!;
    assert.match(api, `\ncurl -s ${host}${path}\n`);
    assert.is(host, `http://127.0.0.1:${loadConfig().NEARSKY_PORT}`, 'the port that the demo takes by default');
    const answer = await request(demo.url + path);
    assert.match(await answer.body.text(), patternOf(/```json\n(.*?)```/s.exec(api)![1]!));

    const addresses = [...demo.seen().matchAll(/^ {2}(http\S+)$/gm)].map(([, address]) => address!);
    assert.ok(addresses.includes(demo.url + path), 'the demo prints the address of README.md');
    for (const address of addresses) await get(address);
    // Without pages nothing is there.
    if (API.hasPages)
      assert.match(await (await request(demo.url)).body.text(), 'most catalog rows and TNS names are made up');

    const shown = {
      '313637935709683761': 'coincident_sources',
      '9000000000000000004': 'coincident_sources',
      '313664312957206554': 'no_coincident_source',
      '169579900785655908': 'not_searched',
      '9000000000000000001': 'not_searched',
      '169641483339038753': 'crossmatch_pending',
      '170028513894596704': 'not_in_service',
    };
    for (const [id, status] of Object.entries(shown)) {
      const { results } = await get(`${demo.url}/api/objects/${id}`);
      assert.is(results[0].status, status, id);
    }
    const { code, stderr, stdout } = await demo.stop();
    const printed = [...stdout.matchAll(/^ {2}http\S+\/api\/objects\/(\d+)/gm)].map(([, id]) => id!);
    assert.equal(printed.sort(), Object.keys(shown).sort());
    assert.is(code, 0, stderr);
    assert.equal(readdirSync(temporary), []);
  }));

test.run();
