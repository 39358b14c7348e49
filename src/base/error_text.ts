/** A thrown value as text; it need not be an Error. */

/** The meanings of the system's error codes. */
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

/**
 * The message of an error, for the person who can mend its cause. A system error is put in words, with its code behind
 * them.
 */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { code, syscall } = thrown as NodeJS.ErrnoException;
  const words = syscall === undefined ? undefined : IN_WORDS[code ?? ''];
  return words === undefined ? thrown.message : `${words} (${code})`;
}

/** Characters that would steer a terminal or reverse the order of its text. */
const STEERING = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Text that may hold something from a file or a server, made safe for a terminal: control characters except the newline
 * are shown as JSON writes them (`\u001b`), so that a JSON document stays the same document.
 */
export function printable(text: string): string {
  return text.replaceAll(STEERING, found =>
    found === '\n' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The stack of an error, where it has one: for the log, never for a client. */
export function traceOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

/** Whether an array, or the memory of a library, found no room. */
export function isOutOfMemory(error: unknown): boolean {
  return /array buffer allocation failed|invalid (?:typed )?array(?: buffer)? length|out of memory|insufficient memory|failed to allocate memory|cannot allocate memory|memory\.grow/i.test(
    messageOf(error),
  );
}
