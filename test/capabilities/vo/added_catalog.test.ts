/** A catalog that is added with a description. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ID, known, replaceMatches, withStars } from '../../core/http/added_catalog.ts';
import { withApp } from '../../core/http/support.ts';
import { rowsOf } from '../../core/tables/read_votable.ts';

const test = suite('vo/added_catalog');

test('cones, capabilities and coverage maps', () =>
  withStars(async app => {
    const votable = (await app.get('/vo/scs/stars?RA=150&DEC=2&SR=0.001&VERB=3')).text;
    assert.match(votable, /name="id_2" [^>]*datatype="long"/);
    assert.match(votable, /<TD>7\/313637935709683761<\/TD><TD>7<\/TD>/);
    assert.match((await app.get('/vo/scs?RA=150&DEC=2&SR=0.001&VERB=3')).text, /name="stars_outcome"/);
    assert.match((await app.get('/vo/capabilities')).text, /Sources of Variable &lt;stars&gt;/);
    assert.is((await app.get('/vo/moc/stars.json')).status, 200);
    assert.is((await app.get('/vo/scs/planets?RA=150&DEC=2&SR=0.001')).status, 404);
  }));

test('where the next release has integer ids, its matches replace older ones with other ids', () =>
  withApp(replaceMatches, async app => {
    await known(app);
    const rows = rowsOf((await app.get('/vo/scs/stars?RA=150&DEC=2&SR=0.001&VERB=3')).text);
    assert.equal(
      rows.map(row => [row.id, row.id_2, row.catalog_release]),
      [[`7/${ID}`, '7', 'Variable <stars>']],
    );
  }));

test.run();
