/** A registry file cannot be used, or not be had; the message says why and how to mend it. What is stored stays as it is. */
export class RegistryError extends Error {
  override name = 'RegistryError';
}
