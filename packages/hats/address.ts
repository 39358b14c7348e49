/** Addresses of catalogs: `http:`, `https:`, `s3:` of public buckets, and `file:` of local directories. */
import { fileURLToPath } from 'node:url';
import { CatalogError } from './errors.ts';

const ACCEPTED =
  'http://HOST/PATH, https://HOST/PATH, s3://BUCKET/KEY of a public bucket, file:///PATH or a local directory';

/** Whether a location is an address elsewhere, and not a path or the address of a local directory. */
export function isRemote(location: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:\/\/|(?:https?|s3):)/i.test(location) && !/^file:/i.test(location);
}

/**
 * The path that a local location names.
 * @throws CatalogError for a `file:` address of another host, or with an encoded slash
 */
export function localPath(location: string): string {
  if (!/^file:\//i.test(location)) return location;
  try {
    return fileURLToPath(location);
  } catch (error) {
    throw new CatalogError(`Cannot open ${location}: ${(error as Error).message}. Catalogs are read from ${ACCEPTED}`, {
      cause: error,
    });
  }
}

/** An invalid address without the parts that might be secret. */
function shown(text: string): string {
  return text.replace(/[^/]*@/g, '…@').replace(/[?#].*/s, '…');
}

/**
 * The canonical spelling of an address, without a slash at its end.
 * @throws CatalogError for another scheme, and for an address with a user name, a query or a fragment: addresses are
 * stored and shown, so they must not hold a secret, and the message does not repeat the address
 */
export function checkedAddress(text: string): string {
  const url = URL.parse(text);
  if (!url?.hostname)
    throw new CatalogError(
      `Cannot open ${shown(text)} because it names no host or bucket: catalogs are read from ${ACCEPTED}`,
    );
  if (url.username || url.password) {
    throw new CatalogError(
      `Cannot open the catalog at ${url.host} because its address contains a user name or password, which would be stored and shown: give the address of a public catalog`,
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
 * The URL to request for an address. An `s3:` address becomes the public HTTPS endpoint of its bucket; a bucket with
 * dots in its name is addressed in path style, because no certificate covers such a host name (Amazon S3 User Guide,
 * "Virtual hosting of buckets").
 */
export function requestUrl(address: string): string {
  const [, bucket, key] = /^s3:\/\/([^/]+)(.*)$/i.exec(address) ?? [];
  if (bucket === undefined) return address;
  return bucket.includes('.') ? `https://s3.amazonaws.com/${bucket}${key}` : `https://${bucket}.s3.amazonaws.com${key}`;
}

/**
 * The directory that `text` names relative to `from`. `text` is relative, absolute on the same host, or a full address.
 */
export function relativeAddress(from: string, text: string): string {
  if (isRemote(text)) return checkedAddress(text);
  const { protocol, host, pathname } = new URL(from);
  // Resolved as http:, because other schemes have no relative addresses.
  const resolved = new URL(text, `http://host${pathname.replace(/\/*$/, '/')}`);
  return checkedAddress(`${protocol}//${host}${resolved.pathname}`);
}
