import type { AnswerWriter } from '../../core/answers/queries.ts';
import { TABLE_FORMATS } from '../../core/contract/formats.ts';

export const writers: Readonly<Record<string, () => Promise<AnswerWriter>>> = {
  msgpack: async () => (await import('./msgpack.ts')).msgpackAnswer,
  ...Object.fromEntries(
    TABLE_FORMATS.map(({ name }) => [name, async () => (await import('./table_answer.ts')).tableWriter(name)]),
  ),
};
