/** A catalog that is added with a description. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withStars } from '../../core/http/added_catalog.ts';

const test = suite('pages/added_catalog');

test('pages', () =>
  withStars(async app => {
    const page = (await app.get('/catalogs')).text;
    assert.match(page, /<h2 id="stars">.*Variable &lt;stars&gt;/);
    assert.match(page, /Star &amp; Star 2026/);
    const style = /href="(\/assets\/\w+\/style\.css)"/.exec(page)![1]!;
    assert.match((await app.get(style)).text, /\.stars \{\s*--catalog: light-dark\(#123456, #abcdef\)/);
    assert.match((await app.get('/recent')).text, /<option value="stars">/);
  }));

test.run();
