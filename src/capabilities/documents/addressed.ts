/** Documents that contain the address of the service. */

/** A placeholder for the address, which is only known when a client sends a request. */
const PLACE = 'http://address.invalid';

/**
 * Renders a document once for all addresses. Clients choose the address by their Host header.
 * @param render may insert the address any number of times, but must not change it
 */
export function addressed(render: (base: string) => string): (base: string) => string {
  let parts: readonly string[] | undefined;
  return base => {
    parts ??= render(PLACE).split(PLACE);
    return parts.join(base);
  };
}
