// @ts-self-types="./nearsky.d.ts"
/**
 * Client of nearsky. One file that needs nothing but `fetch`: for Node, Deno and browsers, without a build.
 * `nearsky.d.ts` has its types and documents each function.
 *
 * @import {Input, LookupInput, NearskyErrorDetails, NearskyOptions, Page} from './nearsky.d.ts'
 * @typedef {import('./nearsky.d.ts').LookupOptions} LookupOptions
 * @typedef {import('./nearsky.d.ts').LookupResult} LookupResult
 * @typedef {Record<string, string | number | undefined>} Query
 */

const DEFAULT_CONCURRENCY = 4;
/** The wait before a retry if the service does not specify one. */
const DEFAULT_RETRY_AFTER_SECONDS = 30;
const MAX_RETRY_AFTER_SECONDS = 300;
/**
 * A larger table becomes a job of the service at once; a smaller one becomes a job only if the service has no time for
 * it.
 */
const MAX_BYTES_AT_ONCE = 32 * 2 ** 20;
/** The maximum time for the removal of a job. */
const REMOVAL_MS = 10_000;
const LOG_POSITION_HEADER = 'X-Log-Position';
/** A stream sends a keep-alive every 15 s. */
const MAX_QUIET_SECONDS = 45;

export class NearskyError extends Error {
  /** @override */
  name = 'NearskyError';

  /**
   * @param {string} message
   * @param {NearskyErrorDetails} details
   */
  constructor(message, { code, status, param, params, retryable = false }) {
    super(message);
    this.code = code;
    this.status = status;
    this.param = param;
    this.params = params;
    this.retryable = retryable;
  }
}

export class Nearsky {
  /** @type {string} */
  #base;
  /** @type {NearskyOptions} */
  #options;
  /**
   * The latest log position of the nodes that have answered. Every request sends it, so that no answer is older than an
   * earlier one.
   *
   * @type {string | undefined}
   */
  #place;
  /** @type {number | undefined} */
  #journalEntry;
  /** @type {Promise<{ maxIds: number, maxPositions: number, maxRows: number | undefined, maxSampleRows: number | undefined }> | undefined} */
  #limits;

  /**
   * @param {string} address
   * @param {NearskyOptions} [options]
   */
  constructor(address, options = {}) {
    this.#base = address.replace(/\/+$/, '');
    this.#options = options;
  }

  get journalEntry() {
    return this.#journalEntry;
  }

  /**
   * @param {bigint | string} diaObjectId
   * @param {LookupOptions} [options]
   */
  async object(diaObjectId, { detail, filters, at } = {}) {
    const path = `/api/objects/${encodeURIComponent(idText(diaObjectId))}`;
    const { results } = await this.#get(path, { detail, at, ...filters });
    return results[0];
  }

  /**
   * @param {string} name
   * @param {LookupOptions} [options]
   */
  async tns(name, { detail, filters, radiusArcsec, at } = {}) {
    // The service refuses `at` here: an answer without it would be from another state.
    const query = { detail, radius_arcsec: radiusArcsec, at, ...filters };
    const { results } = await this.#get(`/api/tns/${encodeURIComponent(name)}`, query);
    return results[0];
  }

  describe() {
    return this.#get('/api/describe', {});
  }

  status() {
    return this.#get('/api/status', {});
  }

  validation() {
    return this.#get('/api/validation', {});
  }

  /**
   * @param {Iterable<Input> | AsyncIterable<Input>} inputs
   * @param {LookupOptions} [options]
   */
  async lookup(inputs, options) {
    /** @type {LookupResult[]} */
    const results = [];
    for await (const result of this.lookups(inputs, options)) results.push(result);
    return results;
  }

  /**
   * @param {Iterable<Input> | AsyncIterable<Input>} inputs
   * @param {LookupOptions} [options]
   */
  async *lookups(inputs, options = {}) {
    // A string would be looked up character by character.
    if (typeof inputs === 'string') throw new TypeError(`Cannot look up the text ${inputs} as a list: give an array`);
    const { concurrency = DEFAULT_CONCURRENCY, onProgress } = this.#options;
    if (!(Number.isInteger(concurrency) && concurrency >= 1))
      throw new RangeError(`Cannot ask ${concurrency} times at once: give concurrency an integer from 1`);
    const total = Array.isArray(inputs) ? inputs.length : undefined;
    const chunks = chunksOf(inputs, await this.#limitsOfService());
    /** @type {Promise<LookupResult[]>[]} */
    const running = [];
    let done = 0;
    let isEnd = false;
    for (;;) {
      while (!isEnd && running.length < concurrency) {
        const { value, done: isLast = false } = await chunks.next();
        isEnd = isLast;
        if (value) running.push(handled(this.#lookupChunk(value, options)));
      }
      const results = await running.shift();
      if (!results) return;
      for (const result of results) yield placed(result, done++);
      onProgress?.({ done, total });
    }
  }

  /** @param {import('./nearsky.d.ts').ConeOptions} options */
  cone({ ra, dec, radiusArcsec, detail, filters, pageSize, cursor, at }) {
    const query = { ra, dec, radius_arcsec: radiusArcsec, detail, page_size: pageSize, at, ...filters };
    return this.#walk('/api/cone', query, cursor, page => page.results[0].objects);
  }

  /** @param {import('./nearsky.d.ts').RecentOptions & { readonly filters?: Query }} [options] */
  recent({ start, end, timeField, detail, pageSize, cursor, filters = {} } = {}) {
    // The service refuses filters here: an answer without them would have other objects, too.
    const query = { start, end, time_field: timeField, detail, page_size: pageSize, ...filters };
    return this.#walk('/api/recent-crossmatches', query, cursor, page => page.objects);
  }

  /**
   * @param {import('./nearsky.d.ts').Area} area
   * @param {import('./nearsky.d.ts').AreaOptions} [options]
   */
  area(area, { level, pageSize, cursor, ...options } = {}) {
    const query = { level, page_size: pageSize, ...selection(options) };
    const get = (/** @type {string | undefined} */ place) => this.#postArea(area, { ...query, cursor: place });
    return new Walk(get, (/** @type {any} */ page) => page.objects, cursor, this.#options.onProgress);
  }

  /**
   * @param {import('./nearsky.d.ts').Area} area
   * @param {import('./nearsky.d.ts').AreaOptions} [options]
   */
  async countArea(area, { level, ...options } = {}) {
    const { total } = await this.#postArea(area, { level, ...selection(options), response: 'count' });
    return total;
  }

  /** @param {import('./nearsky.d.ts').ObjectsOptions} [options] */
  objects({ pageSize, cursor, ...options } = {}) {
    return this.#walk('/api/objects', { page_size: pageSize, ...selection(options) }, cursor, page => page.objects);
  }

  /** @param {import('./nearsky.d.ts').MatchesOptions} [options] */
  matches(options) {
    return this.watch('matches', options);
  }

  /**
   * @param {string} stream
   * @param {import('./nearsky.d.ts').WatchOptions} [options]
   */
  watch(stream, { area, level, radiusArcsec, filters, after } = {}) {
    const query = { from: after, level, radius_arcsec: radiusArcsec, ...filters };
    const path = addressOf(`/api/stream/${encodeURIComponent(stream)}`, query);
    const connect = (/** @type {string | undefined} */ lastId, /** @type {AbortSignal} */ ends) =>
      this.#fetch(path, {
        ...(area !== undefined && { method: 'POST', body: area }),
        headers: {
          Accept: 'text/event-stream',
          ...(area !== undefined && { 'Content-Type': 'application/octet-stream' }),
          ...(lastId !== undefined && { 'Last-Event-ID': lastId }),
        },
        signal: ends,
      });
    return new Watch(connect, this.#options.signal);
  }

  /** @param {import('./nearsky.d.ts').SourcesOptions} options */
  sources({ ra, dec, radiusArcsec, catalog, limit, errorArcsec }) {
    const query = { ra, dec, radius_arcsec: radiusArcsec, catalog, limit, error_arcsec: errorArcsec };
    return this.#get('/api/sources', query);
  }

  /**
   * @param {Uint8Array<ArrayBuffer> | string} table
   * @param {import('./nearsky.d.ts').CrossmatchOptions} [options]
   */
  async crossmatch(table, { radiusArcsec, errorArcsec, raUnit, asJob = false, ...options } = {}) {
    const renamed = { radius_arcsec: radiusArcsec, error_arcsec: errorArcsec, ra_unit: raUnit };
    const path = addressOf('/api/crossmatch', { ...renamed, ...options });
    return await this.#sendTable(path, table, asJob, { jobs: '/vo/jobs/', does: 'crossmatch the table' });
  }

  /**
   * @param {import('./nearsky.d.ts').Sample} sample
   * @param {import('./nearsky.d.ts').SampleOptions} [options]
   * @returns {Promise<any>}
   */
  async sample(
    sample,
    { catalogs, radiusArcsec, brightMag, brightRadiusArcsec, raUnit, at, since, asJob = false, ...columns } = {},
  ) {
    const { format, ...named } = columns;
    const options = { radius_arcsec: radiusArcsec, bright_mag: brightMag, bright_radius_arcsec: brightRadiusArcsec };
    const use = { jobs: '/vo/samples/', does: 'report on the table' };
    // A table has no history: the service ignores `at` and `since`, which is an error.
    const query = {
      format: format ?? 'json',
      catalogs: catalogs?.join(),
      at,
      since,
      ra_unit: raUnit,
      ...options,
      ...named,
    };
    let table;
    if (isTable(sample)) table = sample;
    else {
      const inputs = await inputsOf(sample);
      const { maxSampleRows = inputs.length } = await this.#limitsOfService();
      if (!asJob && (inputs.length <= maxSampleRows || at !== undefined || since !== undefined)) {
        const body = JSON.stringify({ inputs, catalogs, at, since, ...options });
        if (format === undefined) return await this.#post(addressOf('/api/sample', { ra_unit: raUnit }), body);
        const headers = { Accept: '*/*', 'Content-Type': 'application/json' };
        return await bytesOf(
          await this.#response(addressOf('/api/sample', { format, ra_unit: raUnit }), {
            method: 'POST',
            body,
            headers,
          }),
        );
      }
      table = tableOfInputs(inputs);
    }
    const bytes = await this.#sendTable(addressOf('/api/sample', query), table, asJob, use);
    return format === undefined ? parseExact(new TextDecoder().decode(bytes)) : bytes;
  }

  /**
   * @param {string} title
   * @param {import('./nearsky.d.ts').Sample} sample
   * @param {import('./nearsky.d.ts').KeptOptions} [options]
   */
  async keepSample(title, sample, { catalogs, radiusArcsec, brightMag, brightRadiusArcsec, raUnit, ...columns } = {}) {
    const options = { radius_arcsec: radiusArcsec, bright_mag: brightMag, bright_radius_arcsec: brightRadiusArcsec };
    const unit = { ra_unit: raUnit };
    let body = sample;
    if (!isTable(sample)) {
      const inputs = await inputsOf(sample);
      const { maxSampleRows = inputs.length } = await this.#limitsOfService();
      if (inputs.length <= maxSampleRows)
        return await this.#post(
          addressOf('/api/samples', unit),
          JSON.stringify({ title, inputs, catalogs, ...options }),
        );
      body = tableOfInputs(inputs);
    }
    const path = addressOf('/api/samples', { title, catalogs: catalogs?.join(), ...unit, ...options, ...columns });
    const headers = { 'Content-Type': 'application/octet-stream' };
    return await this.#request(path, { method: 'POST', body: /** @type {string} */ (body), headers });
  }

  /**
   * @param {string} id
   * @param {import('./nearsky.d.ts').KeptReportOptions} [options]
   * @returns {Promise<any>}
   */
  async keptSample(id, { format, at, since } = {}) {
    const path = addressOf(`/api/samples/${encodeURIComponent(id)}`, { format: format ?? 'json', at, since });
    const init = { headers: { Accept: '*/*' } };
    let bytes;
    try {
      bytes = await bytesOf(await this.#response(path, init));
    } catch (error) {
      if (!(error instanceof NearskyError && error.code === 'query_too_expensive')) throw error;
      bytes = await this.#job(path, init, { jobs: '/vo/samples/', does: 'report on the table' });
    }
    return format === undefined ? parseExact(new TextDecoder().decode(bytes)) : bytes;
  }

  /** @param {string} id */
  async deleteKeptSample(id) {
    await this.#response(`/api/samples/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  /**
   * @param {string} adql
   * @param {import('./nearsky.d.ts').QueryOptions} [options]
   * @returns {Promise<any>}
   */
  async query(adql, { maxRows, format, at } = {}) {
    const form = { LANG: 'ADQL', RESPONSEFORMAT: format ?? 'ndjson', MAXREC: maxRows, AT: at, QUERY: adql };
    const body = addressOf('', form).slice(1);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const response = await this.#response('/vo/tap/sync', { method: 'POST', body, headers });
    if (format !== undefined) return await bytesOf(response);
    const lines = (await response.text()).split('\n').filter(line => line !== '');
    const { maxRows: most } = await this.#limitsOfService();
    if (lines.length === most && !(maxRows !== undefined && maxRows <= most)) throw tooManyRows(most);
    return lines.map(line => parseExact(line));
  }

  /**
   * Returns the answer to a table: at once, or as a job if the table is large or the service has no time for it.
   *
   * @param {string} path
   * @param {Uint8Array<ArrayBuffer> | string} table
   * @param {boolean} asJob
   * @param {{ jobs: string, does: string }} use
   */
  async #sendTable(path, table, asJob, use) {
    const init = {
      method: 'POST',
      body: table,
      headers: { Accept: '*/*', 'Content-Type': 'application/octet-stream' },
    };
    if (!asJob && table.length <= MAX_BYTES_AT_ONCE) {
      try {
        return await bytesOf(await this.#response(path, init));
      } catch (error) {
        if (!(error instanceof NearskyError && error.code === 'query_too_expensive')) throw error;
      }
    }
    return await this.#job(path, init, use);
  }

  /**
   * Runs a request as a job of the service, returns its result, and removes the job.
   *
   * @param {string} path
   * @param {RequestInit & { headers: Record<string, string> }} init
   * @param {{ jobs: string, does: string }} use
   */
  async #job(path, init, { jobs, does }) {
    const begun = await this.#response(path, { ...init, headers: { ...init.headers, Prefer: 'respond-async' } });
    // The service may use another address for itself, and another path behind a proxy.
    const { pathname } = new URL(/** @type {string} */ (begun.headers.get('Location')));
    const job = `${jobs}${pathname.slice(pathname.lastIndexOf('/') + 1)}`;
    const textOf = async (/** @type {string} */ part) => (await this.#response(job + part, {})).text();
    try {
      await begun.body?.cancel();
      for (;;) {
        const [, done, total] = /<progress done="(\d+)" of="(\d+)"/.exec(await textOf('?WAIT=2')) ?? [];
        if (total !== undefined) this.#options.onProgress?.({ done: Number(done), total: Number(total) });
        const phase = await textOf('/phase');
        if (phase === 'COMPLETED') return await bytesOf(await this.#response(`${job}/results/result`, {}));
        if (phase !== 'ERROR' && phase !== 'ABORTED') continue;
        const why = (await textOf('/error')) || 'its job was aborted';
        const details = { code: 'invalid_parameter', status: 400, param: 'body' };
        throw new NearskyError(`Cannot ${does} because ${why}`, details);
      }
    } finally {
      // Also after the client's signal, so that the service does not work for nobody. The job's own outcome matters more.
      const init = {
        method: 'DELETE',
        redirect: /** @type {const} */ ('manual'),
        signal: AbortSignal.timeout(REMOVAL_MS),
      };
      await this.#fetch(job, init).then(
        ({ body }) => body?.cancel(),
        () => {},
      );
    }
  }

  /**
   * @param {string} path
   * @param {Query} query
   * @param {string | undefined} cursor
   * @param {(page: any) => any[]} objectsOf
   */
  #walk(path, query, cursor, objectsOf) {
    const get = (/** @type {string | undefined} */ place) => this.#get(path, { ...query, cursor: place });
    return new Walk(get, objectsOf, cursor, this.#options.onProgress);
  }

  /**
   * The results of one request. Inputs that the limit of a whole request has truncated are requested again, one by one.
   *
   * @param {readonly LookupInput[]} inputs
   * @param {LookupOptions} options
   * @returns {Promise<LookupResult[]>}
   */
  async #lookupChunk(inputs, options) {
    const { detail, filters, radiusArcsec, at, raUnit } = options;
    const path = addressOf('/api/lookup', { ra_unit: raUnit });
    const body = JSON.stringify({ inputs, detail, filters, radius_arcsec: radiusArcsec, at });
    /** @type {LookupResult[]} */
    const results = (await this.#post(path, body)).results;
    const cut = results.flatMap(({ truncation }, i) => (truncation === 'per_request_limit' ? [i] : []));
    if (cut.length === 0 || cut.length === inputs.length) return results;
    const again = await this.#lookupChunk(
      cut.map(i => /** @type {LookupInput} */ (inputs[i])),
      options,
    );
    cut.forEach((index, i) => {
      results[index] = /** @type {LookupResult} */ (again[i]);
    });
    return results;
  }

  /** The current limits of the service. They are requested once, and again if that request failed. */
  #limitsOfService() {
    this.#limits ??= this.describe().then(({ limits }) => ({
      maxIds: limits.max_ids,
      maxPositions: limits.max_positions,
      maxRows: limits.tap?.max_rows,
      maxSampleRows: limits.samples?.max_rows,
    }));
    this.#limits.catch(() => {
      this.#limits = undefined;
    });
    return this.#limits;
  }

  /**
   * @param {string} path
   * @param {Query} query
   */
  #get(path, query) {
    return this.#request(addressOf(path, query), {});
  }

  /**
   * @param {import('./nearsky.d.ts').Area} area
   * @param {Query} query
   */
  #postArea(area, query) {
    const headers = { 'Content-Type': 'application/octet-stream' };
    return this.#request(addressOf('/api/area', query), { method: 'POST', body: area, headers });
  }

  /**
   * @param {string} path
   * @param {string} body
   */
  #post(path, body) {
    return this.#request(path, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   * @returns {Promise<any>}
   */
  async #request(path, init) {
    const headers = { Accept: 'application/json', .../** @type {Record<string, string>} */ (init.headers) };
    const asked = { ...init, headers };
    let response = await this.#response(path, asked);
    let text;
    try {
      text = await response.text();
    } catch (error) {
      // The answer was truncated: for example, one of several nodes has died.
      if (this.#options.signal?.aborted) throw error;
      response = await this.#response(path, asked);
      text = await response.text();
    }
    try {
      return parseExact(text);
    } catch (error) {
      if (error instanceof SyntaxError) throw notOurs(response, 'the answer is no JSON');
      throw error;
    }
  }

  /**
   * Returns an answer without an error and without ignored parameters. If the service is overloaded, the request is
   * repeated once.
   *
   * @param {string} path
   * @param {RequestInit} init
   */
  async #response(path, init) {
    let response = await this.#fetch(path, init);
    if (response.status === 503) {
      await response.body?.cancel();
      await wait(retryAfterSeconds(response), this.#options.signal);
      response = await this.#fetch(path, init);
    }
    if (!response.ok) throw errorOf(response, await response.text());
    const unknown = response.headers.get('X-Unknown-Parameters');
    // For example a sign-in page. The only page that the client requests is a report.
    const isPage =
      /^text\/html\b/.test(response.headers.get('Content-Type') ?? '') && !response.headers.has('X-Row-Count');
    if (unknown === null && !isPage) return response;
    await response.body?.cancel();
    throw unknown === null ? notOurs(response, 'the answer is a page') : unknownParameters(unknown, response.status);
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   */
  async #fetch(path, init) {
    const { fetch = globalThis.fetch, signal = null } = this.#options;
    const place = this.#place && { [LOG_POSITION_HEADER]: this.#place };
    const headers = { .../** @type {Record<string, string>} */ (init.headers), ...place };
    const response = await fetch(`${this.#base}${path}`, { signal, ...init, headers });
    this.#place = farther(this.#place, response.headers.get(LOG_POSITION_HEADER));
    const entry = response.headers.get('X-Journal-Entry');
    if (entry !== null) this.#journalEntry = Number(entry);
    return response;
  }
}

/**
 * Returns the later of two log positions, because concurrent answers arrive in any order. If they belong to different
 * logs, returns the position of the last answer.
 *
 * @param {string | undefined} known
 * @param {string | null} said
 */
function farther(known, said) {
  if (!said) return known;
  const [log, ...before] = known?.split('-') ?? [];
  const [saidLog, ...now] = said.split('-');
  if (log !== saidLog) return said;
  return [log, ...now.map((number, i) => `${Math.max(Number(number), Number(before[i]))}`)].join('-');
}

/** @param {Response} response */
async function bytesOf(response) {
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * The parameters that select objects.
 *
 * @param {import('./nearsky.d.ts').SelectionOptions} options
 * @returns {Query}
 */
function selection({ start, end, timeField, status, detail, filters, at }) {
  return { start, end, time_field: timeField, status, detail, at, ...filters };
}

/** Objects of a walk, page by page. */
export class Walk {
  #get;
  #objectsOf;
  #onProgress;
  #cursor;
  #isDone = false;

  /**
   * @param {(cursor: string | undefined) => Promise<Page>} get
   * @param {(page: Page) => any[]} objectsOf
   * @param {string | undefined} cursor
   * @param {NearskyOptions['onProgress']} onProgress
   */
  constructor(get, objectsOf, cursor, onProgress) {
    this.#get = get;
    this.#objectsOf = objectsOf;
    this.#cursor = cursor;
    this.#onProgress = onProgress;
  }

  get cursor() {
    return this.#cursor;
  }

  get isDone() {
    return this.#isDone;
  }

  async *pages() {
    const seen = new Set([this.#cursor]);
    let done = 0;
    while (!this.#isDone) {
      const page = await this.#get(this.#cursor);
      const objects = this.#objectsOf(page);
      const next = page.next_cursor;
      if (next !== null && seen.has(next)) throw repeated(next);
      yield page;
      done += objects.length;
      this.#onProgress?.({ done, total: page.results?.[0]?.total ?? undefined });
      if (next === null) this.#isDone = true;
      else seen.add((this.#cursor = next));
    }
  }

  async *[Symbol.asyncIterator]() {
    for await (const page of this.pages()) yield* this.#objectsOf(page);
  }
}

/** Events of a stream as they are recorded. */
export class Watch {
  #connect;
  #signal;
  #retrySeconds = 3;
  /** @type {string | undefined} */
  #lastId;

  /**
   * @param {(lastId: string | undefined, ends: AbortSignal) => Promise<Response>} connect
   * @param {AbortSignal | undefined} signal
   */
  constructor(connect, signal) {
    this.#connect = connect;
    this.#signal = signal;
  }

  get lastId() {
    return this.#lastId;
  }

  async *[Symbol.asyncIterator]() {
    for (let hasBegun = false; ; ) {
      const ends = new AbortController();
      const stop = () => ends.abort(this.#signal?.reason);
      if (this.#signal?.aborted) stop();
      this.#signal?.addEventListener('abort', stop);
      let waitSeconds = this.#retrySeconds;
      try {
        const response = await this.#connect(this.#lastId, ends.signal);
        if (!response.ok) waitSeconds = retryAfterSeconds(response);
        await requireEvents(response);
        hasBegun = true;
        yield* this.#events(/** @type {ReadableStream<Uint8Array>} */ (response.body), ends);
        waitSeconds = this.#retrySeconds;
      } catch (error) {
        const isLasting = error instanceof NearskyError && !error.retryable;
        if (!hasBegun || isLasting || this.#signal?.aborted) throw error;
      } finally {
        this.#signal?.removeEventListener('abort', stop);
        ends.abort();
      }
      await wait(waitSeconds, this.#signal);
    }
  }

  /**
   * The events of one connection. Text after the last blank line is an incomplete event.
   *
   * @param {ReadableStream<Uint8Array>} body
   * @param {AbortController} ends
   */
  async *#events(body, ends) {
    const reader = body.pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
    // Under Deno 2.9, aborting a request often does not stop the reading of its answer.
    ends.signal.addEventListener('abort', () => reader.cancel().catch(() => {}));
    let rest = '';
    /** @type {string | undefined} */
    let data;
    let lastId = this.#lastId;
    for (;;) {
      const timer = setTimeout(() => ends.abort(), MAX_QUIET_SECONDS * 1000);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = /** @type {string} */ (lines.pop());
      for (const line of lines) {
        const [name, text = ''] = splitLine(line);
        if (name === 'data') data = text;
        else if (name === 'id') lastId = text;
        else if (name === 'retry') this.#retrySeconds = Number(text) / 1000;
        else if (line === '') {
          this.#lastId = lastId;
          if (data !== undefined) yield parseExact(data);
          data = undefined;
        }
      }
    }
  }
}

/** @param {string} line */
function splitLine(line) {
  const at = line.indexOf(': ');
  return at < 0 ? [line] : [line.slice(0, at), line.slice(at + 2)];
}

/** @param {Response} response */
async function requireEvents(response) {
  if (!response.ok) throw errorOf(response, await response.text());
  const unknown = response.headers.get('X-Unknown-Parameters');
  if (unknown !== null) throw unknownParameters(unknown, response.status);
  if (response.headers.get('Content-Type') !== 'text/event-stream') throw notOurs(response, 'the answer is no stream');
}

/**
 * @param {string} path
 * @param {Query} query
 */
function addressOf(path, query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const search = `${new URLSearchParams(given.map(([name, value]) => [name, `${value}`]))}`;
  return search === '' ? path : `${path}?${search}`;
}

/** @param {number} most */
function tooManyRows(most) {
  const message = `The answer has ${most} rows, the most that the service returns, so rows may be missing: narrow the query, or give maxRows`;
  return new NearskyError(message, { code: 'too_many_rows', status: 200, param: 'MAXREC' });
}

/** @param {string} cursor */
function repeated(cursor) {
  const message = `Cannot go on because the service gave the cursor ${cursor.slice(0, 40)}... twice: the walk would never end`;
  return new NearskyError(message, { code: 'repeated_cursor', status: 200 });
}

/**
 * Splits inputs into groups, each as large as one request allows.
 *
 * @param {Iterable<Input> | AsyncIterable<Input>} inputs
 * @param {{ maxIds: number, maxPositions: number }} limits
 * @returns {AsyncGenerator<LookupInput[], undefined>}
 */
async function* chunksOf(inputs, { maxIds, maxPositions }) {
  /** @type {LookupInput[]} */
  let chunk = [];
  let ids = 0;
  for await (const each of inputs) {
    const input = inputOf(each);
    const isId = input.kind === 'id';
    if (isId ? ids >= maxIds : chunk.length - ids >= maxPositions) {
      yield chunk;
      chunk = [];
      ids = 0;
    }
    chunk.push(input);
    if (isId) ids++;
  }
  if (chunk.length > 0) yield chunk;
  return undefined;
}

/**
 * @param {Input} input
 * @returns {LookupInput}
 */
function inputOf(input) {
  if (typeof input === 'bigint') return { kind: 'id', diaObjectId: `${input}` };
  if (typeof input === 'string')
    return /^\d+$/.test(input) ? { kind: 'id', diaObjectId: input } : { kind: 'tns', name: input };
  if (typeof input !== 'object' || input === null)
    throw new TypeError(
      `Cannot look up the ${typeof input} ${input}: give ids as bigint or text, because a number loses digits`,
    );
  if ('kind' in input) return input.kind === 'id' ? { ...input, diaObjectId: idText(input.diaObjectId) } : input;
  // The types allow the name of the API, too.
  const {
    ra,
    dec,
    radius_arcsec,
    radiusArcsec = radius_arcsec,
  } = /** @type {typeof input & { readonly radius_arcsec?: number }} */ (input);
  return { kind: 'position', ra, dec, ...(radiusArcsec !== undefined && { radius_arcsec: radiusArcsec }) };
}

/**
 * @param {import('./nearsky.d.ts').Sample} sample
 * @returns {sample is string | Uint8Array<ArrayBuffer>}
 */
function isTable(sample) {
  return typeof sample === 'string' || sample instanceof Uint8Array;
}

/** @param {Exclude<import('./nearsky.d.ts').Sample, string | Uint8Array>} sample */
async function inputsOf(sample) {
  /** @type {(LookupInput & { label?: string | undefined })[]} */
  const inputs = [];
  for await (const each of sample) {
    const { label } = /** @type {{ label?: string }} */ (each);
    inputs.push({ ...inputOf(each), ...(label !== undefined && { label }) });
  }
  return inputs;
}

/**
 * Inputs as CSV. The column of names also has the labels.
 *
 * @param {readonly (LookupInput & { label?: string | undefined })[]} inputs
 */
function tableOfInputs(inputs) {
  const quoted = (/** @type {string} */ text) => `"${text.replaceAll('"', '""')}"`;
  const lines = inputs.map(input => {
    const { kind, label } = input;
    if (kind === 'id') return [input.diaObjectId, quoted(label ?? ''), '', ''];
    if (input.radius_arcsec !== undefined)
      throw new RangeError(
        'Cannot send this many inputs with a radius of their own: leave it out, or give radiusArcsec',
      );
    if (kind === 'position') return ['', quoted(label ?? ''), input.ra, input.dec];
    if (label !== undefined && label !== input.name)
      throw new RangeError('Cannot send this many inputs with a label beside a name of the Transient Name Server');
    return ['', quoted(input.name), '', ''];
  });
  return [['diaObjectId', 'name', 'ra', 'dec'], ...lines].map(line => `${line.join()}\n`).join('');
}

/** @param {bigint | string} id */
function idText(id) {
  if (typeof id === 'number') throw new TypeError(`Cannot look up the number ${id}: give the id as bigint or text`);
  return `${id}`;
}

/**
 * The result with the index of its input among all inputs.
 *
 * @param {LookupResult} result
 * @param {number} index
 * @returns {LookupResult}
 */
function placed(result, index) {
  const place = (/** @type {string} */ text) => text.replaceAll(`inputs[${result.index}]`, `inputs[${index}]`);
  const { error } = result;
  if (!error) return { ...result, index };
  return { ...result, index, error: { message: place(error.message), param: place(error.param) } };
}

/**
 * The promise, marked as handled so that a rejection before anyone awaits it is not reported.
 *
 * @template T
 * @param {Promise<T>} promise
 */
function handled(promise) {
  promise.catch(() => {});
  return promise;
}

/** @param {Response} response */
function retryAfterSeconds(response) {
  const text = response.headers.get('Retry-After');
  const seconds = text === null ? DEFAULT_RETRY_AFTER_SECONDS : Number(text);
  const given = Number.isFinite(seconds) ? seconds : (Date.parse(text ?? '') - Date.now()) / 1000;
  return Math.min(Math.max(Number.isFinite(given) ? given : DEFAULT_RETRY_AFTER_SECONDS, 0), MAX_RETRY_AFTER_SECONDS);
}

/**
 * @param {number} seconds
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<void>}
 */
function wait(seconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, seconds * 1000);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * @param {Response} response
 * @param {string} text
 */
function errorOf(response, text) {
  const { status } = response;
  try {
    const { code, message, param, params, retryable } = JSON.parse(text);
    if (typeof code === 'string') {
      const blamed = param ?? params?.join(', ');
      return new NearskyError(`${message} (${status} ${code}${blamed === undefined ? '' : `, ${blamed}`})`, {
        code,
        status,
        param,
        params,
        retryable,
      });
    }
  } catch {
    const [, failure] = /<INFO name="QUERY_STATUS" value="ERROR">([^<]*)</.exec(text) ?? [];
    if (failure !== undefined) return queryError(failure, status);
    // Other errors do not come from nearsky, but for example from a proxy.
  }
  return notOurs(response, `the answer is ${status} ${response.statusText}`.trimEnd());
}

/**
 * Errors of queries in ADQL are VOTables.
 *
 * @param {string} xml
 * @param {number} status
 */
function queryError(xml, status) {
  const named = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
  const message = xml.replace(/&(?:#x([\da-f]+)|(\w+));/gi, (all, hex, name) =>
    hex ? String.fromCodePoint(Number.parseInt(hex, 16)) : (named[/** @type {keyof typeof named} */ (name)] ?? all),
  );
  const retryable = status === 503;
  const code = retryable ? 'service_unavailable' : 'invalid_parameter';
  // The error does not name its parameter. If it is not QUERY, the message begins with it.
  const [, param = 'QUERY'] = /^(AT|MAXREC|RESPONSEFORMAT) /.exec(message) ?? [];
  return new NearskyError(`${message} (${status})`, { code, status, param: retryable ? undefined : param, retryable });
}

/**
 * The error for ignored parameters: the answer is not the requested one.
 *
 * @param {string} header
 * @param {number} status
 */
function unknownParameters(header, status) {
  const items = header.split(', ').map(item => item.split(';'));
  const params = items.map(([name = '']) => decodeURIComponent(name)).filter(name => name !== '*');
  const said = items.map(([name = '', more = '']) => {
    const [key, value = ''] = more.split('=');
    if (key === 'more') return `${value} others`;
    return decodeURIComponent(name) + (key === 'did-you-mean' ? ` (did you mean ${decodeURIComponent(value)}?)` : '');
  });
  const message = `The service does not know ${said.join(', ')} and has answered without: leave out or correct these`;
  return new NearskyError(message, { code: 'unknown_parameter', status, params });
}

/**
 * @param {Response} response
 * @param {string} why
 */
function notOurs({ status, url }, why) {
  const message = `Cannot read what ${url} answers because ${why}: is this the address of a nearsky service?`;
  return new NearskyError(message, { code: 'not_nearsky', status, retryable: status >= 500 });
}

/** A JSON string or a JSON number. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * Parses JSON with each diaObjectId, and each other integer beyond 2^53, as a bigint. Some engines
 * (Node before 21) do not pass a number's digits to a reviver, so long integers first become marked strings.
 *
 * @param {string} text
 */
function parseExact(text) {
  const marked = text.replace(TOKENS, token => (/^-?\d{16,}$/.test(token) ? `"\\u0000${token}"` : token));
  return JSON.parse(marked, (key, value) => {
    if (key === 'diaObjectId' && Number.isInteger(value)) return BigInt(value);
    if (typeof value !== 'string' || !/^\0-?\d+$/.test(value)) return value;
    const digits = value.slice(1);
    return key !== 'diaObjectId' && Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
  });
}
