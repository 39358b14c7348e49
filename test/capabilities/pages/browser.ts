/**
 * A real browser over the demo, for the tests of the pages. Needs Chromium (Debian package `chromium`); CHROMIUM names
 * another one.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Server, startServer } from '../../e2e/support.ts';
import { duckdbObstacle, needs, toolObstacle } from '../../needs.ts';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
export const MATCHED = '313637935709683761';
export const PENDING = '169641483339038753';
export const NO_POSITION = '9000000000000000001';
export const OUTSIDE = '169579900785655908';
export const NOTHING_THERE = '313664312957206554';

export interface World {
  server: Server;
  /** Returns a red image, or an error, and records the request. */
  images: { server: HttpServer; asked: string[]; works: boolean };
  context: BrowserContext;
  directory: string;
  data: string;
  /** Errors of the console and of scripts since they were last looked at. */
  faults: string[];
}

/** Why the browser is unavailable, if it is. */
export const obstacle = existsSync(CHROMIUM)
  ? toolObstacle('playwright-core')
  : `there is no Chromium at ${CHROMIUM}: apt-get install chromium, or set CHROMIUM`;
/** Why queries are unavailable, if they are. */
export const queries = duckdbObstacle();

/** A suite with a browser and the demo, and its tests: those for which a browser is enough, and those with queries. */
export function browserSuite(name: string) {
  const test = suite<World>(name);
  test.before(start);
  test.after(stop);
  return { test, check: needs(test, obstacle), checkQueries: needs(test, obstacle ?? queries) };
}

async function start(world: World): Promise<void> {
  if (obstacle !== undefined) return;
  const { chromium } = await import('playwright-core');
  world.directory = mkdtempSync(join(tmpdir(), 'nearsky-browser-'));
  world.data = join(world.directory, 'data');
  world.images = await startImages();
  const { port } = world.images.server.address() as AddressInfo;
  world.server = await startServer(['demo', '--port', '0', '--data', world.data], {
    SURVEY_IMAGE_URL_TEMPLATE: `http://127.0.0.1:${port}/{ra}/{dec}/{fov}`,
  });
  world.faults = [];
  world.context = await chromium.launchPersistentContext(join(world.directory, 'profile'), {
    executablePath: CHROMIUM,
    args: FLAGS,
  });
  world.context.on('console', message => message.type() === 'error' && world.faults.push(message.text()));
  world.context.on('weberror', error => world.faults.push(`${error.error()}`));
  // The map itself gives up a request that it no longer needs.
  world.context.on('requestfailed', request => {
    const why = request.failure()?.errorText;
    if (why !== 'net::ERR_ABORTED') world.faults.push(`${request.url()}: ${why}`);
  });
}

async function stop({ context, server, images, directory }: World): Promise<void> {
  if (obstacle !== undefined) return;
  await context.close();
  await server.stop();
  images.server.close();
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}

async function startImages(): Promise<World['images']> {
  const images: World['images'] = { server: createServer(), asked: [], works: true };
  images.server.on('request', ({ url = '', headers }, response) => {
    images.asked.push(`${url} ${headers.referer ?? ''}`.trim());
    const headersOfImage = { 'Content-Type': 'image/svg+xml', 'Access-Control-Allow-Origin': '*' };
    response.writeHead(images.works ? 200 : 503, headersOfImage);
    const image =
      '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64" fill="#f00"/></svg>';
    response.end(images.works ? image : '');
  });
  await new Promise<void>(resolve => images.server.listen(0, '127.0.0.1', resolve));
  return images;
}

/**
 * Opens a page, and closes it when the test is over; no error may have been seen by then.
 * @param expected errors that are meant: the browser reports the status of an answer that is an error
 */
export async function visiting(
  world: World,
  path: string,
  look: (page: Page) => Promise<void>,
  expected = path === MISSING ? /status of 404/ : undefined,
): Promise<void> {
  const page = await world.context.newPage();
  try {
    await page.goto(`${world.server.url}${path}`);
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    await look(page);
    const faults = world.faults.splice(0).filter(fault => !expected?.test(fault));
    assert.equal(faults, [], path);
  } finally {
    await page.close();
  }
}

export const MISSING = '/no/such/page';
