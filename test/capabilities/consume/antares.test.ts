/** From the value of a Kafka message of ANTARES to the newest alert, over HTTP. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { serialize } from 'bson';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AlertLinks, alertsLink, MAX_PAGES } from '../../../src/capabilities/consume/antares_links.ts';
import { normaliseProperties } from '../../../src/capabilities/ingest/antares.ts';
import { reasonKind } from '../../../src/capabilities/ingest/rejects.ts';
import { configOf } from '../../core/http/support.ts';
import { failure } from '../../core/store/support.ts';
import { eventually, sample } from '../../directory.ts';
import { AntaresServer, locusMessage } from './antares_server.ts';
import { type Fault, type HttpRequest, startHttpServer } from './http_server.ts';

const test = suite('consume/antares');

const BIG_ID = 9_223_372_036_854_775_807n;
const alert = (mjd: number, id: bigint | null = BIG_ID, more = '') =>
  `{"ant_mjd": ${mjd}, "ant_time_received": 1772010265${id === null ? '' : `, "lsst_diaObject_diaObjectId": ${id}`}${more}}`;

/** @param use gets a signal that fires at its end: a link that is retried would keep a failed test from ending */
async function withServer<T>(
  fault: ((request: HttpRequest) => Fault | undefined) | undefined,
  use: (server: AntaresServer, links: AlertLinks, over: AbortSignal) => Promise<T>,
  { patienceSeconds = 5, pageSize = 100 } = {},
): Promise<T> {
  const server = await AntaresServer.start(fault, pageSize);
  const links = new AlertLinks({ baseUrl: server.url, patienceSeconds });
  const over = new AbortController();
  try {
    return await use(server, links, over.signal);
  } finally {
    over.abort();
    await links.close();
    await server.close();
  }
}

test('the link of a locus; anything else can not be used', async () => {
  assert.is(await alertsLink(locusMessage('ANT1', 'https://host/alerts')), 'https://host/alerts');
  const big = { count: BIG_ID, when: new Date(0), none: null };
  assert.is(await alertsLink(locusMessage('ANT1', '/relative', big)), '/relative');
  const unusable: [Uint8Array, RegExp][] = [
    [new Uint8Array(0), /BSON in zlib/],
    [Buffer.from('{"data": {}}'), /BSON in zlib/],
    [deflateSync('{"data": {}}'), /BSON in zlib/],
    [locusMessage('ANT1', 'x').subarray(0, 100), /BSON in zlib/],
    [deflateSync(Buffer.alloc(65 * 2 ** 20)), /BSON in zlib/],
    [deflateSync(serialize({ data: { type: 'locus' } })), /no data\.relationships/],
    [deflateSync(serialize({ data: [{ relationships: { alerts: { links: { related: 5 } } } }] })), /no data\.relation/],
  ];
  for (const [value, reason] of unusable) {
    const error = await failure(() => alertsLink(value));
    assert.is(error.name, 'UnusableMessage');
    assert.match(error.message, reason);
  }
});

test('the newest alert, of whatever page, every digit of its id; of LSST where there is one', () =>
  withServer(
    undefined,
    async (server, links, over) => {
      const newest = async (...alerts: string[]) => {
        server.requests.length = 0;
        server.add('ANT1', alerts);
        return (await links.newest(server.link('ANT1'), over)).properties.ant_mjd;
      };
      assert.is(await newest(alert(1), alert(3), alert(2)), 3);
      assert.equal(server.requests, ['/v1/loci/ANT1/alerts', '/v1/loci/ANT1/alerts?page[offset]=2']);
      assert.is(await newest(alert(9), alert(3), alert(2), alert(4), alert(5)), 9);
      assert.is(await newest(alert(1), alert(5, null), alert(2), alert(6, null)), 2);
      assert.is(await newest(alert(1, null), alert(5, null)), 5);
      server.add('ANT2', [alert(1)]);
      const normalised = normaliseProperties(await links.newest('loci/ANT2/alerts', over), 0);
      assert.ok(normalised.kind === 'delivery' && normalised.delivery.diaObjectId === BIG_ID);
      assert.is(
        normaliseProperties(await links.newest(server.add('ANT3', [alert(1, null)]) && server.link('ANT3'), over), 0)
          .kind,
        'skipped',
      );
    },
    { pageSize: 2 },
  ));

test('the alerts of the sample come as they went', () =>
  withServer(undefined, async (server, links, over) => {
    const lines = readFileSync(join(sample, 'alerts/antares.ndjson'), 'utf8').trimEnd().split('\n');
    const flat = lines.filter(line => !line.startsWith('{"properties"') && line.includes('diaObjectId'));
    assert.ok(flat.length >= 5);
    for (const [i, text] of flat.entries()) {
      const link = await alertsLink(server.add(`ANT${i}`, [text]));
      const normalised = normaliseProperties(await links.newest(link, over), 0);
      assert.ok(normalised.kind === 'delivery');
      assert.is(`${normalised.delivery.diaObjectId}`, /"lsst_diaObject_diaObjectId":(\d+)/.exec(text)![1]);
    }
  }));

test('what fails now is tried again: errors of the server, answers cut off, connections that end', async () => {
  const retried = async (faults: readonly (Fault | undefined)[]) => {
    let count = 0;
    await withServer(
      () => faults[count++],
      async (server, links, over) => {
        server.add('ANT1', [alert(1)]);
        assert.is((await links.newest(server.link('ANT1'), over)).properties.ant_mjd, 1);
        assert.is(count, faults.length);
      },
      { patienceSeconds: 60 },
    );
  };
  await Promise.all([retried([500, 'truncate', undefined]), retried(['drop', 429, 503, undefined])]);
});

test('what will never be there can not be used', () =>
  withServer(
    undefined,
    async (server, links, over) => {
      server.add('ANT1', []);
      for (const [link, reason, kind] of [
        [server.link('ANT404'), /answered 404/, 'Cannot follow the link'],
        [server.link('ANT1'), /no alert: http:.*ANT1/, 'the locus has no alert'],
        [
          'ftp://host/alerts',
          /: ftp:\/\/host\/alerts was given/,
          `the link must lead to ${new URL(server.url).origin}`,
        ],
        ['http://', /the link is not an address/, 'the link is not an address'],
      ] as const) {
        const error = await failure(() => links.newest(link, over));
        assert.is(error.name, 'UnusableMessage');
        assert.match(error.message, reason);
        // Rejects are counted by reason, so a reason must not depend on the locus.
        assert.is(reasonKind(error.message), kind);
      }
    },
    { patienceSeconds: 0.3 },
  ));

test('no other host is asked, whatever a message or a page says', async () => {
  const asked: string[] = [];
  const other = await startHttpServer(({ url }) => {
    asked.push(url.pathname);
    return { data: [] };
  });
  const secret = 'http://u:very-secret@127.0.0.1:1/x';
  try {
    await withServer(
      undefined,
      async (server, links, over) => {
        server.add('ANT1', [alert(1)]);
        for (const link of [
          `${other.url}/alerts`,
          other.url.replace('http:', ''),
          'http://169.254.169.254/latest',
          secret,
        ]) {
          server.next = () => link;
          for (const from of [link, server.link('ANT1')]) {
            const error = await failure(() => links.newest(from, over));
            assert.is(error.name, 'UnusableMessage', link);
            assert.match(error.message, /must lead to http:\/\/127\.0\.0\.1:\d+ \(ANTARES_API_BASE_URL\)/);
            assert.not.match(error.message, /very-secret/);
          }
        }
      },
      { patienceSeconds: 0.3 },
    );
  } finally {
    await other.close();
  }
  assert.equal(asked, []);
});

test('pages that lead in a circle, or without end, can not be used, and are not asked for twice', () =>
  withServer(
    undefined,
    async (server, links, over) => {
      server.add('ANT1', [alert(1)]);
      const path = '/v1/loci/ANT1/alerts';
      const requestsOf = async (next: (asked: string) => unknown, reason: RegExp) => {
        server.next = next;
        server.requests.length = 0;
        const error = await failure(() => links.newest(server.link('ANT1'), over));
        assert.is(error.name, 'UnusableMessage');
        assert.match(error.message, reason);
        return server.requests.length;
      };
      assert.is(await requestsOf(() => path, /form a loop/), 1);
      assert.is(await requestsOf(() => `${path}#${Math.random()}`, /form a loop/), 1);
      const three = (asked: string) => `${path}?round=${(Number(/round=(\d)/.exec(asked)?.[1] ?? 0) + 1) % 3}`;
      assert.is(await requestsOf(three, /form a loop/), 4);
      assert.is(await requestsOf(() => 5, /next page is not a string/), 1);
      let page = 0;
      assert.is(await requestsOf(() => ({ href: `${path}?round=${page++}` }), /more than 1000 pages/), MAX_PAGES);
      server.next = () => null;
      assert.is((await links.newest(server.link('ANT1'), over)).properties.ant_mjd, 1);
    },
    { patienceSeconds: 0.3 },
  ));

test('an alert that its host does not have yet when the locus comes is waited for some seconds', () =>
  withServer(
    undefined,
    async (server, links, over) => {
      const newest = links.newest(server.link('ANT1'), over);
      newest.catch(() => {});
      await eventually('it was asked for', async () => server.requests.length >= 1 || undefined);
      server.add('ANT1', []);
      await eventually('it was asked for again', async () => server.requests.length >= 2 || undefined);
      server.add('ANT1', [alert(1)]);
      assert.is((await newest).properties.ant_mjd, 1);
    },
    { patienceSeconds: 60 },
  ));

test('one link that fails while others answer can not be used; where all fail, it is the host', async () => {
  const broken = (request: HttpRequest) => (request.url.pathname.includes('BROKEN') ? 500 : undefined);
  await withServer(
    broken,
    async (server, links, over) => {
      server.add('ANT1', [alert(1)]);
      const alone = await failure(() => links.newest(server.link('BROKEN'), over));
      assert.equal([alone.name, /BROKEN.*answered 500/.test(alone.message)], ['Error', true]);
      const asked: Promise<unknown>[] = [];
      const others = setInterval(() => {
        const other = links.newest(server.link('ANT1'), over);
        other.catch(() => {});
        asked.push(other);
      }, 20);
      const beside = await failure(() => links.newest(server.link('BROKEN'), over)).finally(() =>
        clearInterval(others),
      );
      await Promise.all(asked);
      assert.equal([beside.name, /BROKEN.*answered 500/.test(beside.message)], ['UnusableMessage', true]);
    },
    { patienceSeconds: 1 },
  );
});

test('a base address needs no slash at its end', () =>
  withServer(undefined, async (server, _, over) => {
    server.add('ANT2', [alert(1)]);
    const { ANTARES_API_BASE_URL: baseUrl } = configOf('/d', { ANTARES_API_BASE_URL: server.url.replace(/\/$/, '') });
    const links = new AlertLinks({ baseUrl, patienceSeconds: 0 });
    assert.is((await links.newest('loci/ANT2/alerts', over)).properties.ant_mjd, 1);
    await links.close();
  }));

test('a signal ends the trying', () =>
  withServer(
    () => 500,
    async (server, links) => {
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error('told to stop')), 300);
      assert.is((await failure(() => links.newest(server.link('ANT1'), stop.signal))).message, 'told to stop');
    },
    { patienceSeconds: 3600 },
  ));

test.run();
