/** Addresses of catalogs: `http:`, `https:`, `s3:` of public buckets, and `file:` of local directories. */
import { fileURLToPath } from 'node:url';
import { messageOf } from '../base/error_text.ts';
import { CatalogError } from './errors.ts';

const ACCEPTED =
  'http://HOST/PATH, https://HOST/PATH, s3://BUCKET/KEY of a public bucket, file:///PATH or a local directory';

/** Whether a location is an address elsewhere, and not a path or the address of a local directory. */
export function isRemote(location: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:\/\/|(?:https?|s3):)/i.test(location) && !/^file:/i.test(location);
}

/**
 * The path that a location names which is not remote.
 * @throws CatalogError for a `file:` address of another host, or with an encoded slash
 */
export function localPath(location: string): string {
  if (!/^file:\//i.test(location)) return location;
  try {
    return fileURLToPath(location);
  } catch (error) {
    throw new CatalogError(`Cannot open ${location}: ${messageOf(error)}. Catalogs are read from ${ACCEPTED}`, {
      cause: error,
    });
  }
}

/** An address that is none, without what might be a secret. */
function shown(text: string): string {
  return text.replace(/[^/]*@/g, '…@').replace(/[?#].*/s, '…');
}

/**
 * An address in its one spelling, without a slash at its end.
 * @throws CatalogError for another scheme, and for an address with a user name, a query or a fragment: it is stored and
 * shown, so it must not hold a secret, and the message does not repeat it
 */
export function checkedAddress(text: string): string {
  const url = URL.parse(text);
  if (!url?.hostname)
    throw new CatalogError(
      `Cannot open ${shown(text)} because it names no host or bucket: catalogs are read from ${ACCEPTED}`,
    );
  if (url.username || url.password) {
    throw new CatalogError(
      `Cannot open the catalog at ${url.host} because its address holds a user name or password, which would be stored and shown: give the address of a public catalog`,
    );
  }
  if (url.search || url.hash) {
    throw new CatalogError(
      `Cannot open the catalog at ${url.host} because its address has a query or a fragment: give the address of its directory, without what follows ? or #`,
    );
  }
  if (!['http:', 'https:', 's3:'].includes(url.protocol)) {
    throw new CatalogError(
      `Cannot open ${url.href} because catalogs are read from ${ACCEPTED}: copy it to one of those`,
    );
  }
  return url.href.replace(/\/+$/, '');
}

/**
 * Where an address is asked for: an `s3:` one at the public HTTPS endpoint of its bucket, a bucket with dots in its name
 * in path style, as no certificate covers such a host name (Amazon S3 User Guide, "Virtual hosting of buckets").
 */
export function requestUrl(address: string): string {
  const [, bucket, key] = /^s3:\/\/([^/]+)(.*)$/i.exec(address) ?? [];
  if (bucket === undefined) return address;
  return bucket.includes('.') ? `https://s3.amazonaws.com/${bucket}${key}` : `https://${bucket}.s3.amazonaws.com${key}`;
}

/** The directory that a text names as seen from another: relative to it, from the root of its host, or whole. */
export function relativeAddress(from: string, text: string): string {
  if (isRemote(text)) return checkedAddress(text);
  const { protocol, host, pathname } = new URL(from);
  // Resolved as http: other schemes have no relative addresses.
  const resolved = new URL(text, `http://host${pathname.replace(/\/*$/, '/')}`);
  return checkedAddress(`${protocol}//${host}${resolved.pathname}`);
}
