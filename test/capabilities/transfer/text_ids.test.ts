/** A catalog whose ids are texts: an export, imported elsewhere. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exportLines, importLines } from '../../commands/lines.ts';
import { IDS, withNames } from '../../core/http/text_ids.ts';

const test = suite('transfer/text_ids');

test('an export, imported elsewhere', () =>
  withNames(async ({ world }) => {
    const lines = await exportLines(join(world.directory, 'data'));
    assert.is((await importLines(join(world.directory, 'other'), lines)).with_unread_fields, 0);
    assert.equal(await exportLines(join(world.directory, 'other')), lines);
    const matches = lines.map(line => JSON.parse(line)).filter(({ type }) => type === 'match');
    assert.equal(matches.map(({ catalog_source_id }) => catalog_source_id).sort(), [...IDS].sort());
  }));

test.run();
