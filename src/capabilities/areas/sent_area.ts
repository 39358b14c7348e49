/**
 * The area in a request's body, or the table of positions. A short string is kept in memory and parsed by this process;
 * all other bodies are written to a file, which another process reads.
 */

import { createHash } from 'node:crypto';
import { isGzip } from '@nearsky/astrotables/bytes';
import { isFits } from '@nearsky/astrotables/fits';
import type { Discs } from '@nearsky/sky-index/areas';
import { AreaError, invalidArea } from '../../core/base/area_error.ts';
import { Budget } from '../../core/base/budget.ts';
import { discard } from '../../core/base/files.ts';
import { TooExpensive } from '../../core/base/refusal.ts';
import { DEFAULT_CREDIBLE_LEVEL, MAX_AREA_BYTES, MAX_AREA_TEXT_BYTES } from '../../core/contract/limits.ts';
import { ApiError, missingParameter } from '../../core/http/errors.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { readParts } from '../../core/http/json_body.ts';
import type { Service } from '../../core/service/service.ts';
import { SentFile } from '../uploads/sent_file.ts';
import { spoolOf, spoolPath } from '../uploads/spool.ts';
import type { AreaQuery } from './area_answer.ts';
import { AREA } from './area_channel.ts';
import { type AreaWritten, areaInFile, discsInFile, type ReadAreaTask } from './area_task.ts';

const DIGEST_CHARACTERS = 22;

/**
 * The time limit for another process to read an area, including the wait for a slot. A connection without a byte ends
 * after 60 s.
 */
const READ_SECONDS = 55;

type Unread = { readonly outcome: 'refused' | 'tooLarge' };

export class SentArea {
  readonly #exchange: Exchange;
  readonly #service: Service;
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;
  #file: SentFile | undefined;

  /** The caller must remove it. */
  constructor(exchange: Exchange, service: Service) {
    this.#exchange = exchange;
    this.#service = service;
  }

  /**
   * Reads the area parameter or the body.
   * @param how the limits that apply to reading the area
   * @returns a digest of the area and of these numbers
   * @throws ApiError, Unavailable
   */
  async receive(...how: readonly (number | undefined)[]): Promise<string> {
    const { request, search, budget } = this.#exchange;
    const hash = createHash('sha256').update(`${how}\n`);
    const take = (part: Uint8Array) => {
      hash.update(part);
      this.#add(part);
    };
    await readParts(request, budget, MAX_AREA_BYTES, take);
    const text = search.get('area');
    if (text === undefined && this.#bytes === 0)
      throw missingParameter('area', 'it as the body, or area=CIRCLE 10 -20 1');
    if (text !== undefined && this.#bytes > 0) {
      const message = 'Cannot search two areas at once: leave out the parameter area, or the body';
      throw new ApiError('invalid_parameter', message, { param: 'area' });
    }
    if (text !== undefined) take(new TextEncoder().encode(text));
    return hash.digest('base64url').slice(0, DIGEST_CHARACTERS);
  }

  #add(part: Uint8Array): void {
    this.#bytes += part.length;
    this.#parts.push(part);
    if (this.#bytes > MAX_AREA_TEXT_BYTES) this.#toFile();
  }

  #toFile(): SentFile {
    const service = this.#service;
    this.#file ??= new SentFile(service.config.NEARSKY_DATA, spoolOf(service), this.#exchange.client);
    for (const part of this.#parts.splice(0)) this.#file.add(part);
    return this.#file;
  }

  /**
   * The upload, or the area that another process has read from it. The time budget of the request restarts afterwards.
   * @throws AreaError, TooExpensive, Unavailable
   */
  async content(level: number): Promise<AreaQuery['area']> {
    if (!this.#file) {
      const text = Buffer.concat(this.#parts);
      if (!isGzip(text) && !isFits(text)) return text;
    }
    return await this.#inProcess({ level }, async (written, output) => {
      if (written.outcome === 'read') return await areaInFile(output, written);
      if (written.outcome === 'shape') return new TextEncoder().encode(written.text);
      throw new TypeError(`an area is no ${written.outcome}`);
    });
  }

  /**
   * The discs around the positions of a table, in the same way.
   * @throws AreaError, TooExpensive, Unavailable
   */
  async discs(radiusArcsec: number): Promise<Discs> {
    const asked = { level: DEFAULT_CREDIBLE_LEVEL, radiusArcsec };
    return await this.#inProcess(asked, async (written, output) => {
      if (written.outcome === 'discs') return await discsInFile(output, written.cellsBytes, radiusArcsec);
      throw new TypeError(`a table of positions is no ${written.outcome}`);
    });
  }

  async #inProcess<T>(
    how: Pick<ReadAreaTask, 'level' | 'radiusArcsec'>,
    read: (written: Exclude<AreaWritten, Unread>, output: string) => Promise<T>,
  ): Promise<T> {
    const { config, coordination } = this.#service;
    const file = this.#toFile();
    const output = spoolPath(config.NEARSKY_DATA);
    try {
      const asked = { client: this.#exchange.client, input: file.file(), inputBytes: file.bytes, output, ...how };
      const written = await coordination.ask(AREA, asked, new Budget(READ_SECONDS));
      this.#exchange.budget = new Budget(config.API_REQUEST_BUDGET_SECONDS);
      if (!written) throw new TooExpensive(`because the area takes longer than ${READ_SECONDS} s to read`);
      if (written.outcome === 'refused') throw new AreaError(written.message, written.param);
      if (written.outcome === 'tooLarge')
        throw invalidArea(
          'it takes more memory than is allowed for an area: send one of a lower order, or fewer positions',
        );
      return await read(written, output);
    } finally {
      discard(output);
    }
  }

  remove(): void {
    this.#file?.remove();
  }
}
