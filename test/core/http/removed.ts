/** A service with objects at (150, 2), of which a third is removed. */
import { crossmatched, delivery, match, NOW_US, searched, type World } from './support.ts';

const COUNT = 60;
export const ids = Array.from({ length: COUNT }, (_, i) => BigInt(i + 1));
const isWrong = (id: bigint) => id % 3n === 1n;
export const right = ids.filter(id => !isWrong(id));
export const wrong = ids.filter(isWrong);

export const fillWith = (some: readonly bigint[]) => async (world: World) => {
  for (const id of some) {
    await world.writer.ingest([delivery(id, { reliability: Number(id) / COUNT })], NOW_US + Number(id));
    if (id % 2n === 0n) await crossmatched(world, id, searched('gaia_dr3'), [match('gaia_dr3', `${id % 7n}`)]);
  }
};
