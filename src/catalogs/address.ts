/** Addresses of remote catalogs: `http:`, `https:`, and `s3:` of public buckets. */
import { CatalogError } from './errors.ts';

/** Whether a location is an address and not a path. */
export function isRemote(location: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(location);
}

/**
 * An address in its one spelling, without a slash at its end.
 * @throws CatalogError for another scheme, and for an address with a user name, a query or a fragment: it is stored and
 * shown, so it must not hold a secret, and the message does not repeat it
 */
export function checkedAddress(text: string): string {
  const url = URL.parse(text);
  if (!url?.hostname) throw new CatalogError('Cannot open the catalog as its address is no valid URL');
  if (url.username || url.password) {
    throw new CatalogError(
      `Cannot open the catalog at ${url.host} as its address holds a user name or password, which would be stored and shown: give the address of a public catalog`,
    );
  }
  if (url.search || url.hash) {
    throw new CatalogError(
      `Cannot open the catalog at ${url.host} as its address has a query or a fragment: give the address of its directory, without what follows ? or #`,
    );
  }
  if (!['http:', 'https:', 's3:'].includes(url.protocol)) {
    throw new CatalogError(
      `Cannot open ${url.href} as catalogs are read from http, https and s3 addresses or local directories: copy it to one of those`,
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
