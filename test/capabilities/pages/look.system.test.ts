/** How the pages look in a real browser at a first glance, at a desk and on a telephone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { eventually, root } from '../../e2e/support.ts';
import { browserSuite, MATCHED, visiting } from './browser.ts';

const { test, check, checkQueries } = browserSuite('pages/look');

const DESK = { width: 1440, height: 900 };
/** Another process reads files, and the first query waits for its tables. */
const PATIENT = { timeout: 120_000 };
const TELEPHONE = { width: 390, height: 844 };

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

async function boxOf(page: Page, selector: string): Promise<Box> {
  const box = await page.locator(selector).first().boundingBox();
  assert.ok(box, `${selector} is shown`);
  return box!;
}

check('the head is one row, and the notice of the demo one line', async world => {
  for (const path of ['/', '/recent'])
    await visiting(world, path, async page => {
      await page.setViewportSize(DESK);
      const middle = async (selector: string) => {
        const { y, height } = await boxOf(page, selector);
        return y + height / 2;
      };
      const parts = ['.wordmark', '.top nav', ...(path === '/' ? [] : ['.top .search']), '.theme'];
      const middles = await Promise.all(parts.map(middle));
      assert.ok(Math.max(...middles) - Math.min(...middles) < 2, `${middles}`);
      for (const size of [DESK, TELEPHONE]) {
        await page.setViewportSize(size);
        assert.ok((await boxOf(page, '.about-data')).height < 40, `${path} at ${size.width}`);
      }
      // On a telephone the menu is one line below the search.
      assert.ok((await boxOf(page, '.top nav')).height < 40);
      assert.ok((await boxOf(page, '.top')).height < 110);
    });
});

check('the front page has three doors in the first view, and the map after them', world =>
  visiting(world, '/', async page => {
    await page.setViewportSize(DESK);
    const doors = page.locator('.doors h2');
    assert.equal(await doors.allTextContents(), ['Look up', 'Match my list', 'Follow']);
    const map = await boxOf(page, '#map');
    for (const door of await doors.all()) assert.ok((await door.boundingBox())!.y < map.y);
    assert.ok(map.y + map.height / 2 < DESK.height);
    assert.match((await page.locator('.lead').textContent())!, /Gaia DR3.* lies within 1\.0″/);
    await page.getByRole('link', { name: 'Match my list' }).click();
    await page.getByRole('heading', { name: 'Match my list', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Follow' }).click();
    await page.getByRole('heading', { name: 'Recent crossmatches' }).waitFor();
  }),
);

/** The visible links that are less than 24 pixels high or wide, with the folded parts opened. */
const SMALL_LINKS = `[...document.querySelectorAll('a:not(.skip), button, summary')]
  .filter(each => each.checkVisibility() && !each.closest('svg'))
  .map(each => ({ text: each.textContent.trim(), box: each.getBoundingClientRect() }))
  .filter(({ box }) => box && (box.height < 24 || box.width < 16))
  .map(({ text, box }) => text.slice(0, 40) + ' ' + box.width + ' x ' + box.height)`;

check('on a telephone each link is at least 24 pixels high, and each mark as wide as high', async world => {
  const list = encodeURIComponent(`${MATCHED}\nfoo`);
  const paths = [`/objects/${MATCHED}`, `/search?q=${list}`, '/search?q=61.6223+-49.2951&radius=60'];
  for (const path of [...paths, '/', '/recent', '/help', '/docs/tutorial', '/catalogs', '/consuming'])
    await visiting(world, path, async page => {
      await page.setViewportSize(TELEPHONE);
      await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');
      assert.equal(await page.evaluate(SMALL_LINKS), [], path);
      const marks = `[...document.querySelectorAll('main .mark')].filter(each => each.checkVisibility())
        .map(each => each.getBoundingClientRect()).filter(({ width, height }) => Math.abs(width - height) > 0.5).length`;
      assert.is(await page.evaluate(marks), 0, path);
    });
});

check('on a telephone the contents of a document are at its top, and lead to its sections', world =>
  visiting(world, '/docs/tutorial', async page => {
    await page.setViewportSize(TELEPHONE);
    const contents = page.getByText('On this page');
    assert.ok((await contents.boundingBox())!.y < (await boxOf(page, 'article h1')).y);
    await contents.click();
    await page.locator('.contents-here a').nth(1).click();
    assert.match(page.url(), /#2-one-object$/);
    await page.setViewportSize(DESK);
    assert.not.ok(await contents.isVisible());
  }),
);

check('the regions of a sky map, and a MOC, are drawn and named', world =>
  visiting(world, '/area', async page => {
    const drawn = () =>
      page.evaluate(`(() => {
        const canvas = document.querySelector('#map');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const [red, green, blue] = getComputedStyle(canvas).columnRuleColor.match(/\\d+/g).map(Number);
        let found = 0;
        for (let i = 0; i < data.length; i += 4)
          if (Math.hypot(data[i] - red, data[i + 1] - green, data[i + 2] - blue) < 60 && data[i + 3] > 200) found++;
        return found;
      })()`);
    await page.locator('#file').setInputFiles(join(root, 'sample/MS260308a.multiorder.fits.gz'));
    await page.getByRole('heading', { name: /^\d+ objects? in the 90 % region/ }).waitFor(PATIENT);
    await page.locator('#contours li').nth(1).waitFor(PATIENT);
    assert.equal(await page.locator('#contours li').allTextContents(), ['50 % region', '90 % region']);
    await eventually('the regions are drawn', async () => Number(await drawn()) > 50 || undefined);
    await page.locator('#clear').click();
    assert.not.ok(await page.locator('#contours').isVisible());
    await page.locator('#area-text').fill('3/5');
    await page.locator('#area').getByRole('button', { name: 'Search', exact: true }).click();
    await eventually('the MOC is drawn', async () => Number(await drawn()) > 50 || undefined);
    assert.not.ok(await page.locator('#contours').isVisible());
  }),
);

/** What takes the focus of a keyboard, of all groups of radio buttons the chosen one. */
const REACHABLE = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter(each => each.checkVisibility() && !each.disabled && !(each.type === 'radio' && !each.checked))`;

check('a keyboard alone reaches every link and control', async world => {
  for (const path of ['/', `/objects/${MATCHED}`, '/query', '/recent', '/area', '/crossmatch', '/sample'])
    await visiting(world, path, async page => {
      await page.locator('.near tbody, .tries, .recent tbody, #map, form .editor').first().waitFor();
      const count = Number(await page.evaluate(`${REACHABLE}.length`));
      await page.evaluate(`document.addEventListener('focusin', ({ target }) => (target.reached = true))`);
      for (let i = 0; i < count; i++) await page.keyboard.press('Tab');
      const missed = `${REACHABLE}.filter(each => !each.reached).map(each => each.outerHTML.slice(0, 100))`;
      assert.equal(await page.evaluate(missed), [], path);
    });
});

check('the page of an object: its sky within 60 arcsec in the first view, and links that say where they lead', world =>
  visiting(world, `/objects/${MATCHED}`, async page => {
    await page.setViewportSize(DESK);
    const rows = page.locator('.near tbody tr');
    await rows.first().waitFor();
    assert.is(await rows.count(), 8);
    assert.match((await rows.first().textContent())!, /Gaia DR3 \d+\s+0\.12″\s+G 20\.33\s+star classprob.*%/s);
    const aside = await boxOf(page, '.near');
    const plot = await boxOf(page, '.finder');
    assert.ok(aside.x >= plot.x + plot.width && aside.y < DESK.height / 2, 'the list is beside the plot');
    const image = page.getByRole('checkbox', { name: /^Sky image from/ });
    assert.not.ok(await image.isChecked());
    for (const size of [DESK, TELEPHONE]) {
      await page.setViewportSize(size);
      assert.ok((await image.boundingBox())!.y < size.height, `${size.width}`);
    }
    for (const name of ['Lasair', 'ANTARES', 'Fink', 'ALeRCE'])
      await page.getByRole('link', { name: `light curve at ${name}` }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as PNG' }).click(),
    ]);
    const png = readFileSync(await download.path());
    // The plot, its caption, 3 rows of the legend, and 4 sources with their magnitudes.
    assert.ok(
      png.readUInt32BE(20) > png.readUInt32BE(16) + 4 * 100,
      `${png.readUInt32BE(16)} x ${png.readUInt32BE(20)}`,
    );
  }),
);

check('recent crossmatches have position, verdict and chance, and one time', world =>
  visiting(world, '/recent', async page => {
    await page.locator('.recent tbody tr').first().waitFor();
    const text = (await page.locator('.recent tbody').textContent())!;
    assert.match(text, /\d+\.\d{6} [−+]\d+\.\d{6}.*, (?:star|galaxy), by chance < 0\.01 %/s);
    assert.not.match(text, /MJD/);
  }),
);

checkQueries('the page of queries: results below Run, tables beside it, examples above', world =>
  visiting(
    world,
    '/query',
    async page => {
      await page.setViewportSize(DESK);
      await page.getByRole('textbox', { name: 'A query in ADQL' }).fill('SELECT nothing');
      await page.getByRole('button', { name: 'Run' }).click();
      await page.locator('#results .notice').waitFor(PATIENT);
      const run = await boxOf(page, '#query .primary');
      const notice = await boxOf(page, '#results .notice');
      assert.ok(notice.y > run.y && notice.y < run.y + run.height + 60, 'the error is directly below');
      assert.ok((await boxOf(page, '.tries')).y < run.y);
      const schema = await boxOf(page, '.schema');
      assert.ok(schema.x > run.x + 300 && schema.y < run.y);
      assert.not.ok(await page.getByText('TAP_SCHEMA.columns').isVisible());
      await page.getByText('TAP_SCHEMA', { exact: true }).click();
      assert.ok(await page.getByText('TAP_SCHEMA.columns').isVisible());
    },
    /status of [45]/,
  ),
);

test.run();
