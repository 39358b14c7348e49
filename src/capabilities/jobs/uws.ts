/** Writes a job as a document of UWS 1.1 (IVOA recommendation of 2016-10-24). */
import { escapeXml } from '@nearsky/astrotables';
import type { RowProgress } from '../../core/contract/row_progress.ts';
import type { Job } from './job.ts';

const NAMESPACES =
  'xmlns:uws="http://www.ivoa.net/xml/UWS/v1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

type Parameters = ReadonlyMap<string, string>;

export const RESULT = 'result';

/**
 * @param address the address of the job
 * @param runSeconds the time limit of the job
 */
export function jobDocument(
  job: Job,
  parameters: Parameters,
  address: string,
  runSeconds: number,
  progress: RowProgress | undefined,
): string {
  const { id, phase, createdMs, startedMs, endedMs, destructionMs, error } = job;
  return `${DECLARATION}<uws:job ${NAMESPACES} version="1.1">
<uws:jobId>${id}</uws:jobId>
${runIdElement(parameters)}${element('ownerId', undefined)}<uws:phase>${phase}</uws:phase>
${element('quote', undefined)}${element('creationTime', timeText(createdMs))}${element('startTime', timeText(startedMs))}${element('endTime', timeText(endedMs))}<uws:executionDuration>${runSeconds}</uws:executionDuration>
${element('destruction', timeText(destructionMs))}${parametersElement(parameters)}${resultsElement(job, address)}${
  error === undefined
    ? ''
    : `<uws:errorSummary type="fatal" hasDetail="true"><uws:message>${escapeXml(error)}</uws:message></uws:errorSummary>\n`
}${progress ? `<uws:jobInfo><progress done="${progress.done}" of="${progress.of}" searched="${progress.searched}"/></uws:jobInfo>\n` : ''}</uws:job>
`;
}

export function parametersDocument(parameters: Parameters): string {
  return DECLARATION + parametersElement(parameters, NAMESPACES);
}

export function resultsDocument(job: Job, address: string): string {
  return DECLARATION + resultsElement(job, address, NAMESPACES);
}

export interface ListedJob {
  readonly job: Pick<Job, 'id' | 'phase' | 'createdMs'>;
  readonly parameters: Parameters;
  readonly address: string;
}

export function jobsDocument(listed: readonly ListedJob[]): string {
  const jobs = listed.map(
    ({ job: { id, phase, createdMs }, parameters, address }) =>
      `<uws:jobref id="${id}" xlink:type="simple" xlink:href="${escapeXml(address)}">\n<uws:phase>${phase}</uws:phase>\n` +
      `${runIdElement(parameters)}${element('ownerId', undefined)}${element('creationTime', timeText(createdMs))}</uws:jobref>\n`,
  );
  return `${DECLARATION}<uws:jobs ${NAMESPACES} version="1.1">\n${jobs.join('')}</uws:jobs>\n`;
}

/** A time in the form of UWS; undefined if there is none. */
export function timeText(ms: number): string;
export function timeText(ms: number | undefined): string | undefined;
export function timeText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

function runIdElement(parameters: Parameters): string {
  const runId = parameters.get('RUNID');
  return runId === undefined ? '' : element('runId', runId);
}

function element(name: string, text: string | undefined): string {
  return text === undefined ? `<uws:${name} xsi:nil="true"/>\n` : `<uws:${name}>${escapeXml(text)}</uws:${name}>\n`;
}

function parametersElement(parameters: Parameters, namespaces = ''): string {
  const each = Array.from(
    parameters,
    ([name, value]) => `<uws:parameter id="${escapeXml(name)}">${escapeXml(value)}</uws:parameter>\n`,
  );
  return `<uws:parameters ${namespaces}>\n${each.join('')}</uws:parameters>\n`;
}

function resultsElement({ result }: Job, address: string, namespaces = ''): string {
  if (!result) return `<uws:results ${namespaces}/>\n`;
  const { mediaType, bytes } = result;
  return `<uws:results ${namespaces}>\n<uws:result id="${RESULT}" xlink:type="simple" xlink:href="${escapeXml(`${address}/results/${RESULT}`)}" mime-type="${mediaType}" size="${bytes}"/>\n</uws:results>\n`;
}
