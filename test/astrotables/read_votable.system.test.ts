/** Strings in arrays, as STILTS writes them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hasStilts, runBeside } from '../core/tables/clients.ts';
import { withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { cellsOf, documentOf } from './read_cells.ts';

const test = suite('astrotables/read_votable of STILTS');

needs(test, hasStilts ? undefined : 'STILTS is not installed (Debian package stilts)')('every string of an array', () =>
  withDirectory(async directory => {
    const fields =
      '<FIELD name="two" datatype="char" arraysize="4x2"/><FIELD name="any" datatype="char" arraysize="4x*"/>';
    const rows = '<TR><TD>ab  cdef</TD><TD>a   bcd ef  </TD></TR><TR><TD/><TD/></TR>';
    const source = join(directory, 'source.vot');
    writeFileSync(source, documentOf(fields, `<TABLEDATA>${rows}</TABLEDATA>`));
    for (const form of ['votable-binary-inline', 'votable-binary2-inline', 'fits-basic']) {
      const out = join(directory, `${form}.table`);
      await runBeside('stilts', ['tcopy', `in=${source}`, 'ifmt=votable', `out=${out}`, `ofmt=${form}`]);
      assert.equal(
        await cellsOf(readFileSync(out)),
        [
          ['ab cdef', null],
          ['a bcd ef', null],
        ],
        form,
      );
    }
  }),
);

test.run();
