/** What was thrown, as text: nothing says that it is an Error. */

/** What the system's codes mean. */
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
  ENOTDIR: 'a part of its path is no directory',
  ENOTFOUND: 'there is no host of that name',
  EPERM: 'that is not permitted',
  EROFS: 'the file system is read-only',
};

/** Its message: for the one who can mend it. A system error's is in words, its code behind them. */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { code, syscall } = thrown as NodeJS.ErrnoException;
  const words = syscall === undefined ? undefined : IN_WORDS[code ?? ''];
  return words === undefined ? thrown.message : `${words} (${code})`;
}

/** What would steer a terminal or turn the order of its text. */
const STEERING = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Text that may hold what a file or a server said, so that it cannot steer the terminal: control characters but the newline are shown as
 * JSON writes them (`\u001b`), so that JSON stays the same document.
 */
export function printable(text: string): string {
  return text.replaceAll(STEERING, found =>
    found === '\n' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Its stack, where it has one: for the log, never for a client. */
export function traceOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
