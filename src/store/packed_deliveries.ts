/** Deliveries of one broker as bytes, which cross from a thread at a fraction of the cost of objects. */
import type { Delivery } from './types.ts';

/** Five columns of eight bytes per entry: id, ra, dec, reliability, event time; NaN stands for null. */
const ROW_BYTES = 40;

export function packDeliveries(deliveries: readonly Delivery[]): ArrayBuffer {
  const { bytes, id, ra, dec, reliability, eventTimeUs } = columns(new ArrayBuffer(ROW_BYTES * deliveries.length));
  deliveries.forEach((delivery, i) => {
    id[i] = delivery.diaObjectId;
    ra[i] = delivery.position?.ra ?? Number.NaN;
    dec[i] = delivery.position?.dec ?? Number.NaN;
    reliability[i] = delivery.reliability ?? Number.NaN;
    eventTimeUs[i] = delivery.eventTimeUs;
  });
  return bytes;
}

export function unpackDeliveries(packed: ArrayBuffer, broker: string): Delivery[] {
  const { id, ra, dec, reliability, eventTimeUs } = columns(packed);
  return Array.from(id, (diaObjectId, i) => ({
    diaObjectId,
    position: Number.isNaN(ra[i]) ? null : { ra: ra[i]!, dec: dec[i]! },
    reliability: Number.isNaN(reliability[i]) ? null : reliability[i]!,
    eventTimeUs: eventTimeUs[i]!,
    broker,
  }));
}

function columns(bytes: ArrayBuffer) {
  const length = bytes.byteLength / ROW_BYTES;
  const [ra, dec, reliability, eventTimeUs] = [1, 2, 3, 4].map(
    column => new Float64Array(bytes, 8 * length * column, length),
  ) as [Float64Array, Float64Array, Float64Array, Float64Array];
  return { bytes, id: new BigInt64Array(bytes, 0, length), ra, dec, reliability, eventTimeUs };
}
