/** Reports as LaTeX and as a page, with hostile labels. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { latexText } from '../../../src/capabilities/sample/latex.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { inWorld } from '../crossmatch/world.ts';
import { addSources } from './world.ts';

const test = suite('sample/report_formats');

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</style><style>*{display:none}',
  '&lt;b&gt; & \u0000\u001b\u2028x',
  '\\input{/etc/passwd}',
  '\\end{deluxetable*}\\write18{id}',
  '^^5cinput{x} %not a comment\n\nnew paragraph',
  '[2pt] * # $x_1$ ~ {unbalanced',
  '}} & \\\\ --- ?` !`',
  'Jiří Ångström Łódź α Cen 中文 \ud800',
  'ends in \\',
];

/** What the characters of a printed text are in the source; the others are printed as they are. */
const COMMANDS: Readonly<Record<string, string>> = {
  textbackslash: '\\',
  textasciicircum: '^',
  textasciitilde: '~',
  textless: '<',
  textgreater: '>',
  textbar: '|',
  textasciigrave: '`',
};

/** The text that LaTeX prints for a source without accents and mathematics. Fails on anything else. */
function printed(source: string): string {
  assert.match(source, /^[ -~]*$/);
  let text = '';
  let depth = 0;
  for (const [token, command, symbol] of source.matchAll(/\\([a-z]+)\{\}|\\([{}$&#_%])|./gs)) {
    if (command) {
      assert.ok(COMMANDS[command], `\\${command} in ${source}`);
      text += COMMANDS[command];
    } else if (symbol) text += symbol;
    else if (token === '{') depth++;
    else if (token === '}') {
      depth--;
      assert.ok(depth >= 0, source);
    } else {
      assert.not('\\$&#_%^~'.includes(token), `${token} in ${source}`);
      text += token;
    }
  }
  assert.is(depth, 0, source);
  return text;
}

/** The cells of a table, split at what separates them in LaTeX. */
function cellsOf(latex: string): string[][] {
  const data = /\\startdata\n([\s\S]*)\n\\enddata\n/.exec(latex)![1]!;
  // Only \\ at the end of a line ends a row.
  return data.split(/ \\\\\n/).map(row => row.split(/(?<!\\) & /));
}

test('any text in LaTeX is ASCII on one line, and prints as itself', () => {
  for (const text of HOSTILE) {
    const source = latexText(text);
    assert.match(source, /^[ -~]*$/);
    if (/^[ -~]*$/.test(text)) assert.is(printed(source), text.replaceAll('"', "''"));
    assert.not.match(source, /\\(?:input|write|end)/);
    assert.not.match(source, /^\s*[[*]|--|\^\^|[?!]`/);
  }
  const all = String.fromCharCode(...Array.from({ length: 95 }, (_, i) => 32 + i));
  assert.is(printed(latexText(all)), all.replaceAll('"', "''"));
  assert.is(latexText('Jiří Łódź α 中'), "Ji\\v{r}\\'{i} \\L{}\\'{o}d\\'{z} $\\alpha$ {[}U+4E2D{]}");
  assert.is(latexText('a\u0323b\u0323\u0323\r\n\tc'), '\\d{a}\\d{b}{[}U+0323{]} c');
});

test('LaTeX and a page, for inputs in JSON and for a table: structure, hostile labels, one row an input [Sample]', () =>
  inWorld(async world => {
    const place = { ra: 150, dec: -2 };
    const payload = { phot_g_mean_mag: 18, classprob_dsc_combmod_star: 0.99 };
    const others = Array.from({ length: 200 }, (_, i) => ({
      ra: 150.01 + i / 3000,
      dec: -2.03 + (i % 7) / 100,
      id: BigInt(100 + i),
      payload,
    }));
    await addSources(world, 'gaia_dr3', [{ ...place, dec: -2 + 0.3 / 3600, id: 7n, payload }, ...others]);
    await world.ingest([place]);
    await world.crossmatch();
    const app = await new TestApp(join(world.directory, 'data')).ready();
    try {
      const inputs = HOSTILE.map((label, i) => ({ kind: 'position', ...place, dec: -2 + i / 10, label }));
      const table = `label,ra,dec\n${inputs.map(({ label, ra, dec }) => `"${label.toWellFormed().replaceAll('"', '""')}",${ra},${dec}\n`).join('')}`;
      const sent = (format: string) => [
        () =>
          app.post(`/api/sample?format=${format}`, {
            inputs: inputs.map(each => ({ ...each, label: each.label.toWellFormed() })),
          }),
        () => app.post(`/api/sample?format=${format}`, table, 'text/csv'),
      ];
      for (const request of sent('latex')) {
        const { status, headers, text } = await request();
        assert.is(status, 200, text);
        assert.is(headers.get('Content-Type'), 'application/x-tex');
        assert.is(headers.get('Content-Disposition'), 'attachment; filename="nearsky-sample.tex"');
        const code = text.replace(/^%.*\n/gm, '');
        assert.match(code, /^\\begin\{deluxetable\*\}\{llrrlrr\}\n/);
        assert.match(code, /\n\\end\{deluxetable\*\}\n$/);
        assert.match(code, /^[\n -~]*$/);
        const commands = new Set(code.match(/\\[a-zA-Z]+/g));
        for (const command of ['tablehead', 'startdata', 'enddata', 'tablecomments', 'nodata', 'times'])
          assert.ok(commands.has(`\\${command}`), command);
        assert.not.ok(commands.has('\\input') || commands.has('\\write'));
        assert.match(
          code,
          /\\tablecomments\{Nearest sources of Gaia DR3 within 1 arcsec, found with nearsky \S+ \(journal entry \d+, objects up to /,
        );
        const rows = cellsOf(code);
        assert.is(rows.length, HOSTILE.length);
        for (const [i, cells] of rows.entries()) {
          assert.is(cells.length, 7, cells.join());
          assert.is(cells[0], latexText(HOSTILE[i]!.toWellFormed()));
        }
        assert.equal([rows[0]![4], rows[0]![5]], ['star', '0.300']);
      }
      for (const request of sent('html')) {
        const { status, headers, text } = await request();
        assert.is(status, 200, text);
        assert.is(headers.get('Content-Type'), 'text/html; charset=utf-8');
        assertSafe(text, headers.get('Content-Security-Policy')!);
        assert.is(text.match(/<tr><th scope="row">/g)!.length, 1 + HOSTILE.length);
        assert.is(text.match(/<svg viewBox="0 0 560 \d+" role="img"/g)!.length, 3);
        const order = ['Summary', 'Methods', 'BibTeX', 'Plots', 'Rows'].map(title => text.indexOf(`<h2>${title}</h2>`));
        assert.ok(
          order.every((at, i) => at > (order[i - 1] ?? 0)),
          order.join(),
        );
      }
      for (const [accept, type] of [
        ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html; charset=utf-8'],
        ['application/x-latex', 'application/x-tex'],
        ['text/html;q=0.5, text/csv', 'text/csv; charset=utf-8; header=present'],
        ['*/*', 'application/json'],
      ]) {
        for (const [body, sentType] of [
          [JSON.stringify({ inputs: [{ kind: 'id', diaObjectId: '1' }] }), 'application/json'],
          ['ra,dec\n1,2\n', 'text/csv'],
        ]) {
          const answer = await app.get('/api/sample', {
            method: 'POST',
            body: body!,
            headers: { Accept: accept!, 'Content-Type': sentType! },
          });
          assert.is(answer.headers.get('Content-Type'), type, `${accept} ${sentType}`);
        }
      }
      for (const type of ['application/json', 'text/csv']) {
        const refused = await app.post(
          '/api/sample?format=pdf',
          '{"inputs": [{"kind": "id", "diaObjectId": "1"}]}',
          type,
        );
        assert.is(refused.status, 400);
        assert.match(refused.body.message, /format must be .*latex.*html.*pdf/);
      }
    } finally {
      await app.app.close();
    }
  }));

/** The page loads nothing, has no script, and allows only its own style. */
function assertSafe(text: string, policy: string): void {
  const names = new Set(Array.from(text.matchAll(/<\/?([a-z0-9]+)/g), ([, name]) => name));
  for (const name of ['script', 'img', 'iframe', 'object', 'link', 'a', 'form', 'base', 'foreignObject'])
    assert.not.ok(names.has(name), name);
  assert.not.match(text, /<[^>]*\s(?:on\w+|style|src|href)=/);
  const style = /<style>([\s\S]*?)<\/style>/.exec(text)![1]!;
  assert.not.match(style, /url\(|@import/);
  assert.match(policy, `'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  assert.match(policy, /default-src 'none'.*sandbox$/);
}

test('a page of a long list is bounded, and says how many rows it shows; LaTeX has all', () =>
  inWorld(async world => {
    await addSources(world, 'gaia_dr3', [{ ra: 10, dec: 0, id: 7n, payload: {} }]);
    const app = await new TestApp(join(world.directory, 'data')).ready();
    try {
      const rows = 5001;
      const label = '<'.repeat(200);
      const table = `label,ra,dec\n${Array.from({ length: rows }, (_, i) => `${label},${(i * 0.07) % 360},${(i % 170) - 85}\n`).join('')}`;
      const page = await app.post('/api/sample?format=html', table, 'text/csv');
      assert.is(page.status, 200, page.text);
      assert.match(page.text, '<strong>The first 1,000 of 5,001 rows.</strong>');
      assert.match(page.text, 'One row in 3 is plotted.');
      assert.is(page.text.match(/<tr><th scope="row">/g)!.length, 1001);
      assert.ok(page.text.length < 2e6, `${page.text.length}`);
      assert.is(page.headers.get('X-Row-Count'), `${rows}`);
      const latex = (await app.post('/api/sample?format=latex', table, 'text/csv')).text;
      assert.is(cellsOf(latex).length, rows);
      assert.match(latex, '\\startlongtable\n\\begin{deluxetable*}');
      const none: Json = await app.post('/api/sample?format=html', 'label,ra,dec\nx,,\n', 'text/csv');
      assert.is(none.status, 200);
      assert.match(none.text, '0 positions on the sky');
    } finally {
      await app.app.close();
    }
  }));

test.run();
