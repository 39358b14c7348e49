/** Queries in ADQL, and the SQL that they become. */
import { AdqlError, placedMessage } from '@nearsky/adql';
import { translateQuery } from '../../../src/capabilities/adql/translate_query.ts';
import { TABLES } from '../../adql/support.ts';
import { orRefused, type Target } from '../../fuzz/target.ts';

/** The SQL for the engine: names made here or of tables, its own literals, and the words between them. */
const SQL =
  /^(?:"(?:nearsky|TAP_SCHEMA|objects|matches|columns|[a-zA-Z_0-9]+)"|'(?:[^'\0]|'')*'|[A-Za-z_0-9]+|[-+*/%=<>(),.|:\s])*$/;

const adql: Target = {
  name: 'adql',
  isText: true,
  inputs: 4000,
  start: async () => ({
    run: async input => {
      const query = input.toString();
      const translated = await orRefused(() => {
        try {
          return translateQuery(query, TABLES, 1000);
        } catch (error) {
          if (error instanceof AdqlError && !/^Line \d+, column \d+: ./.test(placedMessage(query, error)))
            throw new Error('no place in the query');
          throw error;
        }
      }, AdqlError);
      if (!translated) return;
      const { sql, columns } = translated;
      if (!SQL.test(sql)) throw new Error(`not of the parts that are written here: ${sql.slice(0, 500)}`);
      if (new Set(columns.map(({ name }) => name.toLowerCase())).size !== columns.length)
        throw new Error('two columns of the result have one name');
    },
  }),
};

export const targets: readonly Target[] = [adql];
