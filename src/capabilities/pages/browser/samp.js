/**
 * The SAMP Web Profile (SAMP 1.3, section 5): asks the hub on this machine to let other programs open a table. The hub asks its user first.
 */
import { ApiError } from './page.js';

const HUB = 'http://localhost:21012/';
const LOAD_TABLE = 'table.load.votable';

/** @typedef {string | { [name: string]: Value }} Value */

/**
 * Asks the programs that accept tables to open one.
 * @param {string} url of a VOTable
 * @param {string} name
 * @returns {Promise<string[]>} the names of the programs
 * @throws ApiError if there is no hub, the user refuses, or no program accepts tables
 */
export async function sendTable(url, name) {
  const registration = await call('register', { 'samp.name': 'nearsky' });
  const key = field(registration, 'samp.private-key');
  try {
    const takers = Object.keys(await call('getSubscribedClients', key, LOAD_TABLE));
    if (takers.length === 0)
      throw new ApiError('A SAMP hub answers, and no program there takes tables: start TOPCAT, then try again.', true);
    const message = { 'samp.mtype': LOAD_TABLE, 'samp.params': { url, name, 'table-id': url } };
    await call('notifyAll', key, message);
    const about = await Promise.all(takers.map(taker => call('getMetadata', key, taker)));
    return about.map((each, i) => field(each, 'samp.name') || (takers[i] ?? ''));
  } finally {
    await call('unregister', key).catch(() => undefined);
  }
}

/** @param {Value} value @param {string} name */
function field(value, name) {
  const found = typeof value === 'string' ? '' : value[name];
  return typeof found === 'string' ? found : '';
}

/**
 * Calls a method of the hub by XML-RPC.
 * @param {string} method
 * @param {...Value} parameters
 * @returns {Promise<Value>}
 */
async function call(method, ...parameters) {
  const list = parameters.map(value => `<param><value>${written(value)}</value></param>`).join('');
  const body = `<?xml version="1.0"?>\n<methodCall><methodName>samp.webhub.${method}</methodName><params>${list}</params></methodCall>`;
  let text;
  try {
    const response = await fetch(HUB, { method: 'POST', headers: { 'Content-Type': 'text/xml' }, body });
    text = await response.text();
  } catch {
    throw new ApiError(
      'No SAMP hub answers on this machine (localhost:21012): start TOPCAT, whose hub has the Web Profile, then try again.',
      true,
    );
  }
  const document = new DOMParser().parseFromString(text, 'text/xml');
  const value = document.querySelector('methodResponse > params > param > value');
  if (value) return read(value);
  const fault = document.querySelector('fault value');
  const why = fault && field(read(fault), 'faultString');
  throw new ApiError(`The SAMP hub refuses${why ? `: ${why}` : ''}.`, true);
}

/** @param {Value} value @returns {string} */
function written(value) {
  if (typeof value === 'string') return `<string>${escaped(value)}</string>`;
  const members = Object.entries(value).map(
    ([name, each]) => `<member><name>${escaped(name)}</name><value>${written(each)}</value></member>`,
  );
  return `<struct>${members.join('')}</struct>`;
}

/** @param {string} text */
const escaped = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** @param {Element} value @returns {Value} */
function read(value) {
  const struct = value.firstElementChild;
  if (struct?.tagName !== 'struct') return value.textContent ?? '';
  /** @type {{ [name: string]: Value }} */
  const members = {};
  for (const member of struct.children) {
    const [name, of] = member.children;
    if (name && of) members[name.textContent ?? ''] = read(of);
  }
  return members;
}
