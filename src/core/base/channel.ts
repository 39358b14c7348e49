/**
 * A question that a serving thread asks the one part of the process that answers it. A channel is declared beside that
 * part, so whoever asks depends on this part alone. Structured clone copies questions and answers between threads.
 */
export interface Channel<Asked, Answer> {
  /** Unique in the process. */
  readonly name: string;
  /** Whether the answer is a slot, which the thread holds until it releases the slot or ends. */
  readonly isHeld: boolean;
  /** Never set: it holds the types. */
  readonly types?: (asked: Asked) => Answer;
}

export function channel<Asked, Answer>(name: string, { isHeld = false } = {}): Channel<Asked, Answer> {
  return { name, isHeld };
}
