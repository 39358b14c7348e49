/** A thrown value as text; it need not be an Error. */

/** The system's error codes in words. */
const IN_WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EADDRINUSE: 'another program listens there already',
  EADDRNOTAVAIL: 'this machine has no such address',
  ECONNREFUSED: 'nothing listens there',
  EDQUOT: 'the quota of the disk is used up',
  EIO: 'the disk reports an input or output error',
  EISDIR: 'it is a directory',
  EMFILE: 'this process has too many open files',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'there is no such file or directory',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is not a directory',
  ENOTFOUND: 'there is no host of that name',
  EPERM: 'that is not permitted',
  EROFS: 'the file system is read-only',
};

/**
 * The message of an error, for the person who can fix its cause. A system error is described in words, followed by its
 * code; an error of several attempts, by what each of them met.
 */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown instanceof AggregateError) {
    const causes = new Set(thrown.errors.map(messageOf));
    return [thrown.message.replace(/\.$/, ''), [...causes].join('; ')].filter(part => part !== '').join(': ');
  }
  const { code, syscall } = thrown as NodeJS.ErrnoException;
  const words = syscall === undefined ? undefined : IN_WORDS[code ?? ''];
  return words === undefined ? thrown.message : `${words} (${code})`;
}

/** Characters that control a terminal, or reverse the order of its text. */
const STEERING = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Makes text from a file or a server safe for a terminal: control characters except the newline are shown as JSON
 * writes them (`\u001b`), so that a JSON document keeps its meaning.
 */
export function printable(text: string): string {
  return text.replaceAll(STEERING, found =>
    found === '\n' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The stack of an error, if it has one: for the log, never for a client. */
export function traceOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
