/** With one thread, a small query need not wait until a large one is done. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { delivery, match, NOW_US, PROVENANCE, searched, withApp } from './support.ts';

const test = suite('http/fairness');

const OBJECTS = Number(process.env.TEST_PAGE_OBJECTS ?? 2000);
const PAGES = 8;
const PAGE = `/api/recent-crossmatches?start=2026-09-21&end=2026-09-22&page_size=${OBJECTS}&detail=full`;

test('small queries go ahead of pages that were asked for before, and both answers are right', () =>
  withApp(
    async ({ writer }) => {
      const ids = Array.from({ length: OBJECTS }, (_, i) => BigInt(i));
      await writer.ingest(
        ids.map(id => delivery(id)),
        NOW_US,
      );
      const matches = ['1', '2', '3'].map(id => match('gaia_dr3', id));
      const results = ids.map(diaObjectId => ({ diaObjectId, catalogOutcomes: searched('gaia_dr3'), matches }));
      await writer.recordCrossmatches(results, PROVENANCE, NOW_US);
    },
    async app => {
      const alone = (await app.get(PAGE)).text;
      let pagesDone = 0;
      const pages = Array.from({ length: PAGES }, async () => {
        const { text } = await app.get(PAGE);
        pagesDone++;
        return text;
      });
      for (let id = 0; id < 3; id++) {
        const { diaObjectId } = await app.result(`/api/objects/${id}`).then(({ objects }) => objects[0]);
        assert.is(diaObjectId, id);
        assert.ok(pagesDone < PAGES, `object ${id} came after ${pagesDone} pages`);
      }
      const settled = (text: string) => text.replace(/"as_of": "[^"]*"/g, '');
      for (const text of await Promise.all(pages)) assert.is(settled(text), settled(alone));
    },
  ));

test.run();
