import { type Normalised, toDelivery, withObject } from './normalise.ts';
import { mjdTaiToUtcUs, utcTextToUs } from './time.ts';

/**
 * A Lasair message: one object of a filter's columns; declination is `decl`. Event time is `firstDiaSourceMjdTai`, else the text
 * `UTC`, else the time of receipt.
 */
export function normaliseLasair(text: string, receivedAtUs: number): Normalised {
  return withObject(text, (message, exactId) =>
    toDelivery({
      broker: 'lasair',
      diaObjectId: exactId(message.diaObjectId),
      ra: message.ra,
      dec: message.decl,
      reliability: message.latestR,
      eventTimeUs: mjdTaiToUtcUs(message.firstDiaSourceMjdTai) ?? utcTextToUs(message.UTC) ?? receivedAtUs,
    }),
  );
}
