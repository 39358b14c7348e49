/**
 * Readers of the stream of objects, each with an area, of four clients. When the input ends with the number of objects in
 * each area, waits until each has so many, and prints their ids. Usage: area_readers.ts URL AREA…
 */
import { text } from 'node:stream/consumers';
import { request } from 'undici';
import { EventReader } from '../../core/http/event_reader.ts';
import { eventually } from '../../directory.ts';

const [url = '', ...areas] = process.argv.slice(2);

/** Reads for as long as the process lives; throws if the stream is refused or ends. */
async function read(reader: EventReader, area: string, i: number): Promise<never> {
  const query = new URLSearchParams({ from: 'beginning', area });
  // One client may have half of the streams that follow an area.
  const headers = { 'X-Forwarded-For': `192.0.2.${i % 4}` };
  const { statusCode, body } = await request(`${url}/api/stream/objects?${query}`, { headers });
  if (statusCode !== 200) throw new Error(`${area}: ${statusCode} ${await body.text()}`);
  for await (const chunk of body) reader.take(chunk);
  throw new Error(`${area}: the stream has ended`);
}

const readers = areas.map((area, i) => {
  const reader = new EventReader();
  void read(reader, area, i);
  return reader;
});
const counts: number[] = JSON.parse((await text(process.stdin)) || process.exit(1));
await eventually('all have all', async () => readers.every((each, i) => each.events.length >= counts[i]!) || undefined);
const ids = readers.map(({ texts }) => texts.map(data => /"diaObjectId":(\d+)/.exec(data)![1]));
process.stdout.write(JSON.stringify(ids), () => process.exit());
