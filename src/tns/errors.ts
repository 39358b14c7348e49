/**
 * A registry file cannot be used or downloaded; the message says why and how to mend it. The stored registry is
 * unchanged.
 */
export class RegistryError extends Error {
  override name = 'RegistryError';
}
