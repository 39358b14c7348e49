/** Tables with epochs: sources that move are compared at their positions then. */
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Answer } from '../../core/http/support.ts';
import { addStars, FAST, found, idOf, sky, withApp, YEARS } from '../crossmatch/moving_stars.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('table_match/epochs');

/** The Julian year of `YEARS`, in the forms of an epoch, for a unit of the column. */
const EPOCH = 2016 + YEARS;
const EPOCHS: readonly (readonly [cell: string, name: string, unit?: string])[] = [
  [`${EPOCH}`, 'epoch'],
  [`J${EPOCH}`, 'when'],
  [`${2_451_545 + (EPOCH - 2000) * 365.25}`, 'jd'],
  [`${51_544.5 + (EPOCH - 2000) * 365.25}`, 'obs_mjd'],
  ['2026-01-01T00:00:00Z', 'seen'],
  ['2026-01-01', 'date'],
];

test('a table with epochs has the matches of objects seen then; without them it has those of the catalog positions, and says so [Proper motion]', () =>
  inWorld(async world => {
    const { stars, objects } = sky(11, 300);
    await addStars(world, stars, { maxRows: 60, maxOrder: 8, rowGroupSize: 9 });
    const ids = await world.ingest(objects);
    await world.crossmatch({ properMotion: true });
    await withApp(world, async app => {
      const table = (name: string, cell: string) =>
        ['ra,dec', ...objects.map(({ ra, dec }) => `${ra},${dec}`)].map(
          (line, at) => `${line},${at === 0 ? name : cell}`,
        );
      const send = (search: string, lines: readonly string[]) =>
        app.post(`/api/crossmatch?against=gaia_dr3${search}`, `${lines.join('\n')}\n`, null);
      const rowsOf = ({ status, text }: Answer) => {
        assert.is(status, 200, text.slice(0, 300));
        return text
          .trim()
          .split('\n')
          .map(line => JSON.parse(line.replace(/("nearsky_source_id":\s*)(\d+)/, '$1"$2"')));
      };
      const expected = ids.map(id => found(world, id));
      for (const [cell, name] of EPOCHS)
        for (const epoch of [name, ...(/^J?2026/.test(cell) ? [cell] : [])]) {
          const rows = rowsOf(await send(`&format=ndjson&epoch=${epoch}`, table(name, cell)));
          rows.forEach((row, at) => {
            const [source = null, separation = null, atEpoch = null] = expected[at] ?? [];
            assert.equal(
              [row.nearsky_source_id, row.nearsky_separation_arcsec],
              [source, separation],
              `${epoch} ${at}`,
            );
            const difference = (row.nearsky_separation_at_epoch_arcsec ?? -1) - (atEpoch ?? -1);
            // The terrestrial time of the event is 69 s ahead of the table's.
            assert.ok(Math.abs(difference) < 1e-4, `${epoch} ${at}: ${difference}`);
          });
        }
      const still = stars.map((_, row) => ({ row, ...stars[row]! }));
      const atCatalog = objects.map(
        object =>
          still
            .map(star => ({
              id: `${idOf(star.row)}`,
              arcsec: separationArcsec(object.ra, object.dec, star.ra, star.dec),
            }))
            .filter(({ arcsec }) => arcsec <= 1)
            .sort((a, b) => a.arcsec - b.arcsec || (a.id < b.id ? -1 : 1))[0]?.id ?? null,
      );
      // Without an epoch, and in rows that have none.
      for (const [search, cell] of [
        ['', ''],
        ['&epoch=epoch', ''],
      ] as const) {
        const rows = rowsOf(await send(`&format=ndjson${search}`, table('epoch', cell)));
        assert.equal(
          rows.map(row => row.nearsky_source_id),
          atCatalog,
          search,
        );
      }
      for (const [search, claimed] of [
        ['', []],
        [`&epoch=${EPOCH}`, ['gaia_dr3']],
      ] as const) {
        const { status, text } = await send(`&format=votable&rows=matched${search}`, table('epoch', ''));
        assert.is(status, 200, text);
        const [, about] = /<INFO name="nearsky" value="([^"]*)"/.exec(text)!;
        const { provenance } = JSON.parse(about!.replaceAll('&quot;', '"'));
        const moved = provenance.catalogs.filter((each: { proper_motion?: true }) => each.proper_motion);
        assert.equal(
          moved.map(({ name }: { name: string }) => name),
          claimed,
        );
      }
    });
  }));

test('epochs that cannot be used are refused by name and value [Proper motion]', () =>
  inWorld(async world => {
    await addStars(world, [FAST]);
    await world.addCatalog('des_y6_gold', [FAST], {}, [6n]);
    await withApp(world, async app => {
      for (const [search, says, lines] of [
        ['against=objects&epoch=2026', /epoch needs a catalog with proper motions/],
        ['against=des_y6_gold&epoch=2026', /epoch needs a catalog with proper motions/],
        ['against=gaia_dr3&epoch=none', /no column none, named in epoch=/],
        ['against=gaia_dr3&epoch=1700', /1800 to 2200.*1700/],
        ['against=gaia_dr3&epoch=60000', /1800 to 2200.*60000/],
        ['against=gaia_dr3&epoch=mjd', /row 1 of its column mjd has the epoch 2026/, 'ra,dec,mjd\n10,5,2026\n'],
        ['against=gaia_dr3&epoch=t', /row 2 of its column t has the epoch 60000/, 'ra,dec,t\n10,5,2026\n10,5,60000\n'],
        ['against=gaia_dr3&epoch=t', /has the epoch soon/, 'ra,dec,t\n10,5,soon\n'],
        ['against=gaia_dr3&epoch=t', /has the epoch 12,/, 'ra,dec,t\n10,5,12\n'],
      ] as const) {
        const { status, text, body } = await app.post(`/api/crossmatch?${search}`, lines ?? 'ra,dec\n10,5\n', null);
        assert.equal([status, body?.param], [400, 'epoch'], text);
        assert.match(text, says);
      }
    });
  }));

test.run();
