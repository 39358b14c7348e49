/** Documents that name the address of the service. */

/** Stands for the address, until a client's request states it. */
const PLACE = 'http://address.invalid';

/**
 * Renders a document once, whatever address it is to name: clients choose the address by their Host header.
 * @param render must insert the address as it is, any number of times
 */
export function addressed(render: (base: string) => string): (base: string) => string {
  let parts: readonly string[] | undefined;
  return base => {
    parts ??= render(PLACE).split(PLACE);
    return parts.join(base);
  };
}
