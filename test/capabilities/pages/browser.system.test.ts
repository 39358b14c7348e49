/**
 * The pages in a real browser, over the sample: what people see and do, at two widths and in both themes, without an error in the console,
 * and what axe finds. Needs Chromium (Debian package `chromium`); CHROMIUM names another one.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { CATALOG_OUTCOMES, OBJECT_STATUSES } from '../../../src/core/contract/enums.ts';
import { eventually, nearsky, root, startServer } from '../../e2e/support.ts';
import { startBalancer, whyNoBalancer } from '../../e2e/three_nodes.ts';
import { needs } from '../../needs.ts';
import { freePorts } from '../consume/kafka_server.ts';
import {
  browserSuite,
  MATCHED,
  MISSING,
  NO_POSITION,
  NOTHING_THERE,
  OUTSIDE,
  obstacle,
  PENDING,
  queries,
  visiting,
} from './browser.ts';
import { OVERLAPPING_TEXTS } from './overlaps.ts';

const { test, check, checkQueries } = browserSuite('pages/browser');

const PAGES = [
  '/',
  '/?layer=coverage',
  '/search?q=61.6223+-49.2951&radius=60',
  '/search?q=M31',
  `/objects/${MATCHED}`,
  `/objects/${PENDING}`,
  `/objects/${NO_POSITION}`,
  `/objects/${OUTSIDE}`,
  `/objects/${NOTHING_THERE}`,
  '/objects/170028513894596704',
  '/recent',
  '/area?area=CIRCLE+61.6223+-49.2951+1',
  '/crossmatch',
  '/sample',
  '/validation',
  ...(queries === undefined ? ['/query?q=SELECT+TOP+9+diaObjectId,ra,dec+FROM+nearsky.gaia_dr3_matches'] : ['/query']),
  '/catalogs',
  '/help',
  '/brokers',
  '/consuming',
  '/status',
  '/api-docs',
  '/vo',
  '/docs',
  '/docs/tutorial',
  '/docs/contract',
  '/docs/operations',
  `/search?q=${MATCHED}%0A${PENDING}%0Afoo`,
  '/search?q=SN+2099aaa',
  MISSING,
];

/** The pages alternate between these, because all four combinations take twice the time. */
const TWO_LOOKS = [
  [
    [1280, 'light'],
    [390, 'dark'],
  ],
  [
    [1280, 'dark'],
    [390, 'light'],
  ],
] as const;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

check('axe finds nothing, at two widths and in both themes; nothing is wider than the window', async world => {
  for (const [i, path] of PAGES.entries()) {
    await visiting(world, path, async page => {
      // Evaluated through the debugger, which the policy of the page does not stop.
      await page.evaluate(axe);
      // The folded parts are opened, so that they are checked, too.
      await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');
      for (const [width, colorScheme] of TWO_LOOKS[i % 2]!) {
        await page.setViewportSize({ width, height: 844 });
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const violations = await page.evaluate(
          `axe.run().then(({ violations }) => violations.map(v => [v.id, v.impact, v.nodes[0].html]))`,
        );
        assert.equal(violations, [], `${path} at ${width}, ${colorScheme}`);
        const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
        assert.ok(overflow <= 0, `${path} at ${width} is ${overflow} too wide`);
      }
    });
  }
});

const WIDTHS = [1440, 768, 390];

/** Asserts that no text lies over another at any width, the folded parts opened. */
async function assertLegible(page: Page, what: string): Promise<void> {
  await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    assert.equal(await page.evaluate(OVERLAPPING_TEXTS), [], `${what} at ${width}`);
  }
}

check('no text lies over another, on any page, at three widths', async world => {
  for (const path of PAGES) await visiting(world, path, page => assertLegible(page, path));
});

check('no text lies over another, whatever the outcome of each catalog and the status of the object', async world => {
  const OUTCOMES = CATALOG_OUTCOMES.map(({ name }) => name);
  for (const [i, { name: status }] of OBJECT_STATUSES.entries())
    await visiting(world, '/brokers', async page => {
      await page.route('**/api/objects/*', async route => {
        const answer = await (await route.fetch()).json();
        const [object] = answer.results[0].objects;
        object.status = status;
        for (const [j, name] of Object.keys(object.crossmatch.catalog_outcomes).entries())
          object.crossmatch.catalog_outcomes[name] = OUTCOMES[(i + j) % OUTCOMES.length];
        await route.fulfill({ json: answer });
      });
      await page.goto(`${world.server.url}/objects/${MATCHED}`);
      await page
        .locator(status === 'not_in_service' ? '#object .notice' : '.outcome')
        .first()
        .waitFor();
      await assertLegible(page, status);
    });
});

check('the measure of overlap sees texts that lie over each other, and no others', async world => {
  await visiting(world, '/brokers', async page => {
    await page.setViewportSize({ width: 1440, height: 900 });
    // Moved by script, which the policy of the page does not stop.
    await page.evaluate(`{
      const [first, second] = document.querySelectorAll('main h2, main .lead');
      const by = (second.getBoundingClientRect().top - first.getBoundingClientRect().top);
      second.style.transform = 'translateY(' + -by + 'px)';
    }`);
    const found = (await page.evaluate(OVERLAPPING_TEXTS)) as string[];
    assert.ok(found.length > 0);
    assert.match(found[0]!, /The service holds only.* over .*What an absence|What an absence.* over .*The service/);
  });
});

check('until an answer comes, the page says that it is loading', async world => {
  const page = await world.context.newPage();
  const { promise, resolve } = Promise.withResolvers<void>();
  try {
    await page.route('**/api/objects/*', async route => {
      await promise;
      await route.continue();
    });
    await page.goto(`${world.server.url}/objects/${MATCHED}`);
    await page.locator('#object .loading').waitFor();
    assert.is(await page.title(), `${MATCHED} · nearsky`);
    resolve();
    await page.locator('.verdict').waitFor();
    assert.is(await page.locator('#object > .loading').count(), 0);
  } finally {
    resolve();
    await page.close();
  }
});

check('on paper: nothing that is clicked, dark ink, and no text over another', async world => {
  for (const path of [`/objects/${MATCHED}`, '/recent', '/brokers', '/api-docs', '/docs/tutorial'])
    await visiting(world, path, async page => {
      // 17 cm between the margins of A4.
      await page.setViewportSize({ width: 643, height: 900 });
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      for (const place of ['nav', '.search', '.theme', 'main button'])
        for (const each of await page.locator(place).all()) assert.not.ok(await each.isVisible(), `${path} ${place}`);
      assert.is(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(255, 255, 255)');
      assert.is(await page.evaluate('getComputedStyle(document.body).color'), 'rgb(24, 32, 44)');
      assert.equal(await page.evaluate(OVERLAPPING_TEXTS), [], path);
      // An unfilled dot would mean the opposite.
      const adjusted = `Array.from(document.querySelectorAll('.badge, .outcome'), each => getComputedStyle(each, '::before').printColorAdjust)`;
      for (const each of (await page.evaluate(adjusted)) as string[]) assert.is(each, 'exact', path);
      if (path.startsWith('/objects')) await page.locator('.card code').last().waitFor();
    });
});

check('on paper the map is drawn', world =>
  visiting(world, '/', async page => {
    const isDrawn = () =>
      page.evaluate(`(() => {
        const { width, height } = document.querySelector('#map');
        const { data } = document.querySelector('#map').getContext('2d').getImageData(0, 0, width, height);
        return data.some(value => value !== 0);
      })()`);
    await eventually('the map is drawn', async () => (await isDrawn()) || undefined);
    // A printed page has no frame after its resize.
    await page.evaluate('window.requestAnimationFrame = () => 1');
    await page.setViewportSize({ width: 643, height: 900 });
    await page.waitForTimeout(300);
    assert.ok(await isDrawn());
  }),
);

check('Back returns to the area and the filter before', async world => {
  const address = (page: Page) => new URL(page.url()).search;
  await visiting(world, '/recent', async page => {
    await page.locator('#recent tbody tr').first().waitFor();
    await page.locator('label', { has: page.locator('input[name="hours"][value="72"]') }).click();
    await page.locator('select[name="catalog"]').selectOption('gaia_dr3');
    assert.match(address(page), /hours=72.*catalog=gaia_dr3/);
    await page.goBack();
    assert.is(await page.locator('select[name="catalog"]').inputValue(), '');
    assert.match(address(page), /hours=72/);
    await page.goBack();
    assert.ok(await page.locator('input[name="hours"][value="24"]').isChecked());
    assert.is(address(page), '');
    await page.goForward();
    assert.ok(await page.locator('input[name="hours"][value="72"]').isChecked());
  });
  const near = 'CIRCLE 61.6223 -49.2951 1';
  await visiting(world, '/area', async page => {
    const typed = page.locator('#area-text');
    const headings = page.locator('#results h2');
    const search = page.locator('#area').getByRole('button', { name: 'Search', exact: true });
    await typed.fill(near);
    await search.click();
    await headings.waitFor();
    await typed.fill('CIRCLE 0 89 1');
    await search.click();
    await page.getByRole('heading', { name: '0 objects', exact: true }).waitFor();
    await page.goBack();
    assert.is(await typed.inputValue(), near);
    await page.getByRole('heading', { name: /^[1-9]\d* objects?$/ }).waitFor();
    await page.goBack();
    assert.is(await typed.inputValue(), '');
    await headings.waitFor({ state: 'detached' });
  });
});

checkQueries('Back returns to the query before; a query waits for the tables, and says so', async world => {
  const query = (name: string) => `SELECT 1 AS ${name} FROM TAP_SCHEMA.schemas`;
  const long = `${query('two')} -- ${'x'.repeat(9000)}`;
  await visiting(
    world,
    '/query',
    async page => {
      let early = 2;
      await page.route('**/vo/tap/sync', async route => {
        if (early-- <= 0) return route.continue();
        return route.fulfill({
          status: 503,
          headers: { 'Retry-After': '1' },
          body: '<VOTABLE>the tables are being made for the first time</VOTABLE>',
        });
      });
      const editor = page.getByRole('textbox', { name: 'A query in ADQL' });
      const offered = await editor.inputValue();
      const shows = async (name: string, text: string) => {
        await page.locator('#results th', { hasText: name }).waitFor();
        assert.is(await editor.inputValue(), text);
      };
      const run = async (text: string) => {
        await editor.fill(text);
        await page.keyboard.press('Control+Enter');
      };
      await run(query('one'));
      await page.locator('#said', { hasText: /^The first query waits: the tables are being made .* … 1 s/ }).waitFor();
      await shows('one', query('one'));
      await run(long);
      await shows('two', long);
      await run(query('three'));
      await shows('three', query('three'));
      await page.goBack();
      await shows('two', long);
      await page.goBack();
      await shows('one', query('one'));
      await page.goBack();
      await page.locator('#results table').waitFor({ state: 'detached' });
      assert.is(await editor.inputValue(), offered);
    },
    /status of 503/,
  );
});

check('from the search box to an object: by position, by id, and what is not understood', async world => {
  await visiting(world, '/', async page => {
    await page.getByRole('textbox', { name: /^An id/ }).fill('04h06m29.35s -49d17m42.5s 5"');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: MATCHED, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: MATCHED }).waitFor();
  });
  await visiting(world, '/', async page => {
    await page.getByRole('textbox', { name: /^An id/ }).fill(MATCHED);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(`**/objects/${MATCHED}`);
  });
  const said: readonly (readonly [string, RegExp])[] = [
    ['M31', /neither an id/],
    ['1 1 100"', /A radius is above 0 and at most 60″/],
    ['0', /^[^`]*not_in_service[^`]*$/],
    ['1 1', /No Rubin object here/],
    ['SN 2026abc', /Name not in TNS/],
    ['170028513894596704', /Not in this service/],
    ['<img src=x onerror=alert(1)>', /neither an id/],
  ];
  for (const [typed, answer] of said)
    await visiting(world, `/search?q=${encodeURIComponent(typed)}`, async page => {
      await page.locator('#results .notice').waitFor();
      assert.match((await page.locator('#results').textContent()) ?? '', answer);
    });
  await visiting(world, '/search?q=SN+2099aaa', async page => {
    await page.getByRole('heading', { name: 'In TNS' }).waitFor();
    assert.ok((await page.locator('#results a[href^="/objects/"]').count()) > 0);
  });
});

check(
  'the page of an object: every source at its offset, what was searched, payload to the last digit',
  async world => {
    const response = await fetch(`${world.server.url}/api/objects/${MATCHED}?detail=full`);
    const text = await response.text();
    const [object] = JSON.parse(text).results[0].objects;
    const nearestFirst = object.matches.toSorted(
      (a: { separation_arcsec: number }, b: { separation_arcsec: number }) => a.separation_arcsec - b.separation_arcsec,
    );
    await visiting(world, `/objects/${MATCHED}`, async page => {
      assert.is(await page.locator('.finder .point').count(), 4);
      assert.match(
        (await page.locator('.finder').getAttribute('aria-label'))!,
        /Gaia DR3 .* 0\.0\d arcsec east, -0\.1\d arcsec north/,
      );
      const cards = await page.locator('.sources-list .card').allTextContents();
      assert.is(cards.length, object.matches.length);
      for (const [i, { catalog_source_id, separation_arcsec }] of nearestFirst.entries())
        for (const text of [catalog_source_id, `${separation_arcsec.toFixed(2)}″`]) assert.ok(cards[i]!.includes(text));
      assert.match(cards[0]!, /Gaia DR3 0\.12″ 0\.055″ E, 0\.107″ S/);
      assert.match(
        cards[0]!,
        /G 20\.334 ± 0\.014.*BP − RP 1\.79 ± 0\.19.*2\.38 ± 0\.83 mas.*−10\.7 ± 1\.1 E−2\.05 ± 0\.71 N.*star > 99 %/,
      );
      await page.locator('.card summary').first().click();
      const table = page.locator('.payload').first();
      const keys = await table.locator('th').allTextContents();
      const values = await table.locator('td').allTextContents();
      const payload = /"gaia_dr3", "catalog_source_id": "\d+", .*?"catalog_payload": \{(.*?)\}/.exec(text)![1]!;
      assert.is(keys.length, 23);
      for (const [i, key] of keys.entries()) {
        const sent = new RegExp(`"${key}": ([^,}]*)`).exec(payload)![1]!;
        assert.is(values[i], sent === 'null' ? '–' : sent, key);
      }
      const searched = page.locator('.outcomes > div', { has: page.locator('.outcome.searched') });
      assert.is(await searched.locator('li').count(), 4);
      assert.is(
        await page.getByRole('link', { name: 'light curve at Lasair' }).getAttribute('href'),
        `https://lasair.lsst.ac.uk/objects/${MATCHED}/`,
      );
      const scale = (160 - 14) / 2;
      const points = await page
        .locator('.finder .point')
        .evaluateAll(all => all.map(each => each.getAttribute('transform')));
      for (const [i, { ra, dec }] of object.matches.entries()) {
        const [x, y] = /translate\(([\d.]+) ([\d.]+)\)/.exec(points[i]!)!.slice(1).map(Number) as [number, number];
        const east = (ra - object.ra) * 3600 * Math.cos((object.dec * Math.PI) / 180);
        assert.ok(
          Math.hypot(x - (160 - east * scale), y - (160 - (dec - object.dec) * 3600 * scale)) < 0.05,
          points[i]!,
        );
      }
      await page.getByRole('radio', { name: '±60″' }).check();
      await page.locator('.finder .tick', { hasText: '20″' }).waitFor();
    });
  },
);

/** Whether a program can be run here. */
function runs(program: string): string | undefined {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return `there is no ${program}`;
  }
}

needs(test, obstacle ?? runs('curl') ?? runs('python3'))(
  'the page of an object has its query for a shell and for Python, and a citation with releases',
  async world => {
    await visiting(world, `/objects/${MATCHED}`, async page => {
      const text = async (title: string) => (await page.locator(`pre[aria-label="${title}"]`).textContent())!;
      const { results } = JSON.parse(execFileSync('sh', ['-c', await text('curl')], { encoding: 'utf8' }));
      const { matches } = results[0].objects[0];
      const said = execFileSync('python3', ['-c', await text('Python')], { encoding: 'utf8' })
        .trim()
        .split('\n');
      assert.is(said[0], `${MATCHED} coincident_sources`);
      assert.equal(
        said.slice(1),
        matches.map(
          (match: Record<string, string>) =>
            `${match.catalog_name} ${match.catalog_source_id} ${match.separation_arcsec}`,
        ),
      );
      const cited = await text('BibTeX');
      assert.match(cited, `\\url{${world.server.url}/objects/${MATCHED}}`);
      assert.match(cited, 'within 1 arcsec, with Gaia DR3, DES Y6 Gold, DELVE DR3 Gold, SkyMapper DR4; read');
      assert.match(cited, '@misc{gaia-dr3,\n  title = {Gaia DR3},\n  howpublished = {\\url{https://doi.org/');
    });
  },
);

/**
 * Compares an image with a part of another, as a browser paints them: the mean difference of a channel, 0 to 255, and
 * the share of red pixels in the first.
 */
const COMPARED = `async ([image, screen, width, height]) => {
  const bytes = each => Uint8Array.from(atob(each), byte => byte.charCodeAt(0));
  const pixels = async each => {
    const bitmap = await createImageBitmap(new Blob([bytes(each)], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0, width, bitmap.height * (width / bitmap.width));
    return context.getImageData(0, 0, width, height).data;
  };
  const [a, b] = [await pixels(image), await pixels(screen)];
  let [sum, red] = [0, 0];
  for (let i = 0; i < a.length; i++) sum += Math.abs(a[i] - b[i]);
  for (let i = 0; i < a.length; i += 4) if (a[i] > 200 && a[i + 1] < 60 && a[i + 2] < 60) red++;
  return [sum / a.length, red / (a.length / 4)];
}`;

async function pngOf(page: Page): Promise<{ difference: number; red: number; name: string }> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download as PNG' }).click(),
  ]);
  const png = readFileSync(await download.path()).toString('base64');
  // Between pixels, a screenshot would blur the lines.
  await page.locator('.finder').evaluate(finder => {
    const { left, top } = finder.getBoundingClientRect();
    finder.style.translate = `${Math.ceil(left) - left}px ${Math.ceil(top) - top}px`;
  });
  const screen = (await page.locator('.finder').screenshot()).toString('base64');
  const [difference, red] = (await page.evaluate(`(${COMPARED})(${JSON.stringify([png, screen, 320, 320])})`)) as [
    number,
    number,
  ];
  return { difference, red, name: download.suggestedFilename() };
}

check(
  'the finder as PNG is what the browser paints, in both themes; a survey image under it comes on a click',
  async world => {
    const { images } = world;
    for (const [id, colorScheme] of [
      [MATCHED, 'light'],
      [MATCHED, 'dark'],
      [PENDING, 'light'],
    ] as const)
      await visiting(world, `/objects/${id}`, async page => {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.waitForLoadState('networkidle');
        const { difference, red, name } = await pngOf(page);
        assert.is(name, `nearsky-${id}.png`);
        assert.ok(difference < 4, `${id}, ${colorScheme}: ${difference}`);
        assert.is(red, 0);
      });
    assert.equal(images.asked, [], 'nothing is asked of another host before a click');
    const { ra, dec } = JSON.parse(await (await fetch(`${world.server.url}/api/objects/${MATCHED}`)).text()).results[0]
      .objects[0];
    await visiting(
      world,
      `/objects/${MATCHED}`,
      async page => {
        const box = page.getByRole('checkbox', { name: /^Sky image from 127\.0\.0\.1:/ });
        await box.check();
        await page.locator('.finder-frame img').waitFor();
        assert.equal(images.asked, [`/${ra}/${dec}/${2 / 1800}`]);
        assert.ok((await pngOf(page)).red > 0.5);
        await box.uncheck();
        assert.is(await page.locator('.finder-frame img').count(), 0);
        images.works = false;
        await box.check();
        await page.getByRole('radio', { name: '±15″' }).check();
        await page.getByText(/No image came from 127\.0\.0\.1/).waitFor();
        images.works = true;
        await box.uncheck();
        await box.check();
        await page.locator('.finder-frame img').waitFor();
      },
      /status of 503/,
    );
  },
);

check('each page of the demo says that catalog rows are made up', async world => {
  for (const path of ['/', `/objects/${MATCHED}`])
    await visiting(world, path, async page => {
      await page.getByRole('complementary').filter({ hasText: 'most catalog rows' }).waitFor();
    });
});

/** Text that would end an attribute or an element, or run a script, if it were taken for HTML. */
const HOSTILE = `"><img src=x onerror="globalThis.taken = 1"></title><!--'<script>taken</script>`;

check('texts of brokers, catalogs and the registry are shown as they are, and never taken for HTML', async world => {
  type Match = Record<'catalog_name' | 'catalog_source_id' | 'catalog_payload', unknown>;
  interface Found {
    matches?: Match[];
    crossmatch?: { catalog_outcomes: Record<string, string> };
    [name: string]: unknown;
  }
  const poison = (object: Found) => {
    object.tns = { checked: true, name: HOSTILE, classification: HOSTILE, redshift: 0.1, url: HOSTILE };
    object.brokers = [HOSTILE];
    object.status = HOSTILE;
    for (const match of object.matches ?? []) {
      match.catalog_source_id = HOSTILE;
      match.catalog_payload = { [HOSTILE]: HOSTILE };
      match.catalog_name = HOSTILE;
    }
    if (object.crossmatch) object.crossmatch.catalog_outcomes = { [HOSTILE]: HOSTILE };
  };
  for (const path of [`/objects/${MATCHED}`, '/search?q=61.6223+-49.2951&radius=60', `/search?q=${MATCHED}%0A1+1`])
    await visiting(world, '/brokers', async page => {
      await page.route(/\/api\/(?:objects|cone|lookup)/, async route => {
        const answer = (await (await route.fetch()).json()) as { results: { objects?: Found[] }[] };
        for (const { objects = [] } of answer.results) objects.forEach(poison);
        await route.fulfill({ json: answer });
      });
      await page.goto(`${world.server.url}${path}`);
      await page.locator('main', { hasText: HOSTILE }).waitFor();
      await page.waitForLoadState('networkidle');
      assert.is(await page.locator('main :is(img, script)').count(), 0, path);
      assert.is(await page.evaluate('globalThis.taken'), undefined, path);
    });
});

check('matches and outcomes have the release that was searched, not the present one', async world => {
  const data = ['--data', world.data];
  const [gaia] = (await nearsky('catalog', 'list', ...data)) as unknown as { location: string }[];
  const register = async (release: string) => {
    await nearsky('catalog', 'add', 'gaia_dr3', gaia!.location, '--release', release, ...data);
    await eventually('the service has seen it', async () => {
      const page = await (await fetch(`${world.server.url}/catalogs`)).text();
      return page.includes(`</span>${release}</h2>`) || undefined;
    });
  };
  await register('Gaia DR4');
  try {
    await visiting(world, `/objects/${MATCHED}`, async page => {
      for (const place of ['.together', '.sources-list .card h3', '.outcomes', '.finder'])
        assert.match((await page.locator(place).first().ariaSnapshot()).replace(/\n/g, ' '), 'Gaia DR3', place);
      assert.is(await page.locator('.card', { hasText: 'Gaia DR4' }).count(), 0);
    });
    await visiting(world, '/search?q=61.6223+-49.2951&radius=60', async page => {
      assert.match((await page.locator('.objects .source').first().textContent())!, 'Gaia DR3');
    });
  } finally {
    await register('Gaia DR3');
  }
});

check('a list of objects by catalog, and in another order', async world => {
  const cone = `${world.server.url}/api/cone?ra=221.596&dec=-40.0&radius_arcsec=60&detail=full`;
  type Match = { catalog_name: string; separation_arcsec: number };
  const { results } = (await (await fetch(cone)).json()) as {
    results: readonly { objects: readonly { diaObjectId_str: string; matches: readonly Match[] }[] }[];
  };
  const all = results[0]!.objects;
  const nearest = (matches: readonly Match[]) => Math.min(...matches.map(({ separation_arcsec: each }) => each));
  await visiting(world, '/search?q=221.596+-40.0&radius=60', async page => {
    const ids = () => page.locator('#results .objects .id').allTextContents();
    const asListed = await ids();
    assert.is(asListed.length, all.length);
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption('separation');
    const separations = (await ids()).map(id => nearest(all.find(each => each.diaObjectId_str === id)!.matches));
    assert.equal(
      separations,
      all.map(({ matches }) => nearest(matches)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
    );
    await page.getByRole('combobox', { name: 'Source in' }).selectOption({ index: 1 });
    const chosen = await page.getByRole('combobox', { name: 'Source in' }).inputValue();
    const having = all.filter(({ matches }) => matches.some(({ catalog_name }) => catalog_name === chosen));
    assert.ok(having.length > 0 && having.length < all.length);
    assert.equal((await ids()).sort(), having.map(({ diaObjectId_str }) => diaObjectId_str).sort());
    assert.match((await page.locator('#results .downloads').first().textContent())!, /^Download: /);
    // More than one answer, and so one file, can have.
    await page.route('**/api/cone?*', async route => {
      const answer = await (await route.fetch()).json();
      answer.results[0].total = 5000;
      await route.fulfill({ json: answer });
    });
    await page.reload();
    await page.locator('#results .downloads', { hasText: /^Download the first 2000: / }).waitFor();
  });
});

check('an object without a source names the nearest one', async world => {
  const { results } = (await (await fetch(`${world.server.url}/api/objects/${NOTHING_THERE}`)).json()) as {
    results: readonly { objects: readonly { ra: number; dec: number }[] }[];
  };
  const { ra, dec } = results[0]!.objects[0]!;
  const near = await fetch(`${world.server.url}/api/sources?ra=${ra}&dec=${dec}&radius_arcsec=60`);
  const { sources } = (await near.json()) as {
    sources: { catalog_source_id: string; separation_arcsec: number }[];
  };
  const nearest = sources.reduce((a, b) => (b.separation_arcsec < a.separation_arcsec ? b : a));
  await visiting(world, `/objects/${NOTHING_THERE}`, async page => {
    await page.locator('.nearest', { hasText: nearest.catalog_source_id }).waitFor();
    assert.match((await page.locator('.nearest').textContent())!, / DES Y6 Gold 1\.00[01]\d?″/);
    await page.route('**/api/sources?*', async route => {
      const answer = await (await route.fetch()).json();
      for (const catalog of answer.catalogs) catalog.outcome = 'skipped_read_failure';
      await route.fulfill({ json: { ...answer, sources: [], count: 0 } });
    });
    await page.reload();
    await page.getByText('No catalog can be read now').waitFor();
    assert.is(await page.locator('.nearest').textContent(), '', 'a failure to look is not an absence');
  });
});

check('an object of Gaia is shown among the colours of the sources around it', async world => {
  const crowded = '9000000000000000008';
  const alone = '9000000000000000004';
  await visiting(world, `/objects/${crowded}`, async page => {
    const diagram = page.locator('.colours svg');
    await diagram.waitFor();
    assert.match((await diagram.getAttribute('aria-label'))!, /^3 points: G \(Vega mag\) against BP − RP/);
    assert.is(await diagram.locator('.marked').count(), 1);
  });
  await visiting(world, `/objects/${crowded}`, async page => {
    // A source without a G magnitude cannot be drawn.
    await page.route('**/api/sources?*', async route => {
      const answer = await (await route.fetch()).json();
      for (const { catalog_payload } of answer.sources.slice(0, 1)) catalog_payload.phot_g_mean_mag = null;
      await route.fulfill({ json: answer });
    });
    await page.reload();
    await page.getByRole('heading', { name: /^\d+ catalog sources? within 60″/ }).waitFor();
    assert.is(await page.locator('.colours').count(), 0);
  });
  await visiting(world, `/objects/${alone}`, async page => {
    await page.getByRole('heading', { name: /^\d+ catalog sources? within 60″/ }).waitFor();
    assert.is(await page.locator('.colours').count(), 0);
  });
});

check('a position without an object has what the catalogs have there, and what was searched', async world => {
  const star = '9000000000001000002';
  await visiting(world, '/search?q=61.62059851718+-49.29666528056&radius=1', async page => {
    await page.getByText('No Rubin object here', { exact: true }).waitFor();
    const section = page.locator('.near');
    const row = section.locator('tr', { hasText: `Gaia DR3 ${star}` });
    await row.waitFor();
    const cells = await row.locator('td').allTextContents();
    assert.equal(cells.slice(0, 2), ['0.000″', 'G 17.762']);
    assert.match(cells[2]!, /^star classprob_dsc_combmod_star/);
    assert.match(cells[3]!, / %$/);
    assert.match((await section.locator('.hint').first().textContent())!, /^Searched: Gaia DR3, /);
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      section.getByRole('link', { name: 'CSV', exact: true }).click(),
    ]);
    assert.match(readFileSync(await csv.path(), 'utf8'), new RegExp(`gaia_dr3,${star},`));
  });
  await visiting(world, '/search?q=1+1', page =>
    page.getByRole('heading', { name: 'No catalog covers this position' }).waitFor(),
  );
  await visiting(world, '/search?q=SN+2099aaa', page =>
    page.getByRole('heading', { name: /^\d+ catalog sources? within/ }).waitFor(),
  );
  // A service without the capability.
  const without = async (page: Page) => {
    await page.route('**/api/sources?*', route =>
      route.fulfill({ status: 404, json: { message: 'Not found', retryable: false, code: 'not_found' } }),
    );
    await page.reload();
    await page.getByText('No Rubin object here', { exact: true }).waitFor();
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
    assert.is(await page.locator('.near, .notice.error').count(), 0);
  };
  await visiting(world, '/search?q=1+1', without, /status of 404/);
});

check('the search box takes the id of a source, with its catalog or alone', async world => {
  const id = '9000000000001000001';
  for (const typed of [`Gaia DR3 ${id}`, `gaia_dr3:${id}`, id])
    await visiting(world, `/search?q=${encodeURIComponent(typed)}`, async page => {
      await page.getByRole('heading', { name: `1 object with the source Gaia DR3 ${id}` }).waitFor();
      await page.locator('#results').getByRole('link', { name: MATCHED, exact: true }).waitFor();
    });
  await visiting(world, '/search?q=Gaia+DR3+5', async page => {
    await page.getByText('No Rubin object here has Gaia DR3 5 as a coincident source').waitFor();
  });
});

check('the finder tells a place that was not searched from an empty one', async world => {
  const hatched = (key: string) => async (page: Page) => {
    assert.is(await page.locator('.finder .hatched').count(), key === '' ? 0 : 1);
    assert.is(
      await page
        .locator('.keys li', { has: page.locator('.hatched') })
        .allTextContents()
        .then(String),
      key,
    );
  };
  await visiting(world, `/objects/${MATCHED}`, hatched(''));
  await visiting(world, `/objects/${PENDING}`, hatched('not yet searched'));
});

check(
  'a cell of the map lists its objects; the keyboard moves the map and opens the cell in the middle',
  async world => {
    await visiting(world, '/', async page => {
      await page.locator('summary', { hasText: 'as a table' }).click();
      const row = page.locator('#map-table tbody tr').first();
      const objects = Number(await row.locator('td').first().textContent());
      await row.getByRole('button').click();
      await page.locator('#cell .objects li').first().waitFor();
      assert.is(await page.locator('#cell .objects li').count(), objects);
      const ids = await page.locator('#cell .objects .id').allTextContents();
      for (const id of ids) assert.match(id, /^\d{15,19}$/);
      await page.locator('#map').focus();
      await page.keyboard.press('0');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.locator('#cell', { hasText: 'nothing is in this cell' }).waitFor();
    });
    // Before the cells arrive, the page does not know whether one is empty.
    const page = await world.context.newPage();
    const { promise, resolve } = Promise.withResolvers<void>();
    try {
      await page.route('**/api/sky-map?*', async route => {
        await promise;
        await route.continue();
      });
      await page.goto(`${world.server.url}/?ra=10&dec=80`);
      await page.locator('#map').focus();
      await page.keyboard.press('Enter');
      await page.locator('#cell', { hasText: 'this cell is not loaded' }).waitFor();
      resolve();
      await page.locator('#cell', { hasText: 'nothing is in this cell' }).waitFor();
    } finally {
      resolve();
      await page.close();
    }
  },
);

/** The distinct colours of the map. */
const COLOURS = `(() => {
  const canvas = document.querySelector('#map');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return [...seen].sort((a, b) => a - b);
})()`;

check('the map is drawn with what the service counts, anew when the theme or the layer changes', async world => {
  await visiting(world, '/', async page => {
    const colours = async () => (await page.evaluate(COLOURS)) as number[];
    await page.locator('#legend .ramp').waitFor();
    const first = await colours();
    assert.ok(first.length > 10, `${first.length} colours`);
    await page.locator('#theme').click();
    await page.locator('#theme').click();
    assert.is(await page.locator('html').getAttribute('data-theme'), 'dark');
    await page.waitForTimeout(100);
    assert.not.equal(await colours(), first);
    await page.getByRole('radio', { name: 'Coverage' }).check();
    await page.locator('.legend-title', { hasText: 'Catalogs that cover' }).waitFor();
    await page.reload();
    assert.is(await page.locator('html').getAttribute('data-theme'), 'dark');
    await page.locator('#theme').click();
  });
});

check('a pasted list: each entry with what it found, what was not understood, and a file of it', async world => {
  await visiting(world, '/', async page => {
    await page.getByRole('textbox', { name: /^An id/ }).fill(`${MATCHED}, ${PENDING}\nSN 2099aaa\nfoo`);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('heading', { name: '2 objects for 4 entries' }).waitFor();
    assert.match((await page.locator('#results .notice').textContent())!, /^foo: This is neither/);
    assert.equal(await page.locator('#results .id').allTextContents(), [MATCHED, PENDING, MATCHED]);
    assert.match((await page.locator('#results .source').first().textContent())!, /Gaia DR3 0\.12″, G 20\.33/);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('.downloads').getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    assert.is(file.suggestedFilename(), 'nearsky-lookup.csv');
    assert.match(readFileSync((await file.path())!, 'utf8'), MATCHED);
  });
  const page = await world.context.newPage();
  try {
    await page.route('**/api/lookup', async route => {
      const answer = await (await route.fetch()).json();
      answer.results[2].status = 'resolver_unavailable';
      answer.results[2].objects = [];
      Object.assign(answer.results[2], { total: 0 });
      Object.assign(answer.results[3], { total: 7, truncated: true });
      await route.fulfill({ json: answer });
    });
    const list = [MATCHED, '1 1', 'SN 2099aaa', '61.6223 -49.2951', "61.6223 -49.2951 5'", 'foo'].join('\n');
    await page.goto(`${world.server.url}/search?q=${encodeURIComponent(list)}`);
    const said = '2 entries found something, 1 nothing, 1 could not be looked up now, 2 could not be understood';
    await page.getByText(said).waitFor();
    await page.getByText('The first 1 of 7 objects.').waitFor();
  } finally {
    await page.close();
  }
  // Longer than an address may be.
  const ids = Array.from({ length: 150 }, (_, i) => `${BigInt(MATCHED) + BigInt(i)}`);
  await visiting(world, '/search', async page => {
    await page.getByRole('textbox', { name: /^An id/ }).fill(ids.join('\n'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '1 object for 150 entries' }).waitFor();
    const link = new URL(page.url());
    assert.match(link.hash, /^#q=/);
    // The link works elsewhere, without what this tab keeps.
    await visiting(world, `${link.pathname}${link.search}${link.hash}`, elsewhere =>
      elsewhere.getByRole('heading', { name: '1 object for 150 entries' }).waitFor(),
    );
    // Each address keeps its own list.
    await page.getByRole('textbox', { name: /^An id/ }).fill(ids.slice(1).join('\n'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '0 objects for 149 entries' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: '1 object for 150 entries' }).waitFor();
  });
  const named = 'SN 2026ubc 04:06:29.35 -49:17:42.5';
  await visiting(world, `/search?q=${encodeURIComponent(`${named}\nAT 2026ubd\t1.5\t1.5`)}`, async page => {
    await page.getByRole('heading', { name: '1 object for 2 entries' }).waitFor();
    const heads = await page.locator('.entry h3').allTextContents();
    assert.equal(
      heads.map(head => head.split(' ').slice(0, 2).join(' ')),
      ['SN 2026ubc', 'AT 2026ubd'],
    );
  });
  await visiting(world, `/search?q=${encodeURIComponent(named)}`, page =>
    page.locator('.understood', { hasText: 'SN 2026ubc' }).waitFor(),
  );
  await visiting(world, '/search?list=1', page => page.getByText('This browser tab does not have the list').waitFor());
  await visiting(world, '/search?q=61.6223+-49.2951+5%22', async page => {
    await page.locator('.finder').waitFor();
    assert.is(await page.locator('#radius').inputValue(), '5', 'the radius in the text is that of the box');
    assert.is(await page.locator('.finder .point').count(), 5);
  });
});

check('recent crossmatches by choice, which the address keeps', async world => {
  await visiting(world, '/recent?catalog=gaia_dr3&sort=magnitude', async page => {
    const rows = page.locator('#recent tbody tr');
    await rows.first().waitFor();
    const magnitudes = (await rows.allTextContents()).map(text => Number(/, [Gr] ([\d.]+)/.exec(text)![1]));
    assert.equal(
      magnitudes,
      magnitudes.toSorted((a, b) => a - b),
    );
    for (const text of await rows.allTextContents())
      assert.match(text, /^\d{4}-\d\d-\d\d [\d:]+ UTC\d+.*Gaia DR3.*, by chance /);
    await page.getByRole('checkbox', { name: 'with a TNS name' }).check();
    await page.getByText('SN 2099aaa, SN Ia').waitFor();
    assert.match(page.url(), /catalog=gaia_dr3&sort=magnitude&named=1/);
    const path = await page.locator('.downloads a').first().getAttribute('href');
    assert.match(await (await fetch(`${world.server.url}${path}`)).text(), MATCHED);
  });
});

checkQueries('a query: its rows, ids that lead to their objects, and a plot of two columns', async world => {
  await visiting(world, '/query', async page => {
    await page.getByRole('link', { name: 'Colours and magnitudes of the sources in Gaia' }).click();
    const rows = page.locator('#results tbody tr');
    await rows.first().waitFor();
    const [, count] = /^(\d+) rows in [\d\u202f]+ ms, from journal entry \d+ \(as of \S+Z\)$/.exec(
      (await page.locator('#said').textContent())!,
    )!;
    assert.is(await rows.count(), Math.min(Number(count), 100));
    assert.match((await rows.first().locator('a').getAttribute('href'))!, /^\/objects\/\d{15,19}$/);
    const points = async () => (await page.locator('.plot .points').getAttribute('d'))!;
    const before = await points();
    assert.is(before.split('M').length - 1, Number(count));
    assert.match((await page.locator('.plot').getAttribute('aria-label'))!, 'phot_g_mean_mag (mag) against bp_rp');
    await page.getByRole('combobox', { name: 'The column of the y axis' }).selectOption('diaObjectId');
    assert.not.equal(await points(), before);
    assert.match((await page.locator('.downloads').textContent())!, /^All rows, at most 1[\D]?000[\D]?000: votable /);
    const link = page.locator('.downloads').getByRole('link', { name: 'csv', exact: true });
    const [file] = await Promise.all([page.waitForEvent('download'), link.click()]);
    assert.is(file.suggestedFilename(), 'nearsky-query.csv');
    assert.is(
      readFileSync((await file.path())!, 'utf8')
        .trimEnd()
        .split('\n').length,
      Number(count) + 1,
    );
    await page.reload();
    await rows.first().waitFor();
    const examples = await page.locator('.tries a').evaluateAll(links => links.map(link => link.getAttribute('href')!));
    assert.ok(examples.length >= 4);
    for (const example of examples) {
      const query = new URLSearchParams(example.split('?')[1]).get('q')!;
      const body = new URLSearchParams({ LANG: 'ADQL', FORMAT: 'csv', QUERY: query });
      const text = await (await fetch(`${world.server.url}/vo/tap/sync`, { method: 'POST', body })).text();
      assert.ok(text.trimEnd().split('\n').length > 1, `${query}: ${text}`);
    }
  });
});

checkQueries('an error of a query is shown where it is; the tables beside it help', async world => {
  await visiting(
    world,
    '/query',
    async page => {
      const editor = page.getByRole('textbox', { name: 'A query in ADQL' });
      await editor.fill('SELECT ra,\n  decl FROM nearsky.objects');
      await page.keyboard.press('Control+Enter');
      await page.locator('#results .notice', { hasText: /^Line 2, column 3: / }).waitFor();
      assert.is(await page.locator('#results mark').textContent(), 'decl');
      const selected = '(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.querySelector("#adql"))';
      assert.is(await page.evaluate(selected), 'decl');
      await page.locator('.schema summary', { hasText: /^nearsky\.objects$/ }).click();
      await page.locator('.schema').getByRole('button', { name: 'dec', exact: true }).first().click();
      assert.match(await editor.inputValue(), /\n {2}dec FROM/);
      await page.getByRole('button', { name: 'Run' }).click();
      await page.locator('#results tbody tr').first().waitFor();
    },
    /status of 400/,
  );
});

checkQueries('a table opens in TOPCAT by a hub of SAMP, and the page says where none answers', async world => {
  const said: string[] = [];
  await visiting(
    world,
    '/query?q=SELECT+1+AS+one+FROM+TAP_SCHEMA.schemas',
    async page => {
      const status = page.locator('.downloads [role="status"]');
      const open = page.getByRole('button', { name: 'Open in TOPCAT' });
      await page.route('http://localhost:21012/', route => route.abort('connectionrefused'));
      await open.click();
      await status.filter({ hasText: 'No SAMP hub answers on this machine' }).waitFor();
      await page.unrouteAll();
      await page.route('http://localhost:21012/', route => {
        const body = route.request().postData()!;
        said.push(body);
        const struct = (name: string, value: string) =>
          `<struct><member><name>${name}</name><value>${value}</value></member></struct>`;
        const method = /<methodName>samp\.webhub\.(\w+)</.exec(body)![1]!;
        const answers: Record<string, string> = {
          register: struct('samp.private-key', 'k&amp;1'),
          getSubscribedClients: struct('c2', struct('x', '1')),
          getMetadata: struct('samp.name', '<string>topcat</string>'),
        };
        const value = answers[method] ?? '';
        return route.fulfill({
          contentType: 'text/xml',
          headers: { 'Access-Control-Allow-Origin': '*' },
          body: `<methodResponse><params><param><value>${value}</value></param></params></methodResponse>`,
        });
      });
      await open.click();
      await status.filter({ hasText: 'Sent to topcat.' }).waitFor();
    },
    /21012|ERR_CONNECTION_REFUSED/,
  );
  assert.equal(
    said.map(body => /samp\.webhub\.(\w+)/.exec(body)![1]),
    ['register', 'getSubscribedClients', 'notifyAll', 'getMetadata', 'unregister'],
  );
  for (const body of said.slice(1)) assert.match(body, '<string>k&amp;1</string>');
  const url = /<name>url<\/name><value><string>([^<]*)</.exec(said[2]!)![1]!.replaceAll('&amp;', '&');
  assert.match(await (await fetch(url)).text(), /<FIELD name="one"/);
});

check('a table of mine: its first rows, the columns of its position, the matched rows, and a file', async world => {
  const answer = await fetch(`${world.server.url}/api/objects?detail=position&page_size=1`);
  const { objects } = (await answer.json()) as { objects: { diaObjectId_str: string; ra: number; dec: number }[] };
  const first = objects[0]!;
  const text = (ra: string, dec: string) => `name,${ra},${dec}\na,${first.ra},${first.dec}\nb,1,89\nc,,\n`;
  const file = (buffer: string) => ({ name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from(buffer) });
  await visiting(
    world,
    '/crossmatch',
    async page => {
      const preview = page.locator('#preview');
      await page.locator('#file').setInputFiles(file(text('x', 'y')));
      await preview.locator('.notice', { hasText: 'its columns are name, x, y' }).waitFor();
      await page.locator('summary', { hasText: 'Position columns' }).click();
      await page.getByRole('combobox', { name: 'Right ascension' }).fill('x');
      await page.getByRole('combobox', { name: 'Declination' }).fill('y');
      await page.keyboard.press('Tab');
      await preview.filter({ hasText: 'The position is in x and y.' }).waitFor();
      assert.match((await preview.textContent())!, '1 of the first 3 rows have no valid position there.');
      await page.getByRole('button', { name: 'Match', exact: true }).click();
      await page.getByText(/^3 rows: 1 matched, 1 with nothing there, 1 without a valid position\./).waitFor();
      const link = page.locator('#results tbody a');
      assert.is(await link.getAttribute('href'), `/objects/${first.diaObjectId_str}`);
      assert.match((await page.locator('.plot').getAttribute('aria-label'))!, /^Histogram of 1 value/);
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('.downloads').getByRole('button', { name: 'CSV', exact: true }).click(),
      ]);
      assert.is(saved.suggestedFilename(), 'nearsky-crossmatch.csv');
      assert.match(readFileSync((await saved.path())!, 'utf8'), `matched,${first.diaObjectId_str},`);
    },
    /status of 400/,
  );
  await visiting(world, '/crossmatch', async page => {
    await page.getByRole('button', { name: /as an example/ }).click();
    await page.locator('#preview td').first().waitFor();
    await page.getByRole('button', { name: 'Match', exact: true }).click();
    await page.getByText(/^[\d\u202f]+ rows: .*[1-9]\d* matched/).waitFor();
    assert.is(await page.locator('select[name="against"]').inputValue(), 'gaia_dr3');
    await page.locator('.plot .bars').waitFor();
    const heads = () => page.locator('#results thead th').allTextContents();
    const decides = ['nearsky_status', 'nearsky_separation_arcsec', 'gaia_dr3_verdict', 'nearsky_chance_probability'];
    assert.equal((await heads()).slice(0, 7), ['id', ...decides, 'ra', 'dec']);
    await page.locator('select[name="against"]').selectOption('all');
    await page.getByRole('button', { name: 'Match', exact: true }).click();
    await page.locator('th', { hasText: 'nearsky_gaia_dr3_status' }).waitFor();
    const of = (name: string) => [
      `nearsky_${name}_status`,
      `nearsky_${name}_separation_arcsec`,
      `${name}_verdict`,
      `nearsky_${name}_chance_probability`,
    ];
    const catalogs = ['gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4'];
    assert.equal((await heads()).slice(0, 20), ['id', 'nearsky_status', ...catalogs.flatMap(of), 'ra', 'dec']);
    const [fits] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('.downloads').getByRole('button', { name: 'FITS', exact: true }).click(),
    ]);
    assert.is(fits.suggestedFilename(), 'nearsky-crossmatch.fits');
    assert.match(readFileSync((await fits.path())!, 'latin1'), /^SIMPLE {2}=/);
  });
});

check(
  'a pasted list is matched with all catalogs; its address works elsewhere, and Back shows the list before',
  world =>
    visiting(world, '/crossmatch', async page => {
      const list = page.getByRole('textbox', { name: /^Positions, ids or TNS names/ });
      const run = page.getByRole('button', { name: 'Match', exact: true });
      await page.locator('select[name="against"]').selectOption('all');
      await list.fill(`${MATCHED}\nSN 2026ubc 12:34:56.7 -01:02:03\nSN2099aaa\nfoo`);
      await run.click();
      await page
        .getByText(/^4 rows: 2 matched, 1 not searched: outside the footprint, 1 without a valid position\./)
        .waitFor();
      const labels = () => page.locator('#results tbody tr > :first-child').allTextContents();
      assert.equal(await labels(), [MATCHED, 'SN2099aaa']);
      assert.match((await page.locator('#preview .notice').textContent())!, /foo: This is neither an id/);
      const address = page.url();
      assert.match(address, /\?against=all&.*#list=/);
      await page.evaluate(axe);
      assert.equal(await page.evaluate(`axe.run().then(({ violations }) => violations.map(v => v.id))`), []);
      await list.fill('05:00:00 -01:02:03');
      await page.locator('select[name="against"]').selectOption('objects');
      await page.keyboard.press('Tab');
      await run.click();
      await page.getByText('1 row: 1 with nothing there').waitFor();
      // The link to the content leaves the list in the address.
      await page.getByRole('link', { name: 'Skip to the content' }).focus();
      await page.keyboard.press('Enter');
      assert.match(page.url(), /#list=/);
      await page.goBack();
      await page.getByText(/^4 rows: 2 matched/).waitFor();
      assert.is(page.url(), address);
      assert.is(await page.locator('select[name="against"]').inputValue(), 'all');
      const elsewhere = await page.context().newPage();
      await elsewhere.goto(address);
      await elsewhere.getByText(/^4 rows: 2 matched/).waitFor();
      await elsewhere.close();
    }),
);

check('the validation, before and after it was made', async world => {
  await visiting(world, '/validation', async page => {
    await page.getByText('nearsky validate').waitFor();
  });
  const { registry, calibration } = (await nearsky('validate', '--data', world.data)) as {
    registry: { groups: { catalogs: { gaia_dr3: { searched: number; coincident: number } } }[] };
    calibration: { positions: number };
  };
  await visiting(world, '/validation', async page => {
    const rows = page.locator('#validation table').first().locator('tbody tr');
    assert.equal(await rows.first().locator('th').allTextContents(), ['Supernovae']);
    const { searched, coincident } = registry.groups[0]!.catalogs.gaia_dr3;
    const cells = await rows.first().locator('td').allTextContents();
    assert.equal([cells[2], cells[3]!.split(' ')[0]], [searched, coincident].map(String));
    await page.getByText(`${calibration.positions} positions in random directions`).waitFor();
    const chances = page.getByRole('group', { name: 'Sources by chance' }).locator('tbody tr').first();
    const sources = (await chances.locator('td').allTextContents()).slice(1).map(Number);
    assert.is(
      sources.reduce((sum, each) => sum + each, 0),
      coincident,
    );
    assert.is(await page.getByText(/outside its footprint, .* without a density/).count(), 4);
    await page.evaluate(axe);
    const violations = await page.evaluate(`axe.run().then(({ violations }) => violations.map(v => v.id))`);
    assert.equal(violations, []);
  });
});

check('a sample of mine: the summary, the rows, files, and what a paper says of it', async world => {
  const report = async (body: string) =>
    (await (await fetch(`${world.server.url}/api/sample?format=json`, { method: 'POST', body })).json()) as {
      summary: { catalogs: { gaia_dr3: { searched: number; coincident: number; verdicts: Record<string, number> } } };
      methods: string;
      bibtex: string;
    };
  await visiting(world, '/sample', async page => {
    const list = page.getByRole('textbox', { name: /one a line/ });
    await list.fill(`${MATCHED}\n  10:00:00 +02:00:00\nSN 2099aaa\nnothing of that kind`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    assert.is(await page.evaluate('document.activeElement.textContent'), 'Report');
    await page.keyboard.press('Enter');
    await page.getByText(/^4 rows, from journal entry \d+\.$/).waitFor();
    const link = new URL(page.url());
    await visiting(world, `${link.pathname}${link.hash}`, elsewhere =>
      elsewhere.getByText(/^4 rows, from journal entry \d+\.$/).waitFor(),
    );
    const { methods, bibtex, summary } = await report(
      `diaObjectId,name,ra,dec\n${MATCHED},,,\n,,150,2\n,SN 2099aaa,,\n,nothing of that kind,,\n`,
    );
    const { searched, coincident, verdicts } = summary.catalogs.gaia_dr3;
    const [gaia] = await page.locator('#results table').first().locator('tbody tr').allTextContents();
    assert.match(gaia!.replaceAll(/\s+/g, ' '), 'Gaia DR3');
    const cells = await page
      .locator('#results table')
      .first()
      .locator('tbody tr')
      .first()
      .locator('td')
      .allTextContents();
    assert.equal([cells[0], cells[3], cells[6]], [searched, coincident, verdicts.star].map(String));
    const rows = page.locator('#results .rows tbody tr');
    assert.is(await rows.first().locator('a').getAttribute('href'), `/objects/${MATCHED}`);
    assert.match((await rows.last().textContent())!, 'Not understood');
    assert.ok((await page.getByText(methods).count()) === 1 && (await page.locator('pre').textContent()) === bibtex);
    for (const [name, file, text] of [
      ['CSV', 'nearsky-sample.csv', 'label,status,diaObjectId,'],
      ['The whole report as JSON', 'nearsky-sample.json', '"summary":'],
      ['LaTeX', 'nearsky-sample.tex', '\\startdata'],
      ['One page', 'nearsky-sample.html', '<h2>Plots</h2>'],
    ] as const) {
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name, exact: true }).click(),
      ]);
      assert.is(saved.suggestedFilename(), file);
      assert.match(readFileSync((await saved.path())!, 'utf8'), text);
    }
    await page.evaluate(axe);
    const violations = await page.evaluate(`axe.run().then(({ violations }) => violations.map(v => v.id))`);
    assert.equal(violations, []);
  });
  await visiting(
    world,
    '/sample',
    async page => {
      await page.getByRole('button', { name: 'Report', exact: true }).click();
      await page.getByText('Paste a list, or choose a table.').waitFor();
      const file = (text: string) => ({ name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
      await page.locator('#file').setInputFiles(file('x,y\n1,2\n'));
      await page.getByRole('button', { name: 'Report', exact: true }).click();
      await page.locator('.notice', { hasText: 'its columns are x, y' }).waitFor();
      // A list that is typed replaces the file.
      await page.getByRole('button', { name: /as an example/ }).click();
      await page.getByText('Or choose a table').waitFor();
      await page.getByRole('button', { name: 'Report', exact: true }).click();
      await page.getByText(/^\d+ rows, from journal entry/).waitFor();
      await page.locator('#file').setInputFiles(file('name,ra,dec\nmine,150,2\n'));
      await page.getByRole('button', { name: 'Report', exact: true }).click();
      await page.getByText(/^1 row, from journal entry/).waitFor();
      assert.match((await page.locator('#results .rows tbody').textContent())!, 'mine');
    },
    /status of 400/,
  );
});

check('a list that is kept has a link, which Back returns to until it is deleted', async world => {
  const rows = (page: Page) => page.locator('#results .rows tbody tr');
  await visiting(
    world,
    '/sample',
    async page => {
      await page.getByRole('textbox', { name: /one a line/ }).fill(`${MATCHED}\n150 2`);
      await page.getByRole('button', { name: 'Report', exact: true }).click();
      await page.getByRole('textbox', { name: 'Title' }).fill('Mine <b>&');
      await page.getByRole('button', { name: 'Keep this list' }).click();
      const kept = page.locator('#kept');
      await kept.getByText('Mine <b>&', { exact: true }).waitFor();
      const link = (await kept.getByRole('link').getAttribute('href'))!;
      assert.match(link, /\/sample\?kept=[0-9a-f]{32}$/);
      assert.is(page.url(), link);
      await page.evaluate(axe);
      assert.equal(await page.evaluate(`axe.run().then(({ violations }) => violations.map(v => v.id))`), []);
      await page.goBack();
      await kept.waitFor({ state: 'detached' });
      await page.goForward();
      await kept.waitFor();
      // Elsewhere.
      const other = await world.context.newPage();
      await other.goto(link);
      await rows(other).first().waitFor();
      assert.match((await rows(other).allTextContents()).join(), MATCHED);
      const [saved] = await Promise.all([
        other.waitForEvent('download'),
        other.getByRole('button', { name: 'LaTeX', exact: true }).click(),
      ]);
      assert.match(readFileSync((await saved.path())!, 'utf8'), `\n${MATCHED} & ${MATCHED} & `);
      await other.close();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByText('Deleted.').waitFor();
      await page.goto(link);
      await page.locator('.notice', { hasText: 'Cannot find the kept sample' }).waitFor();
    },
    /status of 404/,
  );
});

check('a table that takes too long becomes a job, whose address shows its report again', async world => {
  await visiting(
    world,
    '/sample',
    async page => {
      // As if the service had no time for it at once.
      const body = JSON.stringify({ code: 'query_too_expensive', message: 'It takes too long', retryable: false });
      await page.route('**/api/sample?format=*', async route => {
        if ((await route.request().headerValue('prefer')) === 'respond-async') await route.continue();
        else await route.fulfill({ status: 503, contentType: 'application/json', body });
      });
      const text = `diaObjectId,name\n${MATCHED},first\n`;
      await page.locator('#file').setInputFiles({ name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
      await page.getByRole('button', { name: 'Report', exact: true }).click();
      const object = page.locator('#results .rows tbody a').first();
      await object.waitFor();
      assert.match(new URL(page.url()).search, /^\?job=[0-9a-f]{40}$/);
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV', exact: true }).click(),
      ]);
      assert.match(readFileSync((await saved.path())!, 'utf8'), `\nfirst,`);
      await object.click();
      await page.locator('#object .verdict').waitFor();
      await page.goBack();
      await object.waitFor();
      assert.is(await page.getByRole('button', { name: 'CSV', exact: true }).count(), 0);
    },
    /status of 503/,
  );
});

check('an area, drawn or from a file: how many objects it has, a list of them, and a file', async world => {
  const counted = async (body: string) => {
    const answer = await fetch(`${world.server.url}/api/area?response=count`, { method: 'POST', body });
    return ((await answer.json()) as { total: number }).total;
  };
  const heading = (page: Page, total: number) =>
    page.getByRole('heading', { name: `${total} object${total === 1 ? '' : 's'}`, exact: true }).waitFor();
  await visiting(world, '/area', async page => {
    await page.locator('#map').focus();
    await page.keyboard.press('Enter');
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.locator('#results h2').waitFor();
    const drawn = await page.locator('#area-text').inputValue();
    assert.match(drawn, /^CIRCLE 0\.0000 0\.0000 [\d.]+$/);
    await heading(page, await counted(drawn));
    await page.getByRole('radio', { name: 'a polygon' }).check();
    const box = (await page.locator('#map').boundingBox())!;
    for (const [x, y] of [
      [0.3, 0.8],
      [0.5, 0.7],
      [0.6, 0.9],
    ] as const)
      await page.mouse.click(box.x + box.width * x, box.y + box.height * y);
    assert.match(await page.locator('#drawing').textContent().then(String), /^3 corners/);
    const polygon = await page.locator('#area-text').inputValue();
    assert.match(polygon, /^POLYGON (-?[\d.]+ ?){6}$/);
    await page.getByRole('button', { name: 'Search', exact: true }).last().click();
    await heading(page, await counted(polygon));
    const sky = JSON.stringify({ 0: Array.from({ length: 12 }, (_, i) => i) });
    await page
      .locator('#file')
      .setInputFiles({ name: 'sky.json', mimeType: 'application/json', buffer: Buffer.from(sky) });
    await heading(page, await counted(sky));
    assert.is(await page.locator('#results .objects li').count(), 50);
    await page.locator('#results').getByRole('button', { name: 'Show more' }).click();
    await page.locator('#results .objects').nth(1).waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('.downloads').getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    assert.is(
      readFileSync((await saved.path())!, 'utf8')
        .trimEnd()
        .split('\n').length,
      (await counted(sky)) + 1,
    );
  });
});

check('the wheel zooms the map where the pointer is, and the page from the whole sky', async world => {
  await visiting(world, '/', async page => {
    await page.locator('#legend .ramp').waitFor();
    const box = (await page.locator('#map').boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.wheel(0, -600);
    await page.waitForFunction("document.querySelector('#map').classList.contains('zoomed')");
    assert.is(Number(await page.evaluate('scrollY')), 0);
    for (let i = 0; i < 4; i++) await page.mouse.wheel(0, 600);
    await page.waitForFunction("!document.querySelector('#map').classList.contains('zoomed') && scrollY > 0");
  });
});

check('the status page has what each broker delivered, and sums that agree', async world => {
  await visiting(world, '/status', async page => {
    const table = page.locator('#status table').first();
    assert.match((await table.textContent())!, /Lasair\s*87/);
    const counts = (await page.locator('table').last().locator('td.number').allTextContents()).map(Number);
    assert.match(
      (await page.locator('#status h2').last().textContent())!,
      `${counts.reduce((a, b) => a + b, 0)} objects`,
    );
  });
  // The metrics are also empty while the database cannot be read.
  const page = await world.context.newPage();
  await page.route('**/metrics', route => route.fulfill({ contentType: 'text/plain', body: '' }));
  await page.goto(`${world.server.url}/status`);
  await page.locator('#status dl div', { hasText: /^Last new object\s*unknown$/ }).waitFor();
  await page.close();
  await visiting(world, '/catalogs', async page => {
    await page
      .locator('.held', { hasText: /^\d+ rows; [\d.]+ square degrees/ })
      .first()
      .waitFor();
  });
});

check('requests to try are sent as they stand, ids with all their digits', async world => {
  await visiting(world, '/api-docs', async page => {
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('#try-answer', { hasText: '200 ·' }).waitFor();
    assert.match((await page.locator('#try-answer pre').textContent())!, /"diaObjectId": \d{15,19},\n/);
  });
});

check('the reference is short: its sections are closed, and an address or a link opens its own', async world => {
  const open = 'details.section[open] h2';
  for (const width of [1280, 390])
    await visiting(world, '/api-docs', async page => {
      await page.setViewportSize({ width, height: 844 });
      assert.is(await page.locator(open).count(), 0);
      const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
      assert.ok(height < 4000, `${height} pixels at ${width}`);
    });
  await visiting(world, '/api-docs#cone_search', async page => {
    await page.locator(open).waitFor();
    assert.equal(await page.locator(open).allTextContents(), ['cone_search']);
    await page.locator('details[open] a', { hasText: 'Filters' }).first().click();
    await page.locator('details[open] #filters').waitFor();
    await page.locator('details.section summary', { hasText: 'GET /api/objects/{diaObjectId}' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('details[open] #get_object').waitFor();
    await page.getByRole('button', { name: 'Open all sections' }).click();
    assert.is(await page.locator('details.section:not([open])').count(), 0);
  });
});

check('a search of the documents leads to a section; nothing is found for a word that none has', async world => {
  await visiting(world, '/docs/tutorial', async page => {
    const field = page.getByLabel('Search the documents');
    await field.fill('qqzzxxkk');
    await page.locator('#docs-results', { hasText: '0 sections' }).waitFor();
    await field.fill('des delve same source');
    await page.locator('#docs-results a').first().click();
    await page.waitForURL('**/docs/faq#do-des-and-delve-ids-mean-the-same-source');
    assert.is(
      await page
        .locator('.contents [aria-current]')
        .textContent()
        .then(text => text?.startsWith('Frequent')),
      true,
    );
  });
});

check('on a phone, too, a table of the documents has its header over its columns', async world => {
  await visiting(world, '/docs/size', async page => {
    await page.setViewportSize({ width: 390, height: 844 });
    const table = page.locator('table').first();
    const [head, cell] = [table.locator('th').nth(1), table.locator('tbody td').nth(2)];
    assert.is(await head.textContent(), 'a million objects');
    assert.is(await cell.textContent(), '0.89 GB');
    const [above, below] = [(await head.boundingBox())!, (await cell.boundingBox())!];
    assert.is(Math.round(above.x), Math.round(below.x));
    assert.ok(above.height > 15 && above.y + above.height <= below.y + 1, JSON.stringify({ above, below }));
  });
});

check('what the API refuses is said in its own words, with a way to try again', async world => {
  const page = await world.context.newPage();
  try {
    await page.route('**/api/cone*', route =>
      route.fulfill({
        status: 503,
        contentType: 'application/json',
        body: '{"message": "the index is not ready", "retryable": true}',
      }),
    );
    await page.goto(`${world.server.url}/search?q=1+1`);
    await page.getByRole('alert').waitFor();
    assert.match((await page.getByRole('alert').textContent()) ?? '', /the index is not ready/);
    await page.unroute('**/api/cone*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No Rubin object here').waitFor();
  } finally {
    await page.close();
  }
  assert.ok(world.faults.splice(0).every(fault => fault.includes('503')));
});

check('an answer that breaks off, or that a proxy gives, is no fault of the page', async world => {
  const half = createServer((_, response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('{"nearsky_status": "no_match"}\n');
    setTimeout(() => response.destroy(), 100);
  });
  await new Promise<void>(resolve => half.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(half.address() as AddressInfo).port}/`;
  const page = await world.context.newPage();
  try {
    await page.route('**/api/objects/*', route => route.continue({ url }));
    await page.goto(`${world.server.url}/objects/${MATCHED}`);
    await page.getByRole('alert').getByText('The answer broke off').waitFor();
    await page.goto(`${world.server.url}/crossmatch`);
    const file = { name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from('ra,dec\n1,2\n') };
    await page.locator('#file').setInputFiles(file);
    await page.locator('#preview table').waitFor();
    await page.route('**/api/crossmatch*', route => route.continue({ url }));
    await page.getByRole('button', { name: 'Match', exact: true }).click();
    await page.locator('#results').getByText('The answer broke off').waitFor();
    await page.unroute('**/api/crossmatch*');
    const body = '<html>413 Request Entity Too Large</html>';
    await page.route('**/api/crossmatch*', route => route.fulfill({ status: 413, contentType: 'text/html', body }));
    await page.getByRole('button', { name: 'Match', exact: true }).click();
    await page.locator('#results').getByText('answered 413').waitFor();
  } finally {
    await page.close();
    half.close();
  }
  world.faults.splice(0);
});

check('recent crossmatches page by page, none twice', async world => {
  await visiting(world, '/recent', async page => {
    await page.locator('#recent tbody tr').first().waitFor();
    const more = page.getByRole('button', { name: 'Show more' });
    while ((await more.count()) > 0) {
      const before = await page.locator('#recent tbody tr').count();
      await more.click();
      await page.locator('#recent tbody tr').nth(before).waitFor();
    }
    const ids = await page.locator('#recent .id').allTextContents();
    assert.is(new Set(ids).size, ids.length);
    const { objects } = (await (await fetch(`${world.server.url}/api/recent-crossmatches?detail=ids`)).json()) as {
      objects: unknown[];
    };
    assert.is(ids.length, objects.length);
  });
});

check('a name of the registry leads to the objects at its place', async world => {
  const file = join(world.directory, 'registry.ndjson');
  const place = { ra: 61.6223, dec: -49.2951, classification: 'SN Ia', redshift: 0.05 };
  const lines = [
    { type: 'tns_snapshot', epoch: new Date().toISOString() },
    { type: 'tns_object', objid: 7, name: '2026abc', name_prefix: 'SN', ...place },
  ];
  writeFileSync(file, lines.map(line => `${JSON.stringify(line)}\n`).join(''));
  await nearsky('import', file, '--data', world.data);
  await visiting(world, '/search?q=SN+2026abc', async page => {
    await page.locator('#results', { hasText: 'SN 2026abc · SN Ia · z = 0.05' }).waitFor();
    await page.getByRole('link', { name: MATCHED, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: MATCHED }).waitFor();
  });
  await visiting(world, '/search?q=AT2026zzz', async page => {
    await page.getByText('Name not in TNS').waitFor();
  });
});

check('recent crossmatches: what is new is said, and shown when it is asked for', async world => {
  await visiting(world, '/recent', async page => {
    await page.locator('#recent tbody tr').first().waitFor();
    assert.is(await page.locator('#fresh').textContent(), '', 'nothing is new yet');
    const metrics = async () => await (await fetch(`${world.server.url}/metrics`)).text();
    await eventually('the page listens', async () => /^nearsky_streams [1-9]/m.test(await metrics()) || undefined);
    const file = join(world.directory, 'fresh.ndjson');
    const message = { ra: 61.62228, decl: -49.29513, latestR: 0.9, firstDiaSourceMjdTai: 61105.25 };
    writeFileSync(file, `${JSON.stringify({ diaObjectId: 4_242_424_242, ...message })}\n`);
    await nearsky('ingest', '--broker', 'lasair', file, '--data', world.data);
    await nearsky('crossmatch', '--data', world.data);
    await page.getByRole('button', { name: /^\d+ new match(es)?: show$/ }).click();
    await page.getByRole('link', { name: '4242424242', exact: true }).waitFor();
    assert.is(await page.locator('#fresh').textContent(), '');
  });
});

check(
  'an area is followed: its objects appear when they are stored and change when they are crossmatched',
  async world => {
    const followed = 9_100_000_000_000_000_777n;
    const store = async (id: bigint, ra: number) => {
      const file = join(world.directory, `${id}.ndjson`);
      writeFileSync(file, `{"diaObjectId": ${id}, "ra": ${ra}, "decl": 1, "lastDiaSourceMjdTai": 61000}\n`);
      await nearsky('ingest', '--broker', 'lasair', '--data', world.data, file);
    };
    await visiting(world, '/area?area=CIRCLE%20200%201%200.5', async page => {
      await page.getByRole('heading', { name: '0 objects', exact: true }).waitFor();
      const [begun] = await Promise.all([
        page.waitForResponse(response => response.url().includes('/api/stream/objects')),
        page.getByRole('checkbox', { name: 'Follow live' }).check(),
      ]);
      assert.is(begun.status(), 200);
      await store(followed - 1n, 210);
      await store(followed, 200.1);
      const items = page.getByRole('list', { name: 'New in the area' }).getByRole('listitem');
      await items.filter({ hasText: `${followed}` }).waitFor();
      await nearsky('crossmatch', '--data', world.data);
      await items.filter({ hasNotText: 'pending' }).waitFor();
      assert.is(await items.count(), 1);
      await page.getByRole('checkbox', { name: 'Follow live' }).uncheck();
    });
  },
);

needs(test, obstacle ?? queries ?? whyNoBalancer)(
  'below a path, behind a proxy that removes it, no page asks for anything outside the path',
  async world => {
    const [port, behind] = (await freePorts(2)) as [number, number];
    const base = `http://127.0.0.1:${port}/nearsky`;
    await world.server.stop();
    world.server = await startServer(['serve', '--data', world.data, '--port', `${behind}`, '--no-crossmatch'], {
      PUBLIC_BASE_URL: base,
    });
    const [rule] = /http-request replace-path .*/.exec(readFileSync(join(root, 'docs/install.md'), 'utf8'))!;
    const balancer = await startBalancer(world.directory, [`127.0.0.1:${behind}`], port, rule);
    const page = await world.context.newPage();
    const asked = new Set<string>();
    page.on('request', request => asked.add(request.url()));
    page.on('response', response => response.ok() || world.faults.push(`${response.status()} ${response.url()}`));
    const follow = async (link: Locator, path: string) => {
      await link.click();
      await page.waitForURL(`${base}${path}`);
    };
    const open = (name: string, path: string) =>
      follow(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }), path);
    try {
      await page.goto(base);
      await page.getByRole('textbox', { name: /^An id/ }).fill('61.6223 -49.2951');
      await page.keyboard.press('Enter');
      await follow(page.getByRole('link', { name: MATCHED, exact: true }), `/objects/${MATCHED}`);
      assert.match((await page.locator('pre[aria-label="curl"]').textContent())!, `'${base}/api/objects/`);
      await open('Recent', '/recent');
      await page.locator('#recent tbody tr').first().waitFor();
      await open('Area', '/area');
      await follow(page.locator('.examples a'), '/area?area=*');
      await page.getByRole('checkbox', { name: 'Follow live' }).check();
      await open('Match', '/crossmatch');
      await page.locator('#example').click();
      await page.locator('#preview table').waitFor();
      await page.getByRole('button', { name: 'Match', exact: true }).click();
      await page.locator('#results table').first().waitFor();
      await open('Sample', '/sample');
      await page.locator('#example').click();
      await page.getByRole('button', { name: 'Report', exact: true }).click();
      await follow(page.locator('#results tbody a').first(), '/objects/*');
      await open('Query', '/query');
      await follow(page.locator('.tries a').first(), '/query?q=*');
      await page.locator('#results table').waitFor();
      await open('Help', '/help');
      await follow(page.getByRole('link', { name: 'API', exact: true }), '/api-docs');
      await page.locator('.tries a').first().click();
      await page.locator('#try-answer code').waitFor();
      await open('Help', '/help');
      await follow(page.getByRole('link', { name: 'Documents', exact: true }), '/docs');
      await page.getByRole('searchbox', { name: 'Search the documents' }).fill('cone');
      await follow(page.locator('#docs-results a').first(), '/docs/*');
      await follow(page.getByRole('contentinfo').getByRole('link', { name: 'Status', exact: true }), '/status');
      await page.locator('#status dl').first().waitFor();
    } finally {
      await page.close();
      balancer.kill('SIGKILL');
    }
    assert.equal(
      [...asked].filter(url => url !== base && !url.startsWith(`${base}/`)),
      [],
    );
    assert.ok(asked.has(`${base}/api/stream/matches`) && asked.size > 60, `${asked.size}`);
    assert.equal(world.faults.splice(0), []);
  },
);

test.run();
