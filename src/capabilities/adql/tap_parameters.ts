/**
 * The parameters of queries in ADQL (TAP 1.1, section 2.7; DALI 1.1, section 3). Their names are not case-sensitive.
 */

import { spelled } from '@nearsky/adql';
import { ClientAdmission } from '../../core/base/client_admission.ts';
import { messageOf } from '../../core/base/error_text.ts';
import { memoized } from '../../core/base/memoized.ts';
import type { Config } from '../../core/config/config.ts';
import { MAX_TAP_UPLOADS } from '../../core/contract/limits.ts';
import { invalidParameter } from '../../core/http/errors.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { parameterOf, type Search } from '../../core/http/params.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Service } from '../../core/service/service.ts';
import { NEW_JOB_PARAMETERS } from '../jobs/parameters.ts';
import { spoolOf } from '../uploads/spool.ts';
import { readForm } from '../vo/form.ts';
import { FetchRefusal, fetchUpload } from './fetched_upload.ts';
import { maxUploadBytes } from './limits.ts';
import { tapParameters } from './parameters.ts';
import type { TapQuery } from './query_run.ts';
import { adqlSettings } from './settings.ts';
import { type Upload, UploadFile } from './upload_file.ts';

const namesOf = memoized(
  (config: Config): ReadonlySet<string> => new Set(Object.keys({ ...tapParameters(config), ...NEW_JOB_PARAMETERS })),
);

/** The time limit for fetching tables from other addresses, including the wait for a slot. */
const FETCH_SECONDS = 55;
const WAIT_SECONDS = 10;
/**
 * The maximum number of requests for which a thread fetches tables at once: two, so that two clients get one each.
 * Fetched tables are in memory.
 */
const fetching = new ClientAdmission().slots({
  slots: 2,
  isFull: 'other tables are being fetched',
  maxWaiting: 64,
});

/**
 * The parameters of the query string and of a form, with names in upper case, and without unknown or empty parameters.
 * The values of a repeated UPLOAD are joined to one list.
 * @returns also the tables sent with the query, which the caller must remove
 * @throws ApiError, Unavailable
 */
export async function tapParametersOf(exchange: Exchange, service: Service) {
  const { config } = service;
  const { request, method, search } = exchange;
  const uploads = new UploadFile(config.NEARSKY_DATA, spoolOf(service), exchange.client);
  const given: [name: string, value: string][] = [...search];
  const names = namesOf(config);
  const isField = (name: string) => names.has(name.toUpperCase());
  try {
    if (method === 'POST') {
      const maxFileBytes = maxUploadBytes(config);
      const fields = await readForm(request, { isField, file: name => uploads.begin(name), maxFileBytes });
      for (const [name, value] of fields) {
        if (isField(name)) given.push([name, value]);
        else uploads.begin(name)(new TextEncoder().encode(value));
      }
    }
    const parameters = new Map<string, string>();
    for (const [name, value] of given.map(([name, value]) => [name.toUpperCase(), value] as const)) {
      if (value.trim() === '' || !names.has(name)) continue;
      const before = name === 'UPLOAD' ? parameters.get(name) : undefined;
      parameters.set(name, before === undefined ? value : `${before};${value}`);
    }
    try {
      await fetchUploads(parameters, uploads, config, exchange.client);
    } catch (error) {
      if (!(error instanceof FetchRefusal)) throw error;
      exchange.asked = { upload: error.message, error: messageOf(error.cause) };
      throw invalidParameter('UPLOAD', 'NAME,param:PART', parameters.get('UPLOAD')!, error.message);
    }
    return { parameters: parameters as Search, uploads };
  } catch (error) {
    uploads.remove();
    throw error;
  }
}

const uploadList = (given: Search) => (given.get('UPLOAD') ?? '').split(';').filter(each => each.trim() !== '');

/**
 * Fetches the tables from other addresses, and adds them to the parts under their addresses.
 * @throws FetchRefusal
 * @throws Unavailable if no slot is free in time
 */
async function fetchUploads(given: Search, uploads: UploadFile, config: Config, client: string): Promise<void> {
  const addresses = uploadList(given).flatMap(each => ADDRESS.exec(each)?.[1] ?? []);
  if (addresses.length === 0 || addresses.length > MAX_TAP_UPLOADS) return;
  const { TAP_UPLOAD_HOSTS } = adqlSettings.of(config);
  if (TAP_UPLOAD_HOSTS.length === 0)
    throw new FetchRefusal('this service fetches no tables from other addresses: send the table with the request');
  await fetching.run(client, 1000 * WAIT_SECONDS, async () => {
    // With `AbortSignal.timeout`, Deno would not exit before the timeout is over.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), 1000 * FETCH_SECONDS);
    const maxBytes = maxUploadBytes(config);
    try {
      for (const url of addresses)
        uploads.begin(url)(await fetchUpload(url, TAP_UPLOAD_HOSTS, maxBytes - uploads.bytes, late.signal));
    } finally {
      clearTimeout(timer);
    }
  });
}

/** A table in UPLOAD that is at another address. */
const ADDRESS = /^[^,]*,\s*(https?:\/\/.*?)\s*$/is;

/** @throws ApiError */
function uploadsOf(given: Search): Upload[] {
  const list = uploadList(given);
  if (list.length > MAX_TAP_UPLOADS)
    throw invalidParameter('UPLOAD', `a list of at most ${MAX_TAP_UPLOADS} tables`, list.length);
  const uploads = list.map(each => {
    const [, name = '', where = ''] = /^\s*(.*?)\s*,\s*(.*?)\s*$/s.exec(each) ?? [];
    const key = ADDRESS.exec(each)?.[1] ?? /^param:(.+)$/is.exec(where)?.[1];
    if (name === '' || key === undefined) throw invalidParameter('UPLOAD', 'NAME,param:PART or NAME,https://...', each);
    const bare = name.replace(/^TAP_UPLOAD\./i, '');
    if (bare.length > 64 || bare.startsWith('"') || spelled(bare) !== bare)
      throw invalidParameter(
        'UPLOAD',
        'a list of tables whose names have letters, digits and _ only, and are not reserved words of ADQL',
        name,
      );
    return { name: bare, key };
  });
  const names = new Set(uploads.map(({ name }) => name.toLowerCase()));
  if (names.size < uploads.length)
    throw invalidParameter('UPLOAD', 'a list of tables with different names', given.get('UPLOAD')!);
  return uploads;
}

/**
 * @param base scheme and host of this service
 * @throws ApiError
 */
export function tapQueryOf(given: Search, { config, catalogs }: Service, seconds: number, base: string): TapQuery {
  const read = readerOf(given, tapParameters(config), catalogs);
  read('REQUEST');
  read('LANG');
  const query = read('QUERY');
  const maxRecords = read('MAXREC');
  const at = read('AT');
  // Both names mean the same; if both are given, the newer name counts.
  const format = parameterOf(
    tapParameters(config).RESPONSEFORMAT.kind,
    'RESPONSEFORMAT',
    given.get('RESPONSEFORMAT') ?? given.get('FORMAT') ?? 'votable',
  );
  return { query, maxRecords, ...(at !== undefined && { at }), format, seconds, base, uploads: uploadsOf(given) };
}
