/** Converts a thrown value to text; the value need not be an Error. */

/** Descriptions of the system's error codes. */
const IN_WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EADDRINUSE: 'another program listens there already',
  EADDRNOTAVAIL: 'this machine has no such address',
  ECONNREFUSED: 'nothing listens there',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reports an input or output error',
  EISDIR: 'it is a directory',
  EMFILE: 'this process has too many open files',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'there is no such file or directory',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is not a directory',
  ENOTFOUND: 'there is no host with that name',
  EPERM: 'that is not permitted',
  EROFS: 'the file system is read-only',
};

/**
 * The message of an error, for the person who can fix the cause. A system error becomes a description and its code. An
 * error that combines several errors becomes their list: those of several attempts, or of some work and of closing what
 * it used. An error of the Kafka client that names only the server is followed by its cause.
 */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown instanceof AggregateError) {
    // The message of attempts that consist of attempts only counts them.
    const isNested = thrown.errors.some(error => error instanceof AggregateError);
    const causes = new Set(thrown.errors.map(messageOf));
    return [isNested ? '' : withoutStop(thrown.message), [...causes].join('; ')].filter(part => part !== '').join(': ');
  }
  // Node 22 lacks the class, so the name decides.
  if (thrown.name === 'SuppressedError') {
    const { suppressed, error } = thrown as SuppressedError;
    return [suppressed, error].map(messageOf).join('; ');
  }
  const { code, syscall, cause } = thrown as NodeJS.ErrnoException;
  if (cause && code?.startsWith('PLT_KFK_')) return `${withoutStop(thrown.message)}: ${messageOf(cause)}`;
  const words = syscall === undefined ? undefined : IN_WORDS[code ?? ''];
  return words === undefined ? thrown.message : `${words} (${code})`;
}

const withoutStop = (message: string) => message.replace(/\.$/, '');

/** Characters that control a terminal, or that reverse the direction of its text. */
const STEERING = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Makes text from a file or a server safe for a terminal. Control characters except the newline are shown as JSON
 * escapes (`\u001b`), so that a JSON document keeps its meaning.
 */
export function printable(text: string): string {
  return text.replaceAll(STEERING, found =>
    found === '\n' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The stack of an error, if it has one; for the log, never for a client. */
export function traceOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

export const SHOWN_CHARACTERS = 64;

/** Shortens a string from outside for a message. */
export function shorten(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
}

/** The message for a value that breaks its rule. */
export function mustBe(what: string, must: string, value: string): string {
  return `${shorten(what)} must be ${must} (${shorten(value) || 'nothing'} was given)`;
}
