/** Writes a feed as an Atom document (RFC 4287), with links to its other pages (RFC 5005, section 3). */
import { escapeXml } from '@nearsky/astrotables';
import { formatTime } from '../../core/base/times.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import type { EventKind } from '../streams/event_test.ts';
import { idOfName, messageId } from '../streams/message.ts';
import { eventId } from '../streams/stream_events.ts';
import { wordsOf } from './event_words.ts';
import { type FeedEvent, type FeedEvents, isStart } from './feed_query.ts';

export const ATOM_TYPE = 'application/atom+xml; charset=utf-8';

export interface AtomFeed extends FeedEvents {
  readonly stream: EventKind;
  readonly title: string;
  /** Distinguishes the feed from all others of any service. */
  readonly name: string;
  /** The page of the service that shows the same, as a path. */
  readonly page: string;
  readonly limit: number;
  /** Whether the feed begins with the newest event. */
  readonly isFirst: boolean;
  /** The scheme and host of the service. */
  readonly base: string;
  /** The address of this document, or of the one up to another event; `first` has the newest. */
  readonly address: (page?: { readonly until: string } | 'first') => string;
  readonly catalogs: Catalogs;
  readonly hasPages: boolean;
  /** Whether imported objects have matches here. */
  readonly imported: boolean;
  readonly version: string;
}

export function writeFeed(feed: AtomFeed): string {
  const { title, name, base, page, isFirst, address, hasPages, version } = feed;
  const events = feed.events.slice(0, feed.limit);
  const next = events.length < feed.events.length ? events.at(-1)!.begin : feed.examinedTo;
  // A feed without entries has no time of its own, and one that changed would look like news.
  const updatedUs = events.reduce((latest, { timeUs }) => Math.max(latest, timeUs), 0);
  return `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<title>${escapeXml(title)}</title>
<subtitle>${escapeXml(subtitleOf(feed, events.length))}</subtitle>
<id>${urn(idOfName(`feed/${name}`))}</id>
<updated>${formatTime(updatedUs)}</updated>
<author><name>nearsky</name></author>
<generator version="${escapeXml(version)}">nearsky</generator>
${link('self', address(), 'application/atom+xml')}${hasPages ? link('alternate', `${base}${page}`, 'text/html') : ''}${
  isFirst ? '' : link('first', address('first'), 'application/atom+xml')
}${isStart(next) ? '' : link('next', address({ until: eventId(next) }), 'application/atom+xml')}${events
  .map(event => entryOf(event, feed))
  .join('')}</feed>
`;
}

/** Says which events the feed has, and which are left out. */
function subtitleOf(
  { stream, limit, isFirst, imported, examinedTo, unplaced, events }: AtomFeed,
  shown: number,
): string {
  const what =
    stream === 'matches'
      ? 'Each match of each crossmatch'
      : 'Each change of an object: stored, crossmatched or removed';
  const order = isFirst ? `, newest first; the newest ${limit} at most` : `, newest first; ${limit} at most`;
  const isCut = shown === events.length && shown < limit && !isStart(examinedTo);
  return [
    `${what}${order}. The link "next" leads to older ones.`,
    ...(isCut
      ? [`Changes up to event ${eventId(examinedTo)} of the journal were not examined: they are behind "next".`]
      : []),
    ...(imported ? [] : ['Imported matches are left out.']),
    ...(unplaced > 0
      ? [`${unplaced} ${unplaced === 1 ? 'name of the sample has' : 'names of the sample have'} no position now.`]
      : []),
    'Removed objects lose their earlier entries.',
  ].join(' ');
}

function entryOf({ message, timeUs, end }: FeedEvent, { stream, base, catalogs, hasPages }: AtomFeed): string {
  const { title, content, category } = wordsOf(stream, message, catalogs);
  const time = formatTime(timeUs);
  const { diaObjectId } = message;
  const json = `${base}/api/objects/${diaObjectId}`;
  const page = hasPages ? link('alternate', `${base}/objects/${diaObjectId}`, 'text/html') : '';
  return `<entry>
<title>${escapeXml(title)}</title>
<id>${urn(messageId(message))}</id>
<published>${time}</published>
<updated>${time}</updated>
${page}${link(hasPages ? 'related' : 'alternate', json, 'application/json')}${link('related', `${base}/api/stream/${stream}?from=${eventId(end)}`, 'text/event-stream')}<category term="${escapeXml(category)}"/>
<content type="html">${escapeXml(content)}</content>
</entry>
`;
}

const link = (rel: string, href: string, type: string) =>
  `<link rel="${rel}" href="${escapeXml(href)}" type="${type}"/>\n`;

function urn(id: Buffer): string {
  const hex = id.toString('hex');
  return `urn:uuid:${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')}`;
}
