/** `nearsky report`: which nights it takes. report/nights.campaign.test.ts tests what it says. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { start } from '../../commands/in_process.ts';
import { withDirectory } from '../../directory.ts';

const test = suite('report/report_command');

test('a night must be a date, and so must its end', () =>
  withDirectory(async data => {
    await openStore(data, 'write').close();
    const report = (night: string) => start(['report', '--night', night, '--data', data]).finished;
    for (const night of ['2026-02-30', '9999-12-31']) {
      const { code, stderr } = await report(night);
      assert.is(code, 2, stderr);
      assert.match(stderr, `--night must be now, or a date such as 2026-11-26 (${night} was given)`);
    }
    assert.match((await report('9999-12-30')).stdout, /^Night of 9999-12-30, .* to 9999-12-31T12:00:00/m);
  }));

test.run();
