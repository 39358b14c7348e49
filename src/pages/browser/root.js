/**
 * The path below which the service is reached; empty if there is none. Every address of the service in a script starts
 * with it. Scripts are at ROOT/assets/VERSION/.
 */
export const root = new URL('../..', import.meta.url).pathname.slice(0, -1);
