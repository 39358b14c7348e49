/** The address of ADQL queries over TAP, which documents name where a capability answers it. */
export const TAP_PATH = '/vo/tap';
