/** The notebooks of docs/ print what is stored in them, against the demo. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root, sample, startServer, withDirectory } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../python.ts';

const test = suite('docs/notebooks');

interface Output {
  readonly output_type: string;
  readonly text?: readonly string[];
  readonly data?: Readonly<Record<string, string>>;
}

interface Notebook {
  readonly cells: readonly { readonly cell_type: string; readonly outputs: readonly Output[] }[];
}

/** Widths of columns differ between releases of pandas; figures between releases of matplotlib. */
const compared = (outputs: readonly Output[]) =>
  outputs.map(({ text, data }) =>
    text ? text.join('').replaceAll(/\s+/g, ' ').trim() : Object.keys(data!).map(type => `a figure: ${type}`),
  );

const MODULES = 'pandas, matplotlib';

needs(test, whyNoPython(MODULES))('every notebook runs, and prints what it shows', () =>
  withDirectory(async directory => {
    const demo = await startServer(['demo', '--port', '0', '--data', join(directory, 'data')]);
    const paths = globSync('docs/notebooks/*.ipynb', { cwd: root });
    assert.ok(paths.length > 0);
    for (const path of paths) {
      const { cells } = JSON.parse(readFileSync(join(root, path), 'utf8')) as Notebook;
      const ran = await runPython(
        pythonWith(MODULES)!,
        [join(root, 'test/docs/run_notebook.py'), join(root, path), demo.url],
        { variables: { PYTHONPATH: join(root, 'clients/python') }, cwd: root },
      );
      const outputs = JSON.parse(ran) as Output[][];
      const shown = cells.filter(({ cell_type }) => cell_type === 'code').map(cell => cell.outputs);
      assert.equal(outputs.map(compared), shown.map(compared), path);
      assert.ok(shown.flat().some(({ data }) => data?.['image/png']));
    }
    await demo.stop();
  }),
);

test('the list of transients is what its document prints', () => {
  const command = /^sample\/larger\.sh 500 .*$/m.exec(readFileSync(join(sample, 'README.md'), 'utf8'))![0];
  const printed = execFileSync('sh', ['-c', command], { cwd: root, encoding: 'utf8' });
  assert.is(printed, readFileSync(join(sample, 'transients.csv'), 'utf8'));
});

test.run();
