/** The parameters of jobs, with their kinds. */
import { parseTime } from '../../core/base/parse_time.ts';
import { clamped, integer, type Kind, named, number, textual } from '../../core/contract/kind.ts';
import { MAX_JOB_WAIT_SECONDS } from '../../core/contract/limits.ts';
import { ANY_TEXT } from '../../core/documents/kinds.ts';
import type { Parameters } from '../../core/documents/parameters.ts';
import { OTHER_PHASES, PHASES } from './job.ts';

/** How long to wait for a job, seconds. Anything that is not a number counts as 0. */
const JOB_WAIT = {
  ...number({ unit: 's' }),
  parseText: (text: string) => {
    const seconds = Number(text);
    return seconds < 0 ? MAX_JOB_WAIT_SECONDS : Math.min(seconds || 0, MAX_JOB_WAIT_SECONDS);
  },
};

// Some clients send a float, 60.0.
const WHOLE_SECONDS = clamped(0, Number.MAX_SAFE_INTEGER, /^\d+(?:\.0+)?$/);
/** The time limit of a job, seconds. */
const JOB_SECONDS: Kind<number> = {
  ...WHOLE_SECONDS,
  must: 'a whole number of seconds, or 0 for the maximum',
  parseText(text) {
    const seconds = WHOLE_SECONDS.parseText(text);
    return seconds === 0 ? Number.MAX_SAFE_INTEGER : seconds;
  },
  unit: 's',
};

const ALL_PHASES = [...PHASES, ...OTHER_PHASES];
const JOB_PHASE = textual(`one of ${ALL_PHASES.join(', ')}`, text => ALL_PHASES.find(phase => phase === text));

/** A time of a job, milliseconds since 1970. */
const JOB_TIME = textual(
  'a time like 2026-12-31T00:00:00Z',
  text => {
    const timeUs = parseTime(text);
    return timeUs === undefined ? undefined : Math.floor(timeUs / 1000);
  },
  { format: 'date-time' },
);

const RUN = { name: 'RUN', meaning: 'starts the job' } as const;
const ABORT = { name: 'ABORT', meaning: 'stops the job' } as const;

export const NEW_JOB_PARAMETERS = {
  PHASE: { kind: { ...named([RUN]), must: 'RUN, or left out' }, description: 'Whether the job starts at once.' },
  RUNID: { kind: ANY_TEXT, description: 'A name that the client gives the job, for its own use.' },
  EXECUTIONDURATION: { kind: JOB_SECONDS, description: 'The time limit of the job; 0 for the maximum.' },
} satisfies Parameters;

/** The filters of a list of jobs (UWS 1.1, section 2.2.2.1). Their names are not case-sensitive. */
export const JOB_LIST_PARAMETERS = {
  PHASE: { kind: JOB_PHASE, description: 'Only jobs in this phase, or in one of several if it is repeated.' },
  AFTER: { kind: JOB_TIME, description: 'Only jobs made after this time.' },
  LAST: { kind: integer({ min: 1, unit: 'count' }), description: 'Only so many of the newest jobs.' },
} satisfies Parameters;

/** The parameters of a whole job (UWS 1.1, sections 2.2.1 and 2.2.3). Their names are not case-sensitive. */
export const JOB_PARAMETERS = {
  WAIT: {
    kind: JOB_WAIT,
    description: `How long to wait for another phase, at most ${MAX_JOB_WAIT_SECONDS} s; a negative value means the maximum.`,
    default: 0,
  },
  PHASE: { kind: ANY_TEXT, description: 'The phase whose end to wait for; by default the current one.' },
} satisfies Parameters;

export const JOB_ACTION = {
  ACTION: {
    kind: named([{ name: 'DELETE', meaning: 'removes the job' }]),
    description: 'What to do with the job.',
    required: 'always',
  },
} satisfies Parameters;

/** The parameters of a POST that changes one resource of a job, by the name of the resource in upper case. */
export const JOB_CHANGES = {
  PHASE: { kind: { ...named([ABORT, RUN]), must: 'ABORT or RUN' }, description: 'What to do with the job.' },
  DESTRUCTION: {
    kind: JOB_TIME,
    description: 'When the job and its result are removed; cannot be postponed.',
  },
  EXECUTIONDURATION: {
    kind: JOB_SECONDS,
    description: 'The time limit of a job that has not started; 0 for the maximum.',
  },
} satisfies Parameters;
