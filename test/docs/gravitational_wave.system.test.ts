/** docs/gravitational_wave.md: every block runs as printed, in order, and prints what the page says. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root, sample, withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../python.ts';
import { rehearse } from './rehearsal.ts';

const test = suite('docs/gravitational_wave');
const DOCUMENT = 'docs/gravitational_wave.md';

needs(test, whyNoPython('astropy'))('every block runs as printed', () =>
  rehearse(DOCUMENT, {
    blocks: 10,
    limitMs: 600_000,
    commands: { python3: `'${pythonWith('astropy')}'` },
  }),
);

const COUNT = `
import json, sys
from astropy import units
from mocpy import MOC
region = MOC.from_multiordermap_fits_file(sys.argv[1], cumul_to=0.9)
objects = [json.loads(line) for line in open(sys.argv[2])]
ra, dec = ([each[key] for each in objects] * units.deg for key in ("ra", "decl"))
print(region.contains_lonlat(ra, dec).sum())
`;

needs(test, whyNoPython('mocpy'))('mocpy finds as many objects of the night in the region as the page', async () => {
  const page = readFileSync(join(root, DOCUMENT), 'utf8');
  const [, night] = /sample\/(larger\.sh 400 20001 \S+)/.exec(page)!;
  const [, ...counts] = /^ +(\d+) coincident_sources\n +(\d+) no_coincident_source\n +(\d+) not_searched$/m.exec(page)!;
  await withDirectory(async directory => {
    const [map, alerts] = [join(directory, 'skymap.fits'), join(directory, 'alerts.ndjson')];
    writeFileSync(map, gunzipSync(readFileSync(join(sample, 'MS260308a.multiorder.fits.gz'))));
    writeFileSync(alerts, execFileSync('sh', ['-c', `'${sample}'/${night}`]));
    const found = await runPython(pythonWith('mocpy')!, ['-c', COUNT, map, alerts]);
    assert.is(
      Number(found),
      counts.reduce((sum, count) => sum + Number(count), 0),
    );
  });
});

test.run();
