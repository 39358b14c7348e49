/** The export of any store, imported elsewhere, gives the same store. */
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withDirectory } from '../../directory.ts';
import { anyStored, exportLines, importLines, linesOf, readersSee } from './support.ts';

const test = suite('import and export');
const RUNS = Number(process.env.TEST_ROUND_TRIPS ?? 20);

function notAnyRejected({ rejections, counts }: Awaited<ReturnType<typeof importLines>>): void {
  assert.equal([rejections, counts.withUnreadFields, counts.blank], [[], 0, 0]);
}

test('an export of what was imported, in any order, is the lines that were imported', () =>
  fc.assert(
    fc.asyncProperty(
      anyStored.chain(stored =>
        fc.record({
          stored: fc.constant(stored),
          shuffled: fc.shuffledSubarray(linesOf(stored), { minLength: linesOf(stored).length }),
        }),
      ),
      ({ stored, shuffled }) =>
        withDirectory(async directory => {
          notAnyRejected(await importLines(directory, 'a', shuffled));
          assert.equal(await exportLines(join(directory, 'a')), linesOf(stored));
        }),
    ),
    { numRuns: RUNS },
  ));

test('an export imported elsewhere gives equal answers, and a second import of it changes nothing', () =>
  fc.assert(
    fc.asyncProperty(anyStored, stored =>
      withDirectory(async directory => {
        const [a, b] = [join(directory, 'a'), join(directory, 'b')];
        notAnyRejected(await importLines(directory, 'a', linesOf(stored)));
        const exported = await exportLines(a);
        notAnyRejected(await importLines(directory, 'b', exported.toReversed()));
        const before = await readersSee(a, stored.tnsNames);
        assert.is(await readersSee(b, stored.tnsNames), before);

        const again = await importLines(directory, 'a', exported);
        notAnyRejected(again);
        assert.equal(
          sum(again.counts.types, 'imported', ['object', 'crossmatch_record', 'match', 'tns_association']),
          0,
        );
        assert.is(await readersSee(a, stored.tnsNames), before);
        assert.equal(await exportLines(a), exported);
      }),
    ),
    { numRuns: RUNS },
  ));

test('two stores brought together are the same whichever comes first', () =>
  fc.assert(
    fc.asyncProperty(anyStored, fc.infiniteStream(fc.boolean()), (stored, coin) =>
      withDirectory(async directory => {
        const parts: [string[], string[]] = [[], []];
        for (const [object, ...rest] of stored.objects) {
          for (const part of parts) part.push(object!);
          for (const line of rest) parts[coin.next().value ? 0 : 1].push(line);
        }
        for (const [name, first, second] of [
          ['ab', 0, 1],
          ['ba', 1, 0],
        ] as const) {
          notAnyRejected(await importLines(directory, name, parts[first]));
          notAnyRejected(await importLines(directory, name, parts[second]));
          assert.equal(await exportLines(join(directory, name)), stored.objects.flat());
        }
      }),
    ),
    { numRuns: RUNS / 2 },
  ));

function sum<T extends string>(
  types: Readonly<Record<T, { imported: number; unchanged: number }>>,
  what: 'imported' | 'unchanged',
  names: readonly T[],
) {
  return names.reduce((total, name) => total + types[name][what], 0);
}

test.run();
