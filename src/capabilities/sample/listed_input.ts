/** The rows of tables as inputs. */

import type { Config } from '../../core/config/config.ts';
import { parseTnsName } from '../../core/contract/tns_names.ts';
import { OBJECT_ID } from '../../core/documents/kinds.ts';
import type { ListedInput } from './list_task.ts';
import type { SampleInput } from './resolve.ts';

/** The input in a row of a table. */
export function inputOf(
  { id, ra, dec, name, wrong, label: given }: ListedInput,
  index: number,
  { objectRadiusArcsec }: { readonly objectRadiusArcsec: number | undefined },
  config: Config,
): SampleInput {
  const sent = 'null';
  const label = given ?? null;
  if (id !== undefined) {
    const diaObjectId = OBJECT_ID.parse(id);
    if (diaObjectId !== undefined) return { input: { kind: 'id', sent, diaObjectId }, label };
    return invalid(`${JSON.stringify(id.slice(0, 40))} is not a diaObjectId`);
  }
  if (ra !== undefined) {
    const radiusArcsec = objectRadiusArcsec ?? config.CROSSMATCH_RADIUS_ARCSEC;
    return { input: { kind: 'position', sent, ra, dec: dec!, radiusArcsec }, label };
  }
  const known = name === undefined ? undefined : parseTnsName(name);
  if (known) {
    const radiusArcsec = objectRadiusArcsec ?? config.TNS_MATCH_RADIUS_ARCSEC;
    return { input: { kind: 'tns', sent, ...known, radiusArcsec }, label };
  }
  return invalid(wrong ?? `${JSON.stringify(name!.slice(0, 40))} is not a TNS name`);

  function invalid(message: string): SampleInput {
    return { input: { kind: 'invalid', sent, sentKind: 'null', error: { message, param: `${index}` } }, label };
  }
}
