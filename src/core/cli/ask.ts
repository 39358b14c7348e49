/** Shared by the commands that ask a service, or answer over a data directory. */
import { once } from 'node:events';
import { DETAIL_LEVELS, namesOf } from '../contract/enums.ts';
import { FORMATS } from '../contract/formats.ts';
import { POSITION_WARNING_HEADER } from '../contract/headers.ts';
import type { Answered } from './asking.ts';
import { type Option, tell, UsageError } from './command.ts';

/** The format for people. */
export const TABLE = 'table';

export const RA_UNIT_OPTION = {
  value: 'UNIT',
  help: 'unit of decimal right ascensions without one: deg (default) or h',
};

export const ASK_OPTIONS: Readonly<Record<string, Option>> = {
  url: { value: 'URL', help: 'query the service at this address instead of a data directory' },
  format: {
    value: 'NAME',
    help: `${TABLE} (the default at a terminal), ${namesOf(FORMATS).join(', ')} (json elsewhere)`,
  },
  detail: { value: 'LEVEL', help: `${namesOf(DETAIL_LEVELS).join(', ')} (default matches)` },
};

/**
 * Returns a successful answer.
 * @throws UsageError with the service's own message for an invalid request; Error if the service fails
 */
export function requireAnswer({ status, body, headers }: Answered): Answered {
  if (status === 200) return { status, body, headers };
  const text = Buffer.from(body).toString();
  let message: unknown;
  try {
    message = JSON.parse(text).error?.message ?? JSON.parse(text).message;
  } catch {
    message = undefined;
  }
  const why = typeof message === 'string' ? message : `the service answered ${status}: ${text.slice(0, 200)}`;
  throw status >= 400 && status < 500 ? new UsageError(why) : new Error(why);
}

/** Prints the service's warning about the positions of the request, in the words of the command. */
export function tellWarning(command: string, { headers }: Pick<Answered, 'headers'>): void {
  const warning = headers.get(POSITION_WARNING_HEADER);
  if (warning !== null) tell(`nearsky ${command}: ${warning.replace('send ra_unit=h', 'give --ra-unit h')}`);
}

/** Writes bytes to standard output. Waits if the reader is slow. */
export async function writeOut(bytes: Uint8Array): Promise<void> {
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
}

/** Adds a line break to JSON, so that a terminal's prompt begins on a new line. Other formats are unchanged. */
export function asDocument(bytes: Uint8Array, format: string | undefined): Uint8Array {
  return format === undefined || format === 'json' ? Buffer.concat([bytes, Buffer.from('\n')]) : bytes;
}
