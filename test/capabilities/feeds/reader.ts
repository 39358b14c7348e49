/** Reads feeds as a feed reader does. */
import type { TestApp } from '../../core/http/support.ts';

export interface Entry {
  readonly id: string;
  readonly title: string;
  /** The id of the event in the stream. */
  readonly event: string;
  readonly xml: string;
}

export function entriesOf(xml: string): Entry[] {
  return [...xml.matchAll(/<entry>([\s\S]*?)<\/entry>/g)].map(([, entry = '']) => ({
    id: /<id>(.*)<\/id>/.exec(entry)![1]!,
    title: /<title>(.*)<\/title>/.exec(entry)![1]!,
    event: /stream\/\w+\?from=([\d.]+)"/.exec(entry)![1]!,
    xml: entry,
  }));
}

/** The links of the feed itself, by relation. */
export function linksOf(xml: string): Record<string, string> {
  const head = xml.slice(0, xml.indexOf('<entry>') + 1 || undefined);
  const links = [...head.matchAll(/<link rel="(\w+)" href="([^"]*)"/g)];
  return Object.fromEntries(links.map(([, rel, href]) => [rel, href!.replaceAll('&amp;', '&')]));
}

/** All entries of a feed, over all its pages. */
export async function readFeed(app: TestApp, path: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, text } = await app.get(next);
    if (status !== 200) throw new Error(`${next} gave ${status}: ${text}`);
    entries.push(...entriesOf(text));
    next = linksOf(text).next?.replace('http://nearsky.test', '');
  }
  return entries;
}

export const subtitleOf = (xml: string): string => /<subtitle>(.*)<\/subtitle>/.exec(xml)![1]!;
