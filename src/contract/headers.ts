/** Names of headers that the service sends and its documents describe. */

/** The parameters of a query string that were ignored (docs/contract.md, Query strings). */
export const UNKNOWN_PARAMETERS_HEADER = 'X-Unknown-Parameters';
