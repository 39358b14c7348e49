/** Converts the spellings of a transient's name to the form that the registry is searched for. */

const MAX_NAME_CHARACTERS = 64;
/** The characters that Unicode counts as white space, and some separators that JavaScript does not count. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are white space to the clients of the reference service
const WHITE_SPACE = /[\s\x1c-\x1f\x85]+/gu;
const DESIGNATION = /^(?:SN|AT|(FRB|TDE))?([0-9]{4}[0-9A-Z]+)$/i;

/** A name, in the form that the registry is searched for. */
export interface TnsName {
  /** The designation, bare and lowercase. */
  readonly name: string;
  /**
   * The required prefix of the registry's object, in capitals. Null if any prefix is accepted, because an AT becomes an
   * SN when it is classified.
   */
  readonly prefix: string | null;
}

/**
 * Reads a name such as `SN 2026abc`, `at2026abc`, `2026abc` or `FRB 20260101a`. It removes all white space and one
 * leading SN or AT. Returns undefined for a name of more than 64 characters (as received), or one that is not a
 * designation.
 */
export function parseTnsName(text: string): TnsName | undefined {
  if (text.length > 2 * MAX_NAME_CHARACTERS || [...text].length > MAX_NAME_CHARACTERS) return undefined;
  const [, prefix, name] = DESIGNATION.exec(text.replace(WHITE_SPACE, '')) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), prefix: prefix?.toUpperCase() ?? null };
}

/**
 * Whether a snapshot with that epoch can resolve names; a null epoch means that there is no snapshot. A snapshot whose
 * age is exactly `maxAgeSeconds` still can.
 * @param epochUs and `nowUs`: integer microseconds since 1970
 */
export function isSnapshotCurrent(epochUs: number | null, nowUs: number, maxAgeSeconds: number): epochUs is number {
  return epochUs !== null && nowUs - epochUs <= maxAgeSeconds * 1e6;
}
