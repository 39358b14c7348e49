/** Commands that send a table to a service, and write what it answers. */
import { renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Format } from '@nearsky/astrotables/formats';
import { requireAnswer, writeOut } from '../../core/cli/ask.ts';
import type { Answered, Ask, Asked } from '../../core/cli/asking.ts';
import { type Command, UsageError } from '../../core/cli/command.ts';
import type { RowProgress } from '../../core/contract/row_progress.ts';

interface TableJob {
  /** The path of the list of these jobs. */
  readonly path: string;
  /** Completes the errors: "Cannot ... because its job was ended". */
  readonly does: string;
  readonly onProgress: (progress: RowProgress) => void;
}

/**
 * Sends the table as a job, which reports progress and may take longer than a request. Sends a request instead if the
 * service accepts no more jobs.
 * @throws UsageError with the service's message, if the job fails
 */
export async function askAsJob(ask: Ask, asked: Asked, { path: list, does, onProgress }: TableJob): Promise<Answered> {
  const created = await ask({ ...asked, prefer: 'respond-async' });
  if (created.status === 503) return await ask(asked);
  if (created.status !== 202) return created;
  const path = `${list}/${created.headers.get('Location')!.split('/').at(-1)}`;
  try {
    for (let phase = ''; phase !== 'COMPLETED'; ) {
      const document = Buffer.from(requireAnswer(await ask({ path, search: { WAIT: '1' } })).body).toString();
      const found = (pattern: RegExp) => pattern.exec(document)?.[1] ?? '';
      const count = (name: string) => Number(found(new RegExp(`<progress [^>]*\\b${name}="(\\d+)"`)));
      onProgress({ of: count('of'), searched: count('searched'), done: count('done') });
      phase = found(/<uws:phase>(\w+)</);
      if (phase === 'ABORTED') throw new Error(`Cannot ${does} because its job was ended`);
      if (phase === 'ERROR') {
        const { body } = requireAnswer(await ask({ path: `${path}/error`, search: {} }));
        throw new UsageError(`Cannot ${does} because ${Buffer.from(body)}`);
      }
    }
    return await ask({ path: `${path}/results/result`, search: {}, ...(asked.onPart && { onPart: asked.onPart }) });
  } finally {
    await ask({ path, search: {}, method: 'DELETE' }).catch(() => {});
  }
}

interface Output {
  write(part: Uint8Array): Promise<void>;
  end(): Promise<void>;
  /** Removes the partial output. */
  drop(): Promise<void>;
}

/** The output at a path; without one, standard output. A file gets its name when it is complete. */
export async function outputOf(path: string | undefined): Promise<Output> {
  if (path === undefined) return { write: writeOut, end: async () => {}, drop: async () => {} };
  const partial = `${path}.${process.pid}.part`;
  const file = await open(partial, 'w');
  return {
    write: part => file.appendFile(part),
    async end() {
      await file.close();
      renameSync(partial, path);
    },
    async drop() {
      await file.close().catch(() => {});
      rmSync(partial, { force: true });
    },
  };
}

/**
 * The name of the format for a file's ending; undefined for a file without one.
 * @param command the one whose answer is written
 * @throws UsageError for another ending
 */
export function formatOfFile(path: string, formats: readonly Named[], command: Command): string | undefined {
  const extension = extname(path).slice(1).toLowerCase();
  if (extension === '') return undefined;
  const found = formats.find(({ extensions }) => extensions.includes(extension));
  if (found) return found.name;
  const known = formats.flatMap(({ extensions }) => extensions.map(each => `.${each}`)).join(', ');
  throw new UsageError(
    `Cannot write ${path} because its name must end with one of ${known}, or --format must be given`,
    command,
  );
}

type Named = Pick<Format, 'name' | 'extensions'>;
