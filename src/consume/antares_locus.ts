import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { messageOf } from '../base/error_text.ts';
import { asObject } from '../base/json_reader.ts';
import { UnusableMessage } from './transport.ts';

/** The maximum bytes of a locus, including its light curve. */
const MAX_LOCUS_BYTES = 64 * 2 ** 20;

const inflateAsync = promisify(inflate);

/**
 * The link to the alerts of a locus, from a message's value: `zlib(BSON(JSON:API document))`.
 * @throws UnusableMessage if the value is something else
 */
export async function alertsLink(value: Uint8Array): Promise<string> {
  const { deserialize } = await import('bson');
  let document: unknown;
  try {
    document = deserialize(await inflateAsync(value, { maxOutputLength: MAX_LOCUS_BYTES }), { useBigInt64: true });
  } catch (error) {
    throw new UnusableMessage(`not a locus of ANTARES (BSON in zlib): ${messageOf(error)}`, { cause: error });
  }
  const relationships = asObject(asObject(asObject(document)?.data)?.relationships);
  const link = asObject(asObject(relationships?.alerts)?.links)?.related;
  if (typeof link === 'string') return link;
  throw new UnusableMessage('not a locus of ANTARES: no data.relationships.alerts.links.related');
}
