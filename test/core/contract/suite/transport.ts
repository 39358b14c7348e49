import * as assert from 'uvu/assert';
import { hasKeys, INVALID, section } from './check.ts';
import type { Service } from './service.ts';
import { IDS, UNKNOWN_ID } from './world.ts';

const OBJECT = `/api/objects/${IDS.matched}`;
const CONE = '/api/cone';
const RECENT = '/api/recent-crossmatches';
const AT = 'ra=150&dec=2&radius_arcsec=10';

const GET_PATHS = [
  OBJECT,
  `${CONE}?${AT}`,
  '/api/tns/2026abc',
  '/api/status',
  '/api/describe',
  RECENT,
  '/openapi.json',
] as const;

/** The nine operations: their paths, and the methods that they have. */
const NINE: readonly (readonly [path: string, allow: string])[] = [
  ...GET_PATHS.map(path => [path, 'GET'] as const),
  ['/api/lookup', 'POST'],
  ['/api/task/', 'GET, HEAD, OPTIONS'],
];
const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT PROPFIND QUERY FOO get'.split(' ');

const routes = section('Routes', {
  'each of nine operations has only the methods listed for it, of thirteen; others are 405 with Allow [P1]':
    async service => {
      for (const [path, allow] of NINE) {
        for (const method of METHODS) {
          const sent = method === 'POST' ? ['Content-Length: 0'] : [];
          const { status, headers, text, body } = await service.raw(`${method} ${path} HTTP/1.1`, ...sent);
          if (allow.split(', ').includes(method)) {
            // The lookup has no body.
            assert.is(status, method === 'POST' ? 400 : 200, `${method} ${path}`);
            continue;
          }
          assert.equal([status, headers.get('Allow')], [405, allow], `${method} ${path}`);
          if (method === 'HEAD') assert.is(text, '', path);
          else assert.equal([body.code, body.retryable], ['method_not_allowed', false], `${method} ${path}`);
        }
      }
    },
  'a slash at the end, an encoded slash and an unknown path are 404 with the error body [Routes]': async service => {
    const paths = [`${OBJECT}/`, '/api/cone/', '/api/status/', '/api/objects/', '/api/objects/1%2F2', '/api/tns/a%2Fb'];
    for (const path of [...paths, '/api', '/api/nothing', '/openapi.json/']) {
      const { status, body } = await service.get(path);
      assert.equal([status, body.code], [404, 'not_found'], path);
    }
  },
  'a path segment is percent-decoded': async service => {
    assert.is((await service.ok('/api/objects/%37')).results[0].input, '7');
    assert.is((await service.ok('/api/tns/SN%202026abc')).results[0].input, 'SN 2026abc');
  },
});

const raw = section('Routes: requests that no operation sees', {
  'a method of any name is 405 where the path has others, and CONNECT and TRACE are among them [P11]':
    async service => {
      const { status, headers, body } = await service.raw('CONNECT example.org:443 HTTP/1.1');
      assert.equal([status, headers.has('Allow'), body.code], [405, true, 'method_not_allowed']);
      assert.is((await service.raw('TRACE /healthz HTTP/1.1')).status, 405);
      assert.equal((await service.raw('FOO /api/nothing HTTP/1.1')).body.code, 'not_found');
    },
  'another version of HTTP is 505, too large headers are 431, and an unknown transfer coding is 501 [P11]':
    async service => {
      const cases: [status: number, code: string, lines: [string, ...string[]]][] = [
        [505, 'http_version_not_supported', ['GET /api/status HTTP/2.0']],
        [505, 'http_version_not_supported', ['GET /api/status HTTP/3.1']],
        [431, 'headers_too_large', ['GET /api/status HTTP/1.1', `X-Long: ${'x'.repeat(100_000)}`]],
        [501, 'not_implemented', ['POST /api/lookup HTTP/1.1', 'Transfer-Encoding: gzip, chunked', '', '0']],
      ];
      for (const [expected, code, lines] of cases) {
        const { status, body } = await service.raw(...lines);
        assert.equal([status, body.code, body.retryable], [expected, code, false], lines[0]);
        hasKeys(body, 'error code message retryable');
      }
    },
  'what is no HTTP is 400, and says of which part': async service => {
    for (const line of ['GET /api/status FTP/1.1', 'GET /é HTTP/1.1', 'nonsense']) {
      const { status, body } = await service.raw(line);
      assert.equal([status, body.code], [400, INVALID], line);
      hasKeys(body, 'error code message param retryable');
    }
  },
});

const headers = section('Headers', {
  'JSON is application/json, without a charset and without cache headers; every answer may be read from anywhere [Headers]':
    async service => {
      for (const path of [...GET_PATHS, '/api/objects/x', '/api/nothing']) {
        const { headers } = await service.get(path);
        assert.is(headers.get('Content-Type'), 'application/json', path);
        assert.is(headers.get('Access-Control-Allow-Origin'), '*', path);
        assert.is(headers.get('Access-Control-Expose-Headers'), 'Retry-After', path);
        for (const name of ['Cache-Control', 'ETag', 'Last-Modified', 'Retry-After', 'Mcp-Session-Id'])
          assert.not(headers.has(name), `${path} ${name}`);
        assert.is(headers.get('X-Content-Type-Options'), 'nosniff', path);
      }
    },
  'what may be had in several formats says so to caches': async service => {
    for (const path of [OBJECT, `${CONE}?${AT}`, '/api/tns/2026abc', RECENT]) {
      for (const accept of ['application/json', 'application/msgpack', 'text/csv', 'text/html']) {
        const { status, headers } = await service.send('GET', path, { headers: { Accept: accept } });
        assert.is(status, 200, path);
        const names = headers.get('Vary')?.toLowerCase().split(/, */);
        assert.ok(names?.includes('accept') && names.includes('accept-encoding'), `${path} ${accept}`);
      }
    }
  },
  'the Host header is in no Link': async service => {
    const { headers } = await service.send('GET', `${RECENT}?start=2026-03-01&end=2026-03-02&page_size=1&format=csv`, {
      headers: { Host: 'elsewhere.example' },
    });
    assert.match(headers.get('Link')!, 'rel="next"');
    assert.not.match(headers.get('Link')!, 'elsewhere.example');
  },
  'a CORS preflight is 204 [P2]': async service => {
    const preflight = { Origin: 'https://example.org', 'Access-Control-Request-Method': 'GET' };
    for (const path of [OBJECT, '/api/lookup', CONE]) {
      const { status, text } = await service.send('OPTIONS', path, { headers: preflight });
      assert.equal([status, text], [204, ''], path);
    }
  },
});

const text = section('JSON text', {
  'the text "diaObjectId_str": "DIGITS" can be found, and diaObjectId is an integer with all its digits [P5]':
    async service => {
      for (const id of [IDS.matched, IDS.largest, IDS.small, UNKNOWN_ID]) {
        const { text } = await service.get(`/api/objects/${id}`);
        assert.ok(text.includes(`"diaObjectId_str": "${id}"`), id);
        assert.match(text, new RegExp(`"diaObjectId": ?${id}[,}]`));
      }
    },
  'an integer of a payload keeps its digits': async service => {
    const { text } = await service.get(OBJECT, 'detail=full');
    assert.match(text, /"ngood": ?9007199254740993[,}]/);
  },
});

const times = section('Times', {
  'microseconds are six digits, and left out when they are zero; the offset is +00:00': async service => {
    const ingested = async (id: string) =>
      (await service.ok(`/api/objects/${id}`, 'detail=position')).results[0].objects[0].ingest_time;
    assert.is(await ingested(IDS.leftover), '2026-03-01T00:00:01.004210+00:00');
    assert.is(await ingested(IDS.matched), '2026-03-01T00:00:02+00:00');
  },
});

/** Query strings that must be refused for one parameter. */
async function refuse(service: Service, path: string, rest: string, param: string, values: readonly string[]) {
  for (const value of values) {
    const query = `${rest}&${param}=${value}`;
    assert.equal(await service.refused(path, query), [INVALID, param], `${path}?${query}`);
  }
}

const NO_NUMBERS = ['', '%20', 'nan', 'NaN', 'inf', '-Infinity', '1e999', '0x10', '1,5', '1e', 'e1', '.', '--1', 'x'];

const query = section('Query strings', {
  'of a repeated name the last value counts [Query strings]': async service => {
    const { normalized } = (await service.ok(CONE, `ra=1&${AT}&dec=x&dec=2`)).results[0];
    assert.equal([normalized.ra, normalized.dec], [150, 2]);
    assert.is((await service.ok(OBJECT, 'detail=full&detail=ids')).detail, 'ids');
    const filters = (await service.ok(OBJECT, 'reliability_min=x&reliability_min=0.5')).filters;
    assert.equal(filters, { reliability_min: 0.5 });
    assert.equal(await service.refused(OBJECT, 'detail=ids&detail='), [INVALID, 'detail']);
    assert.equal(await service.refused(RECENT, 'response=count&response=count'), ['unsupported_parameter', 'response']);
  },
  'an empty value is a bad value, never an absent one [Query strings]': async service => {
    for (const name of ['detail', 'response', 'catalog', 'reliability_min', 'gaia_dr3.ruwe_max'])
      assert.equal(await service.refused(OBJECT, `${name}=`), [INVALID, name]);
    for (const name of ['ra', 'dec', 'radius_arcsec', 'page_size', 'cursor'])
      assert.equal(await service.refused(CONE, `${AT}&${name}=`), [INVALID, name]);
    for (const name of ['start', 'end', 'time_field', 'detail', 'page_size', 'cursor'])
      assert.equal(await service.refused(RECENT, `${name}=`), [INVALID, name]);
    assert.equal(await service.refused('/api/tns/2026abc', 'radius_arcsec='), [INVALID, 'radius_arcsec']);
  },
  'names and values are case-sensitive; unknown names are ignored [Query strings]': async service => {
    await refuse(service, OBJECT, '', 'detail', ['Full', 'FULL', 'full%20', 'all']);
    await refuse(service, OBJECT, '', 'response', ['Count', 'object']);
    assert.is((await service.ok(OBJECT, 'Detail=nonsense&x=&utm=1')).detail, 'matches');
    await service.ok(CONE, `${AT}&RA=x`);
    await service.ok(RECENT, 'ra=x&page=2');
  },
  'what is shaped like a filter and is none is refused': async service => {
    for (const name of ['a.b', '.', 'x_min', 'x_max', '_min', 'gaia_dr3.nothing_min', 'Reliability_min'])
      assert.equal(await service.refused(OBJECT, `${name}=1`), [INVALID, name]);
  },
  'numbers are decimal, with white space around them, a sign, a fraction, an exponent [P16; Query strings]':
    async service => {
      const spellings = {
        '1e1': 10,
        '%2010%09': 10,
        '.5': 0.5,
        '5.': 5,
        '%2B10': 10,
        '+10': 10,
        '1.5E1': 15,
        '00010': 10,
      };
      for (const [spelling, value] of Object.entries(spellings)) {
        const { normalized } = (await service.ok(CONE, `ra=150&dec=2&radius_arcsec=${spelling}`)).results[0];
        assert.is(normalized.radius_arcsec, value, spelling);
      }
      await refuse(service, CONE, AT, 'ra', NO_NUMBERS);
      await refuse(service, CONE, AT, 'radius_arcsec', NO_NUMBERS);
      await refuse(service, OBJECT, '', 'separation_arcsec_max', NO_NUMBERS);
    },
  'page_size is an integer of at least 1, and clamped [Query strings]': async service => {
    const bad = ['5.0', '1e2', '%C2%B2', '', 'x', '0', '-1', '%20', '0x5'];
    await refuse(service, CONE, AT, 'page_size', bad);
    await refuse(service, RECENT, '', 'page_size', bad);
    assert.is((await service.ok(CONE, `${AT}&page_size=%20%2B7%20`)).page_size, 7);
    assert.is((await service.ok(CONE, `${AT}&page_size=${'9'.repeat(400)}`)).page_size, 2000);
    assert.is((await service.ok(RECENT, 'page_size=10001')).page_size, 10_000);
  },
  'an id in a path is ASCII digits up to 2^63 - 1, with leading zeros or without [Query strings]': async service => {
    const bad = ['-1', '+1', '1.0', '1e3', '0x1', '%201', '1%20', '%C2%B2', '%D9%A1', '9223372036854775808', 'x'];
    for (const id of [...bad, '9'.repeat(5000)]) {
      assert.equal(await service.refused(`/api/objects/${id}`, ''), [INVALID, 'diaObjectId'], id.slice(0, 40));
    }
    const { input, normalized } = (await service.ok('/api/objects/007')).results[0];
    assert.is((await service.ok('/api/objects/0')).results[0].status, 'not_in_service');
    assert.equal([input, normalized.diaObjectId_str], ['007', '7']);
    assert.is(
      (await service.ok(`/api/objects/${'0'.repeat(100)}${IDS.matched}`)).results[0].status,
      'coincident_sources',
    );
  },
});

const ONE = '{"inputs": [{"kind": "id", "diaObjectId": 7}]}';
const bytes = (...parts: readonly (string | number)[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));

const body = section('JSON bodies', {
  'the content type must be application/json, whatever its case and parameters [JSON bodies]': async service => {
    for (const type of [null, 'text/plain', 'application/jsonx', 'application/json+x', 'text/json', 'application'])
      assert.equal(await service.lookupRefused(ONE, type), [INVALID, 'Content-Type'], `${type}`);
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json ;x=y',
    ])
      assert.is((await service.post(ONE, type)).status, 200, type);
  },
  'what is no JSON object is refused: the empty body, bad UTF-8, NaN, endless nesting': async service => {
    const broken = ['', ' ', '{', '[]', '7', '"x"', 'null', '{"inputs": [NaN]}', '{"inputs": [Infinity]}', `${ONE}x`];
    const nested = `{"inputs": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    for (const body of [
      ...broken,
      '{"inputs": [-Infinity]}',
      "{'inputs': []}",
      nested,
      bytes('{"inputs": ["', 0xff, '"]}'),
    ])
      assert.equal(await service.lookupRefused(body), [INVALID, 'body'], `${body}`.slice(0, 40));
  },
  'nesting up to 1,000 levels inside an input is the problem of that input [JSON bodies]': async service => {
    const nested = `${'['.repeat(1000)}${']'.repeat(1000)}`;
    const { status, body } = await service.post(`{"inputs": [${nested}, {"kind": "id", "diaObjectId": 7}]}`);
    assert.is(status, 200);
    const statuses = body.results.map((result: { status: string }) => result.status);
    assert.equal(statuses, ['invalid_input', 'not_in_service']);
  },
  'a body of 2,621,440 bytes is read, one more is refused': async service => {
    const padded = (length: number) => ONE.padEnd(length, ' ');
    assert.is((await service.post(padded(2_621_440))).status, 200);
    assert.equal(await service.lookupRefused(padded(2_621_441)), [INVALID, 'body']);
  },
  'of a repeated key the last value counts [JSON bodies]': async service => {
    const twice =
      '{"inputs": [], "detail": "x", "inputs": [{"kind": "id", "diaObjectId": 1, "diaObjectId": 2}], "detail": "ids"}';
    const { body } = await service.post(twice);
    assert.equal([body.detail, body.results[0].normalized.diaObjectId], ['ids', 2]);
  },
  'an integer is told apart from a float, and a number from a text and a boolean [JSON bodies]': async service => {
    const { body } = await service.post(
      '{"inputs": [{"kind": "id", "diaObjectId": 1}, {"kind": "id", "diaObjectId": 1.0}]}',
    );
    assert.equal([body.results[0].status, body.results[1].status], ['not_in_service', 'invalid_input']);
    for (const value of ['"5"', 'true', '[5]', '{}', '1e999'])
      assert.equal(
        await service.lookupRefused(`{"inputs": [], "radius_arcsec": ${value}}`),
        [INVALID, 'radius_arcsec'],
        value,
      );
  },
  'an input is echoed as it was sent, integers with all their digits': async service => {
    const { text } = await service.post(
      `{"inputs": [{"kind": "id", "diaObjectId": ${IDS.matched}}, 12345678901234567890, null]}`,
    );
    assert.match(text, new RegExp(`"input": ?{"kind": ?"id", ?"diaObjectId": ?${IDS.matched}}`));
    assert.match(text, /"input": ?12345678901234567890[,}]/);
  },
});

const errors = section('Errors', {
  'the body has error, code, message, param and params, and retryable': async service => {
    const { body } = await service.get('/api/objects/x');
    hasKeys(body, 'error code message param retryable');
    assert.is(body.error, body.message);
    hasKeys(
      (await service.get(RECENT, 'start=2026-01-02&end=2026-01-01')).body,
      'error code message param params retryable',
    );
    hasKeys((await service.send('POST', OBJECT)).body, 'error code message retryable');
  },
});

export const transport = [...routes, ...raw, ...headers, ...text, ...times, ...query, ...body, ...errors];
