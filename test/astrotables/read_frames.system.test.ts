/** Tables of positions in other frames, as astropy and STILTS write them: their positions in ICRS are astropy's. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPositions, type NamedColumns, openTable, readPositions, TableError } from '@nearsky/astrotables';
import { describeFrame } from '@nearsky/astrotables/frames';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../python.ts';

const test = suite('astrotables/read_frames');

const SCRIPT = fileURLToPath(new URL('./make_frames.py', import.meta.url));
const LIMITS = { maxRows: 100_000, maxBytes: 2 ** 28 };
/** Random positions in each file, in addition to the special ones. */
const COUNT = process.env.TEST_FRAME_ROWS ?? '50';

/** What `make_frames.py` writes of its files. */
interface Truth {
  /** The frame and how it is known, by the name of the file. */
  readonly files: Readonly<Record<string, readonly [frame: string, source: string]>>;
  /** A part of the message, by the name of the file. */
  readonly refused: Readonly<Record<string, string>>;
  /** In ICRS, by the frame that the same numbers are read in. */
  readonly positions: Readonly<Record<string, readonly [ra: readonly number[], dec: readonly number[]]>>;
}

/** Set if the file has positions in ICRS that STILTS has converted. */
const OF_ICRS = ' of ICRS';
/**
 * Milliarcseconds, compared with astropy. STILTS itself differs from it by up to 25, and its FK4 has another epoch.
 */
const MAX_MAS = { astropy: 1, stilts: 30 };

async function frameOfTable(text: string, named: NamedColumns = {}) {
  const table = await openTable(new TextEncoder().encode(text), LIMITS, true);
  const columns = findPositions(table, named);
  await readPositions(table, columns);
  return `${describeFrame(columns.frame)}, ${columns.frameSource}`;
}

needs(test, whyNoPython('astropy'))(
  'every frame in every format is read to a milliarcsecond [Crossmatch of a table]',
  () =>
    withDirectory(async directory => {
      await runPython(pythonWith('astropy')!, [SCRIPT, directory, COUNT]);
      const truth: Truth = JSON.parse(readFileSync(join(directory, 'truth.json'), 'utf8'));
      assert.ok(Object.keys(truth.files).length >= 60, `${Object.keys(truth.files)}`);
      const worst = { astropy: 0, stilts: 0 };
      for (const [name, [said, source]] of Object.entries(truth.files)) {
        const frame = said.replace(OF_ICRS, '').replace(/^FK5$/, 'FK5 J2000');
        const table = await openTable(readFileSync(join(directory, name)), LIMITS, true);
        const named = source === 'request' ? { ra: 'ra5', dec: 'dec5', frame } : {};
        const columns = findPositions(table, named);
        assert.equal([describeFrame(columns.frame), columns.frameSource], [frame, source], name);
        const { ra, dec } = await readPositions(table, columns);
        const [ras, decs] = said.endsWith(OF_ICRS)
          ? [truth.positions.ICRS![0], truth.positions.ICRS![1]]
          : truth.positions[frame]!;
        assert.is(ra.length, ras.length, name);
        for (const [i, each] of ra.entries()) {
          const mas = 1000 * separationArcsec(each, dec[i]!, ras[i]!, decs[i]!);
          const by = name.startsWith('stilts') ? 'stilts' : 'astropy';
          worst[by] = Math.max(worst[by], mas);
          assert.ok(mas < MAX_MAS[by], `${name}, row ${i}: ${mas} mas`);
        }
      }
      const refusals: string[] = [];
      for (const [name, part] of Object.entries(truth.refused)) {
        const message = await openTable(readFileSync(join(directory, name)), LIMITS, true)
          .then(table => `read as ${describeFrame(findPositions(table, {}).frame)}`)
          .catch(error => (error instanceof TableError ? error.message : Promise.reject(error)));
        assert.ok(!message.startsWith('read as') && message.includes(part), `${name}: ${message}`);
        refusals.push(`${name}: ${message}`);
      }
      if (process.env.TEST_FRAME_ROWS)
        console.log(
          `${Object.keys(truth.files).length} files, furthest ${JSON.stringify(worst)} mas\n${refusals.join('\n')}`,
        );
    }),
);

const field = (name: string, attributes = '') => `<FIELD name="${name}" datatype="double" unit="deg" ${attributes}/>`;
const votable = (head: string, fields: string) =>
  `<?xml version="1.0"?><VOTABLE><RESOURCE>${head}<TABLE>${fields}<DATA><TABLEDATA><TR><TD>1</TD><TD>2</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>`;
const COOSYS = (system: string, equinox = '') =>
  `<COOSYS ID="s" system="${system}" ${equinox && `equinox="${equinox}"`}/>`;
const refs = field('ra', 'ref="s"') + field('dec', 'ref="s"');

test('the request goes before the table, and what the table declares before the names of its columns [Crossmatch of a table]', async () => {
  assert.is(await frameOfTable('ra,dec\n1,2\n'), 'ICRS, default');
  assert.is(await frameOfTable('ra,dec\n1,2\n', { frame: 'FK5 J1975' }), 'FK5 J1975, request');
  assert.is(await frameOfTable('l,b\n1,2\n'), 'GALACTIC, column name');
  assert.is(await frameOfTable('GLON,GLAT\n1,2\n', { frame: 'ICRS' }), 'ICRS, request');
  assert.is(await frameOfTable('ra,dec,l,b\n1,2,3,4\n'), 'ICRS, default');
  assert.is(await frameOfTable('RAB1950,DEB1950\n1,2\n'), 'FK4 B1950, column name');
  assert.is(await frameOfTable('RAJ1975,DEJ1975\n1,2\n'), 'FK5 J1975, column name');
  assert.is(await frameOfTable('target.ra,target.dec\n1,2\n'), 'ICRS, default');
  assert.is(await frameOfTable('target.l,target.b\n1,2\n'), 'GALACTIC, column name');
  assert.is(await frameOfTable(votable(COOSYS('eq_FK4', 'B1950'), refs)), 'FK4 B1950, declaration');
  assert.is(await frameOfTable(votable(COOSYS('eq_FK4', 'B1950'), refs), { frame: 'ICRS' }), 'ICRS, request');
  assert.is(await frameOfTable(votable(COOSYS('ICRS'), field('ra') + field('dec'))), 'ICRS, declaration');
  const galactic = field('x', 'ucd="pos.galactic.lon"') + field('y', 'ucd="pos.galactic.lat"');
  assert.is(await frameOfTable(votable('', galactic)), 'GALACTIC, declaration');
});

test('a frame that is not converted is named, and so are declarations that contradict each other [Crossmatch of a table]', async () => {
  const refusal = async (text: string, named: NamedColumns = {}) => {
    try {
      return await frameOfTable(text, named);
    } catch (error) {
      assert.instance(error, TableError, `${error}`);
      return (error as Error).message;
    }
  };
  assert.match(await refusal(votable(COOSYS('ecl_FK5', 'J2000'), refs)), /the frame ecl_FK5 .*is not converted/);
  assert.match(await refusal(votable(COOSYS('supergalactic'), refs)), /the frame supergalactic is not converted/);
  assert.match(await refusal(votable(COOSYS('eq_FK5', 'J1200'), refs)), /1700 to 2200/);
  assert.match(await refusal('ra,dec\n1,2\n', { frame: 'fk4noeterms' }), /fk4noeterms is not converted/);
  assert.match(
    await refusal(votable(COOSYS('galactic'), refs)),
    /GALACTIC \(COOSYS galactic\), but equatorial \(.*ra.*dec\): .*frame=/,
  );
  const both = `${COOSYS('eq_FK4', 'B1950')}<COOSYS ID="t" system="ICRS"/>`;
  assert.match(
    await refusal(votable(both, field('ra', 'ref="s"') + field('dec', 'ref="t"'))),
    /FK4 B1950 \(COOSYS eq_FK4 B1950\), but ICRS \(COOSYS ICRS\)/,
  );
  assert.match(await refusal('lon,lat\n1,2\n'), /not known: name them by ra= and dec=/);
  const ecliptic = field('elon', 'ucd="pos.ecliptic.lon"') + field('elat', 'ucd="pos.ecliptic.lat"');
  assert.match(await refusal(votable('', ecliptic)), /neither|not equatorial or galactic/);
});

test.run();
