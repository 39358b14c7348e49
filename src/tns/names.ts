/** The spellings that a client may use for a transient's name, and the form in which the name is looked up. */

const MAX_NAME_CHARACTERS = 64;
/** The characters that Unicode counts as white space, and the separators that JavaScript does not count. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are white space to the clients of the reference service
const WHITE_SPACE = /[\s\x1c-\x1f\x85]+/gu;
const DESIGNATION = /^(?:SN|AT|(FRB|TDE))?([0-9]{4}[0-9A-Z]+)$/i;

/** A name in the form in which the registry is searched. */
export interface TnsName {
  /** The designation, bare and lowercase. */
  readonly name: string;
  /**
   * The prefix that the registry's object must have, in capitals; null where any prefix will do, because an AT becomes
   * an SN when it is classified.
   */
  readonly prefix: string | null;
}

/**
 * Reads a name such as `SN 2026abc`, `at2026abc`, `2026abc` or `FRB 20260101a`: white space is dropped everywhere, and
 * so is one leading SN or AT. Undefined for a name that had more than 64 characters when received, or that is no
 * designation.
 */
export function parseTnsName(text: string): TnsName | undefined {
  if (text.length > 2 * MAX_NAME_CHARACTERS || [...text].length > MAX_NAME_CHARACTERS) return undefined;
  const [, prefix, name] = DESIGNATION.exec(text.replace(WHITE_SPACE, '')) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), prefix: prefix?.toUpperCase() ?? null };
}

/**
 * Whether names can be resolved by a snapshot of that epoch (null: there is none). One as old as `maxAgeSeconds` still is current.
 * @param epochUs and `nowUs`: integer microseconds since 1970
 */
export function isSnapshotCurrent(epochUs: number | null, nowUs: number, maxAgeSeconds: number): epochUs is number {
  return epochUs !== null && nowUs - epochUs <= maxAgeSeconds * 1e6;
}
