/** What a client accepts, and how much it would rather have it (RFC 9110, section 12.5). */

export const MSGPACK = 'application/msgpack';

/** The weight of each name in an `Accept` or `Accept-Encoding` header, in lower case: 0 to 1, and 0 where it is no such number. */
export function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map(part => part.trim());
    const q = parameters.find(parameter => /^q\s*=/.test(parameter));
    const weight = q === undefined ? 1 : Number(q.slice(q.indexOf('=') + 1));
    if (name !== '') weights.set(name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  return weights;
}

/** Whether a client would rather have MessagePack than JSON: where it names it, with no lower weight. */
export function prefersMsgpack(accept: string | null): boolean {
  if (!accept?.toLowerCase().includes(MSGPACK)) return false;
  const weights = weightsOf(accept);
  const msgpack = weights.get(MSGPACK) ?? 0;
  const json = weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0;
  return msgpack > 0 && msgpack >= json;
}
