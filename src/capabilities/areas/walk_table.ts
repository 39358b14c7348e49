/**
 * Sends all pages of a walk through an area as one table. Each page is made when the client has read the previous one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { letGo } from '../../core/answers/answer_memory.ts';
import { bytesOf, type QueryAnswer } from '../../core/answers/body.ts';
import { AREA_CURSOR } from '../../core/answers/cursor.ts';
import { WholeTable } from '../../core/answers/queries.ts';
import { splitTable, type TableHead } from '../../core/answers/table_head.ts';
import { Budget } from '../../core/base/budget.ts';
import { ClientAdmission } from '../../core/base/client_admission.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { contentType, matchFormat, type TableFormat } from '../../core/contract/formats.ts';
import { withEntry } from '../../core/http/answer_query.ts';
import { readCursor, requestedState } from '../../core/http/cursor.ts';
import { type Answer, NEGOTIATED, streamedResponse } from '../../core/http/respond.ts';
import { dispositionOf, TABLE_HEADERS } from '../../core/http/table_response.ts';
import type { Service } from '../../core/service/service.ts';
import { PartStream } from '../uploads/part_stream.ts';
import type { AreaQuery } from './area_answer.ts';

/**
 * The maximum number of such tables that a thread sends at once; one client may have half of them. Each keeps its area
 * in memory, up to 10 MB.
 */
const MAX_TABLES = 8;
const PART_OBJECTS = 1000;
/** TRIES: the number of attempts to make a part if there is no memory for it; PAUSE_MS: the pause between them. */
const TRIES = 100;
const PAUSE_MS = 200;
const NOTHING = new Uint8Array(0);

export class WalkTables {
  readonly #service: Service;
  readonly #slots = new ClientAdmission().slots({ slots: MAX_TABLES, isFull: 'other tables are being sent' });

  constructor(service: Service) {
    this.#service = service;
  }

  /**
   * Returns the answer when its first part is ready.
   * @param client the name under which the client's share of the tables is counted
   * @throws Unavailable if too many tables are being sent; the errors of the query
   */
  async answer(query: AreaQuery, format: TableFormat, client: string): Promise<Answer> {
    const leave = this.#slots.enterNow(client);
    const parts = this.#parts(client, { ...query, format, pageSize: PART_OBJECTS, whole: new WholeTable() });
    const end = () => {
      leave();
      void parts.return(undefined);
    };
    try {
      let first: Part | undefined = (await parts.next()).value as Part;
      const next = async () => {
        let part: Part | undefined;
        do {
          part = first ?? (await parts.next()).value;
          first = undefined;
        } while (part?.table.length === 0);
        return part?.table ?? null;
      };
      const { head, entry } = first;
      return withEntry(streamedResponse(wholeTableHeaders(format, head), new PartStream(next, end)), entry);
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Yields the parts of the table, at least one. Lines of no objects are an empty part. */
  async *#parts(client: string, query: AreaQuery | undefined): AsyncGenerator<Part, undefined> {
    while (query) {
      const part = partOf(await this.#page(client, query));
      const { nextCursor } = part.head;
      // The area has been read, so its bytes, possibly many, are released.
      query = nextCursor === null ? undefined : nextPage(query, nextCursor);
      yield part;
    }
    return undefined;
  }

  async #page(client: string, query: AreaQuery): Promise<QueryAnswer> {
    const { queries, config } = this.#service;
    const { rows } = query.whole!;
    for (let tries = 1; ; tries++) {
      try {
        return await queries.run(query, { client, budget: new Budget(config.API_REQUEST_BUDGET_SECONDS) });
      } catch (error) {
        const isTriedAgain = error instanceof Unavailable && query.after !== null && query.whole!.rows === rows;
        if (!isTriedAgain || tries === TRIES || this.#service.isStopping) throw error;
      }
      await sleep(PAUSE_MS);
    }
  }
}

function nextPage(query: AreaQuery, cursor: string): AreaQuery {
  const after = readCursor(AREA_CURSOR, cursor);
  return { ...query, area: NOTHING, after, asOfUs: after.asOfUs, state: requestedState(after.at) };
}

interface Part extends Pick<QueryAnswer, 'entry'> {
  readonly head: TableHead;
  readonly table: Uint8Array;
}

/** The bytes of an answer as a part; the memory of its body is freed. */
function partOf({ body, entry }: QueryAnswer): Part {
  const { head, table } = splitTable(bytesOf(body));
  const part = { head, table: table.slice(), entry };
  letGo(body);
  return part;
}

/** The headers of a table that is sent while it is being written. */
function wholeTableHeaders(format: TableFormat, { name, asOf }: TableHead): Record<string, string> {
  return {
    'Content-Type': contentType(matchFormat(format)),
    Vary: NEGOTIATED,
    'Access-Control-Expose-Headers': TABLE_HEADERS,
    'Content-Disposition': dispositionOf(name, matchFormat(format)),
    'X-As-Of': asOf!,
  };
}
