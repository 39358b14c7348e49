/** The crossmatch of a table with the objects after an earlier entry of the journal. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually, TestApp } from '../../core/http/support.ts';
import { HARD_PLACES, offset, seededRandom } from '../../oracle/skies.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('table_match/earlier');
/** Each stores objects, and removes a third of them. */
const ROUNDS = Number(process.env.TEST_EARLIER_ROUNDS ?? 1);

test('at=N has the objects of that state, whatever was stored and removed since [The state after an entry]', () =>
  inWorld(async world => {
    const random = seededRandom(5);
    const around = () =>
      HARD_PLACES.flatMap(place => Array.from({ length: 6 }, () => offset(place, 20 * random() ** 2, 7 * random())));
    const table = `ra,dec\n${around()
      .map(({ ra, dec }) => `${ra},${dec}\n`)
      .join('')}`;
    const app = await new TestApp(join(world.directory, 'data')).ready();
    const send = (search: string) => app.post(`/api/crossmatch?radius_arcsec=15${search}`, table, 'text/csv');
    try {
      const early = await send('&at=1');
      assert.equal([early.status, early.body.param], [400, 'at'], 'there is no history');
      assert.is((await send('')).headers.get('X-Journal-Entry'), null);
      await world.writer.keepHistory(true);
      const known: { readonly entry: number; readonly find: string; readonly text: string }[] = [];
      const note = async () => {
        const last = world.store.lastSequence();
        for (const find of ['nearest', 'all']) {
          const { headers, text } = await eventually('the index has the last entry', async () => {
            const answer = await send(`&find=${find}`);
            return answer.headers.get('X-Journal-Entry') === `${last}` ? answer : undefined;
          });
          known.push({ entry: Number(headers.get('X-Journal-Entry')), find, text });
        }
      };
      let first = 1_000n;
      for (let round = 0; round < ROUNDS; round++) {
        const ids = await world.ingest(around(), (first += 1_000n));
        await note();
        await world.writer.remove(
          ids.filter((_, i) => i % 3 === round % 3),
          'wrong',
        );
        await note();
      }
      for (const { entry, find, text } of known)
        assert.is((await send(`&find=${find}&at=${entry}`)).text, text, `${find} at ${entry}`);
      assert.is(new Set(known.map(({ text }) => text)).size, known.length, 'the states differ');
      const { text } = await send(`&format=ecsv&at=${known[0]!.entry}`);
      assert.match(text, new RegExp(`"journal_entry": ?${known[0]!.entry}\\b`));
      assert.not.match(text, '"time":');
      const beyond = await send(`&at=${world.store.lastSequence() + 5}`);
      assert.equal([beyond.status, beyond.body.param], [400, 'at']);
      const catalog = await send('&against=gaia_dr3&at=1');
      assert.equal([catalog.status, catalog.body.param], [400, 'at']);
    } finally {
      await app.app.close();
    }
  }));

test.run();
