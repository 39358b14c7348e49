/** Names of headers that the service sends and its documents describe. */

/** The id of a request, which the log contains too. */
export const REQUEST_ID_HEADER = 'X-Request-Id';

/** The parameters of a query string that were ignored (docs/contract.md, Query strings). */
export const UNKNOWN_PARAMETERS_HEADER = 'X-Unknown-Parameters';

/** The journal entry whose state an answer has; and when the archive was last seen in that state, for tables in ADQL. */
export const JOURNAL_ENTRY_HEADER = 'X-Journal-Entry';
export const AS_OF_HEADER = 'X-As-Of';

/** How long the answering node has been behind the log of the nodes, seconds. Only sent once that is too long. */
export const LOG_LAG_HEADER = 'X-Log-Lag-Seconds';

/**
 * The position of the answering node in the log of the nodes. A client sends the last position that it received to any
 * node (docs/contract.md, Headers).
 */
export const LOG_POSITION_HEADER = 'X-Log-Position';

/** Warns that the positions of a request look like hours, and were taken for degrees. */
export const POSITION_WARNING_HEADER = 'X-Position-Warning';
