/**
 * A registry file cannot be used or downloaded; the message gives the reason and the remedy. The stored registry is
 * unchanged.
 */
export class RegistryError extends Error {
  override name = 'RegistryError';
}
