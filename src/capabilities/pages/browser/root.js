/**
 * The path below which the service is reached; usually empty. Scripts put it before each address of the service. They
 * are at ROOT/assets/VERSION/.
 */
export const root = new URL('../..', import.meta.url).pathname.slice(0, -1);
