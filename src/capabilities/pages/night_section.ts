import { brokerDefinition, isBroker } from '../../core/contract/brokers.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import type { NightActivity } from '../../core/service/night_activity.ts';
import type { BrokerNight, CatalogNight } from '../../core/store/nights.ts';
import { type Html, html } from './html.ts';
import { CATALOG_WORDS } from './words.ts';

/** The counts of a night, as the operator's `nearsky report` has them. */
export function nightSection(activity: NightActivity, known: Catalogs): Html {
  const { night, brokers, imported, removed, crossmatched, catalogs, is_over } = activity;
  const words = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${count.toLocaleString('en')} ${name.replaceAll('_', ' ')}`)
      .join(', ');
  const row = (name: string, text: string) => html`<div><dt>${name}</dt><dd>${text || 'none'}</dd></div>`;
  const broker = ([name, { rejected_by_reason: reasons, ...counts }]: [string, BrokerNight]) =>
    row(titleOf(name), `${words(counts)}${counts.rejected > 0 ? ` (${words(reasons)})` : ''}`);
  const wordOf = (outcome: string) => (CATALOG_WORDS[outcome]?.word ?? outcome).toLowerCase();
  const catalog = ([name, { matches, outcomes }]: [string, CatalogNight]) => {
    const inWords = Object.entries(outcomes).map(([outcome, count]) => [wordOf(outcome), count]);
    return row(known.get(name)?.release ?? name, words({ matches, ...Object.fromEntries(inWords) }));
  };
  return html`<section aria-labelledby="night"><h2 id="night">The night of ${night}${!is_over && ', so far'}</h2>
<dl class="properties wide">
${Object.entries(brokers).map(broker)}
${Object.keys(brokers).length === 0 && row('Messages', '')}
${imported > 0 && row('Imported', words({ objects: imported }))}
${removed.objects > 0 && row('Removed', words({ objects: removed.objects }))}
${row('Crossmatched', words({ objects: crossmatched.objects, 'of them again': crossmatched.again }))}
${Object.entries(catalogs).map(catalog)}
</dl>
<p class="hint">A night lasts from noon to noon UTC, and has the date of its evening in Chile. Whoever runs the service has the whole report: <code>nearsky report</code>.</p></section>`;
}

const titleOf = (broker: string) => (isBroker(broker) ? brokerDefinition(broker).title : broker);
