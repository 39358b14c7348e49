/** Which of the two media types of an answer a client would rather have (RFC 9110, section 12.5.1). */

export const MSGPACK = 'application/msgpack';
const JSON_TYPE = 'application/json';

/** Whether that is MessagePack: where it is named, with no lower weight than JSON. */
export function prefersMsgpack(accept: string | null): boolean {
  if (!accept?.toLowerCase().includes(MSGPACK)) return false;
  let msgpack = 0;
  let json = 0;
  for (const item of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = item.split(';').map(part => part.trim());
    const q = parameters.find(parameter => /^q\s*=/.test(parameter));
    const weight = q === undefined ? 1 : Number(q.slice(q.indexOf('=') + 1)) || 0;
    if (type === MSGPACK) msgpack = weight;
    else if (type === JSON_TYPE) json = weight;
  }
  return msgpack > 0 && msgpack >= json;
}
