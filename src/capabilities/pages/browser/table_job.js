/** Sends tables to the service, and follows the jobs that long ones become. */
import { count, counted } from './format.js';
import { ApiError, errorOf, html, show } from './page.js';

/**
 * Returns a successful answer, or throws.
 * @param {string} path @param {RequestInit} init
 */
export async function answered(path, init) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError('The service does not answer, or the file has changed since it was chosen.', true);
  }
  if (response.ok) return response;
  throw errorOf(response, await response.text().catch(() => ''));
}

/**
 * Sends a table as a job.
 * @param {string} path @param {RequestInit} init
 * @returns the path of the job
 */
export async function beginJob(path, init) {
  const begun = await answered(path, { ...init, headers: { ...init.headers, Prefer: 'respond-async' } });
  return new URL(begun.headers.get('Location') ?? '', location.href).pathname;
}

/** @param {string} job its path */
export function removeJob(job) {
  void fetch(job, { method: 'DELETE', redirect: 'manual' }).catch(() => undefined);
}

/**
 * Waits for a job, and returns its answer.
 * @param {string} job its path
 * @param {{ said: Element, does: string, signal: AbortSignal }} use `said` shows the progress; `does` completes an error
 */
export async function followJob(job, { said, does, signal }) {
  /** When rows were first searched, and how many there were then. @type {{ ms: number, searched: number } | undefined} */
  let first;
  for (;;) {
    const document = await (await answered(`${job}?WAIT=2`, { signal })).text();
    const [done = 0, of = 0, searched = 0] =
      /<progress done="(\d+)" of="(\d+)" searched="(\d+)"/.exec(document)?.slice(1).map(Number) ?? [];
    first ??= searched > 0 ? { ms: performance.now(), searched } : undefined;
    if (of > 0 && searched < of) showRows(said, searched, of, ` searched${first ? timeLeft(first, searched, of) : ''}`);
    else if (of > 0) showRows(said, done, of, ' written');
    const phase = /<uws:phase>(\w+)</.exec(document)?.[1];
    if (phase === 'QUEUED') show(said, 'Waiting for the tables of others …');
    if (phase === 'COMPLETED') {
      const result = await answered(`${job}/results/result`, { signal });
      return new Response(await result.blob(), result);
    }
    if (phase === 'ERROR' || phase === 'ABORTED') {
      const why = await (await answered(`${job}/error`, { signal })).text();
      throw new ApiError(`Cannot ${does} because ${why || 'its job was aborted'}`, false);
    }
  }
}

/** @param {{ ms: number, searched: number }} first @param {number} searched @param {number} of */
function timeLeft(first, searched, of) {
  const seconds = (performance.now() - first.ms) / 1000;
  if (searched <= first.searched) return '';
  const left = Math.ceil(((of - searched) * seconds) / (searched - first.searched));
  return `, ${left < 120 ? counted(left, 'second') : `${count(Math.ceil(left / 60))} minutes`} left`;
}

/** @param {Element} said @param {number} rows @param {number} of @param {string} [verb] */
export function showRows(said, rows, of, verb = '') {
  show(
    said,
    html`
      <progress max=${of} value=${Math.min(rows, of)} aria-label="Rows"></progress>
      ${count(rows)} of ${counted(of, 'row')}${verb}`,
  );
}
