/** `nearsky catalog add --radius`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nearsky, start } from '../../commands/in_process.ts';
import { writeHats } from '../../core/catalogs/write_hats.ts';
import { withDirectory } from '../../directory.ts';

const test = suite('catalogs/radius');

test('a radius is stored and listed; what is none is refused with its bound and its value', () =>
  withDirectory(async directory => {
    const location = join(directory, 'xray');
    writeHats(location, {
      name: 'xray',
      columns: [
        { name: 'id', type: 'INT64', data: [1n] },
        { name: 'ra', type: 'DOUBLE', data: [10] },
        { name: 'dec', type: 'DOUBLE', data: [1] },
        { name: 'err', type: 'FLOAT', data: [4] },
        { name: 'kind', type: 'STRING', data: ['a'] },
      ],
      ra: 'ra',
      dec: 'dec',
    });
    const description = join(directory, 'xray.json');
    const columns = [{ name: 'err', unit: 'arcsec' }, { name: 'kind', unit: 'arcsec' }, { name: 'ra' }];
    writeFileSync(description, JSON.stringify({ idColumn: 'id', columns, radius: { arcsec: 8, column: 'err' } }));
    const data = ['--data', join(directory, 'data')];
    const described = ['--description', description];
    const add = (...more: string[]) => nearsky('catalog', 'add', 'xray', location, ...more, ...data);
    const refused = async (pattern: RegExp, ...args: string[]) => {
      const { code, stderr } = await start(['catalog', ...args, ...data]).finished;
      assert.not.equal(code, 0, stderr);
      assert.match(stderr, pattern);
    };
    assert.equal((await add('--id', 'id', '--radius', '20')).radius, { arcsec: 20 });
    assert.equal((await add(...described)).radius, { arcsec: 8, column: 'err' });
    assert.equal((await add(...described, '--radius', '5')).radius, { arcsec: 5, column: 'err' });
    const three = await add(...described, '--radius', '60', '--radius-column', '3*err');
    assert.equal(three.radius, { arcsec: 60, column: 'err', factor: 3 });
    const listed = await start(['catalog', 'list', ...data]).finished;
    assert.match(listed.stdout, /radius +within 3\*err of each source, at most 60\.0 arcsec/);

    // A radius that the command does not state is kept, or refused where its column cannot be used, but never dropped.
    assert.equal((await add('--id', 'id', '--radius', '20')).radius, { arcsec: 20 });
    const again = await start(['catalog', 'add', 'xray', location, '--id', 'id', ...data]).finished;
    assert.match(again.stderr, /xray keeps its radius: .*20\.0 arcsec\. To change it, set --radius/);
    assert.equal((await add('--id', 'id')).radius, { arcsec: 20 });
    assert.equal((await add(...described, '--radius', '60', '--radius-column', '3*err')).radius, three.radius);
    await refused(/radius is in column err, .* no unit/, 'add', 'xray', location, '--id', 'id');
    await nearsky('catalog', 'remove', 'xray', ...data);
    assert.is((await add('--id', 'id')).radius, undefined);
    await add(...described, '--radius', '60', '--radius-column', '3*err');

    const id = ['add', 'xray', location, '--id', 'id'];
    for (const value of ['0', '-1', '60.1', 'NaN', '10arcsec'])
      await refused(
        new RegExp(`--radius must be .*above 0 and at most 60 .${value} was given`),
        ...id,
        '--radius',
        value,
      );
    await refused(
      /the factor of --radius-column must be .*1000.*1001/,
      ...id,
      '--radius',
      '9',
      '--radius-column',
      '1001*err',
    );
    await refused(/--radius-column needs --radius/, ...id, '--radius-column', 'err');
    await refused(/radius of its description names nothing/, ...id, '--radius', '9', '--radius-column', 'nothing');
    await refused(
      /must be a number in mas, arcsec, arcmin, deg: it is float64 in no unit/,
      ...id,
      '--radius',
      '9',
      '--radius-column',
      'err',
    );
    await refused(/it is text in arcsec/, 'add', 'xray', location, ...described, '--radius-column', 'kind');
    await refused(/the radius of gaia_dr3 is CROSSMATCH_RADIUS_ARCSEC/, 'add', 'gaia_dr3', location, '--radius', '2');

    // The next release keeps the radius, unless it is stated anew.
    const replace = ['catalog', 'replace', 'xray', location, ...data];
    assert.equal((await nearsky(...replace, '--release', '2')).radius, three.radius);
    assert.equal((await nearsky(...replace, '--release', '3', '--radius', '7')).radius, {
      ...(three.radius as object),
      arcsec: 7,
    });
    await refused(/names nothing/, 'replace', 'xray', location, '--release', '4', '--radius-column', 'nothing');
  }));

test.run();
