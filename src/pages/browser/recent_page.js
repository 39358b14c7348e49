/** Recent crossmatches, page by page. */
import { count, time } from './format.js';
import { ask, byId, h, show, showError, showLoading } from './page.js';
import { objectList } from './result_list.js';

const PAGE_SIZE = 50;
const place = byId('recent');
const form = /** @type {HTMLFormElement} */ (byId('window'));
/** Only the answer to the latest choice is shown. */
let asked = 0;

form.addEventListener('change', () => void load());
form.addEventListener('submit', event => event.preventDefault());
void load();

async function load() {
  const mine = ++asked;
  const chosen = new FormData(form);
  const end = new Date();
  const start = new Date(end.getTime() - Number(chosen.get('hours')) * 3_600_000);
  const query = new URLSearchParams({
    start: start.toISOString(),
    end: end.toISOString(),
    time_field: `${chosen.get('time_field')}`,
    page_size: `${PAGE_SIZE}`,
  });
  showLoading(place, 'Loading');
  try {
    const page = await ask(`/api/recent-crossmatches?${query}`);
    if (mine === asked) showPage(page, page.objects);
  } catch (error) {
    if (mine === asked) showError(place, error, load);
  }
}

/** @param {any} page @param {any[]} objects those of this page and of the ones before */
function showPage(page, objects) {
  const { start, end } = page.window;
  if (objects.length === 0) {
    const text = `No crossmatch with a source from ${time(start)} to ${time(end)}. A longer time may have some.`;
    show(place, h('div', { class: 'notice' }, h('p', {}, text)));
    return;
  }
  const more = h('button', { type: 'button', click: () => void next() }, 'Show more');
  const shown = `${count(objects.length)}${page.next_cursor === null ? '' : ', and there are more'}`;
  show(
    place,
    h('p', { class: 'hint' }, `${shown}: from ${time(start)} to ${time(end)}.`),
    objectList(objects, 'Recent crossmatches'),
    page.next_cursor !== null && more,
  );
  const mine = asked;
  const next = async () => {
    more.disabled = true;
    try {
      const query = `cursor=${encodeURIComponent(page.next_cursor)}&page_size=${PAGE_SIZE}`;
      const following = await ask(`/api/recent-crossmatches?${query}`);
      if (mine === asked) showPage(following, [...objects, ...following.objects]);
    } catch (error) {
      if (mine === asked) showError(place, error, () => showPage(page, objects));
    }
  };
}
