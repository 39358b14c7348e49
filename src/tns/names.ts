/** How a client may write the name of a transient, and what it is looked up by. */

const MAX_NAME_CHARACTERS = 64;
/** What Unicode counts as white space, and the separators that JavaScript does not count. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are white space to the clients of the reference service
const WHITE_SPACE = /[\s\x1c-\x1f\x85]+/gu;
const DESIGNATION = /^(?:SN|AT)?([0-9]{4}[0-9A-Z]+)$/i;

/**
 * The bare, lowercased designation of a name such as `SN 2026abc`, `at2026abc` or `2026abc`: white space is dropped wherever it is, and
 * one leading SN or AT. Undefined for a name of more than 64 characters as it was sent, or one that is no designation.
 */
export function normalizeTnsName(name: string): string | undefined {
  if (name.length > 2 * MAX_NAME_CHARACTERS || [...name].length > MAX_NAME_CHARACTERS) return undefined;
  return DESIGNATION.exec(name.replace(WHITE_SPACE, ''))?.[1]?.toLowerCase();
}

/**
 * Whether names can be resolved by a snapshot of that epoch (null: there is none). One as old as `maxAgeSeconds` still is current.
 * @param epochUs and `nowUs`: integer microseconds since 1970
 */
export function isSnapshotCurrent(epochUs: number | null, nowUs: number, maxAgeSeconds: number): epochUs is number {
  return epochUs !== null && nowUs - epochUs <= maxAgeSeconds * 1e6;
}
