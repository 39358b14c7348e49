/** Messages of the three brokers, as files and as the live streams have them. */

import { deflateSync } from 'node:zlib';
import { alertsLink } from '../../../src/capabilities/consume/antares_links.ts';
import { withText } from '../../../src/capabilities/consume/feeds.ts';
import { UnusableMessage } from '../../../src/capabilities/consume/transport.ts';
import { normaliserOf } from '../../../src/capabilities/ingest/brokers.ts';
import type { Normalised, Normaliser } from '../../../src/capabilities/ingest/normalise.ts';
import { normaliseAnnounced } from '../../../src/capabilities/ingest/pittgoogle.ts';
import { parseMessage } from '../../../src/core/base/json_reader.ts';
import type { BrokerName } from '../../../src/core/contract/brokers.ts';
import { locusMessage } from '../../capabilities/consume/antares_server.ts';
import { checkMessage, orRefused, type Target } from '../target.ts';

const NOW_US = 1_790_000_000_000_000;

/** A delivery's values are possible, and its id stands in the text, digit by digit. */
function checkNormalised(normalised: Normalised, text: string): void {
  if (normalised.kind === 'rejected' || normalised.kind === 'skipped') checkMessage(normalised.reason);
  if (normalised.kind !== 'delivery') return;
  const { diaObjectId, position, reliability, eventTimeUs } = normalised.delivery;
  if (diaObjectId < 0n || diaObjectId >= 2n ** 63n) throw new Error(`the id is ${diaObjectId}`);
  if (!text.includes('\\u') && !text.includes(`${diaObjectId}`))
    throw new Error(`the id ${diaObjectId} is not in the message`);
  if (position && !(position.ra >= 0 && position.ra <= 360 && Math.abs(position.dec) <= 90))
    throw new Error(`the position is ${JSON.stringify(position)}`);
  if (reliability !== null && !(reliability >= 0 && reliability <= 1))
    throw new Error(`the reliability is ${reliability}`);
  if (!Number.isSafeInteger(eventTimeUs)) throw new Error(`the event time is ${eventTimeUs}`);
}

/**
 * If `JSON.parse` accepts the text, parsing must give the same result, except for ids, which keep their digits. If
 * `JSON.parse` rejects it and no bare token can be the reason, parsing must reject it, too.
 */
function checkParsing(text: string): void {
  let expected: { value: unknown; ids: Map<string, string> } | undefined;
  try {
    const ids = new Map<string, string>();
    const value = JSON.parse(text, function (this: unknown, key: string, each: unknown, context?: { source?: string }) {
      if (key.endsWith('diaObjectId') && typeof each === 'number' && context?.source) ids.set(key, context.source);
      return each;
    } as (key: string, value: unknown) => unknown);
    expected = { value, ids };
  } catch {
    expected = undefined;
  }
  let parsed: ReturnType<typeof parseMessage> | undefined;
  try {
    parsed = parseMessage(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (!expected) {
    if (parsed && !/NaN|Infinity/.test(text)) throw new Error('parsed what is no JSON');
    return;
  }
  if (!parsed) throw new Error('refused what is JSON');
  checkIds(parsed, text);
}

/** Each numeric id anywhere in the value, exact. */
function checkIds({ value, exactId }: ReturnType<typeof parseMessage>, text: string): void {
  const literals = new Set<string>();
  JSON.parse(text, ((key: string, each: unknown, context?: { source?: string }) => {
    if (key.endsWith('diaObjectId') && typeof each === 'number') literals.add(context!.source!);
    return each;
  }) as (key: string, value: unknown) => unknown);
  const visit = (each: unknown, key: string, depth: number): void => {
    if (depth > 100) return;
    if (key.endsWith('diaObjectId') && (typeof each === 'number' || typeof each === 'string')) {
      const exact = exactId(each);
      // A repeated key's last value counts, so not every literal is met; but what is met is a literal, or was a text.
      if (typeof exact === 'number' && !literals.has(`${exact}`))
        throw new Error(`${exact} is given for an id, a number`);
      if (typeof each === 'number' && !literals.has(String(exact))) throw new Error(`${exact} is no id of the message`);
    } else if (typeof each === 'object' && each !== null) {
      for (const [name, member] of Object.entries(each)) visit(member, name, depth + 1);
    }
  };
  visit(value, '', 0);
}

function brokerTarget(name: BrokerName, ...readers: readonly Normaliser[]): Target {
  const all = [normaliserOf(name, 0.5), ...readers];
  return {
    name,
    isText: true,
    inputs: 4000,
    start: async () => ({
      run(input) {
        const text = input.toString();
        for (const normalise of all) checkNormalised(normalise(text, NOW_US), text);
        checkNormalised(
          withText(input, each => all[0]!(each, NOW_US)),
          text,
        );
        checkParsing(text);
      },
    }),
  };
}

/** The damage is inside the BSON, or inside the compressed data. */
const antaresLocus: Target = {
  name: 'antares_locus',
  isText: false,
  inputs: 2000,
  wrap: (bytes, mutator) => (mutator.below(4) === 0 ? bytes : deflateSync(bytes)),
  start: async () => ({
    run: async input => {
      const link = await orRefused(() => alertsLink(input), UnusableMessage);
      if (link !== undefined && typeof link !== 'string') throw new Error(`the link is ${link}`);
      // A mutated message may be whole; a good one must be read.
      if (input.equals(GOOD_LOCUS) && link !== 'https://h/a') throw new Error('a good message is refused');
    },
  }),
};

const GOOD_LOCUS = locusMessage('ANT1', 'https://h/a');

export const targets: readonly Target[] = [
  brokerTarget('lasair'),
  brokerTarget('antares'),
  brokerTarget('pittgoogle', (text, nowUs) => normaliseAnnounced(text, undefined, nowUs, 0)),
  antaresLocus,
];
