/** The path of ADQL queries over TAP. Documents name it only if a capability answers it. */
export const TAP_PATH = '/vo/tap';
