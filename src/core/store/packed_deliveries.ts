/** Deliveries of one broker as bytes, which cross from a thread at a fraction of the cost of objects. */
import type { Delivery } from './types.ts';

/**
 * Columns of eight bytes per entry: id, ra, dec, reliability, event time and, unless no entry has one, position error.
 * NaN stands for null.
 */
const rowBytes = (haveErrors: boolean) => (haveErrors ? 48 : 40);

/** @param haveErrors false only if no delivery has a position error */
export function packDeliveries(deliveries: readonly Delivery[], haveErrors = true): ArrayBuffer {
  const packed = new ArrayBuffer(rowBytes(haveErrors) * deliveries.length);
  const { bytes, id, ra, dec, reliability, eventTimeUs, error } = columns(packed, haveErrors);
  deliveries.forEach((delivery, i) => {
    id[i] = delivery.diaObjectId;
    ra[i] = delivery.position?.ra ?? Number.NaN;
    dec[i] = delivery.position?.dec ?? Number.NaN;
    reliability[i] = delivery.reliability ?? Number.NaN;
    eventTimeUs[i] = delivery.eventTimeUs;
    if (error) error[i] = delivery.positionErrorMas ?? Number.NaN;
  });
  return bytes;
}

export function unpackDeliveries(packed: ArrayBuffer, broker: string, haveErrors = true): Delivery[] {
  const { id, ra, dec, reliability, eventTimeUs, error } = columns(packed, haveErrors);
  return Array.from(id, (diaObjectId, i) => ({
    diaObjectId,
    position: Number.isNaN(ra[i]) ? null : { ra: ra[i]!, dec: dec[i]! },
    reliability: Number.isNaN(reliability[i]) ? null : reliability[i]!,
    ...(error && !Number.isNaN(error[i]) && { positionErrorMas: error[i]! }),
    eventTimeUs: eventTimeUs[i]!,
    broker,
  }));
}

function columns(bytes: ArrayBuffer, haveErrors: boolean) {
  const length = bytes.byteLength / rowBytes(haveErrors);
  const column = (at: number) => new Float64Array(bytes, 8 * length * at, length);
  return {
    bytes,
    id: new BigInt64Array(bytes, 0, length),
    ra: column(1),
    dec: column(2),
    reliability: column(3),
    eventTimeUs: column(4),
    error: haveErrors ? column(5) : undefined,
  };
}
