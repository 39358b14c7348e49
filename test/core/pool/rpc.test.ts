/** Requests and replies over a port, whatever order they come back in. */
import { MessageChannel } from 'node:worker_threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Caller, type Numbered, type Reply, reply } from '../../../src/core/pool/rpc.ts';

const test = suite('pool/rpc');

interface Request {
  readonly what: string;
}

type Work = (what: string) => unknown;

async function withCaller(work: Work, use: (caller: Caller<Request, string>) => Promise<void>): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const caller = new Caller<Request, string>(
    request => port1.postMessage(request),
    failure => new RangeError(failure),
  );
  port1.on('message', (answered: Reply<string>) => caller.hear(answered));
  port2.on('message', (request: Request & Numbered) => {
    void reply<string>(
      request,
      () => work(request.what),
      answered => port2.postMessage(answered),
    );
  });
  try {
    await use(caller);
  } finally {
    port1.close();
    port2.close();
  }
}

test('each reply goes to its request, also where later ones come first', () => {
  const first = Promise.withResolvers<string>();
  const work: Work = what => {
    if (what === 'first') return first.promise;
    setImmediate(() => first.resolve('answer of the first'));
    return { what, id: 2n ** 63n };
  };
  return withCaller(work, async caller => {
    const order: string[] = [];
    const asked = ['first', 'second'].map(async what => {
      const answer = await caller.ask({ what });
      order.push(what);
      return answer;
    });
    assert.equal(await Promise.all(asked), ['answer of the first', { what: 'second', id: 2n ** 63n }]);
    assert.equal(order, ['second', 'first']);
  });
});

test('what the work throws, and an answer that cannot be sent, fail their request alone', () => {
  const work: Work = what => {
    if (what === 'throw') throw new Error('no such thing');
    return what === 'function' ? () => {} : what;
  };
  return withCaller(work, async caller => {
    const errors = await Promise.all(['throw', 'function'].map(what => caller.ask({ what }).catch(error => error)));
    assert.ok(errors.every(error => error instanceof RangeError));
    assert.is(`${errors[0]}`, 'RangeError: no such thing');
    assert.match(`${errors[1]}`, /could not be cloned/);
    assert.is(await caller.ask({ what: 'fine' }), 'fine');
  });
});

test('a reply that is late is passed over', () => {
  const answer = Promise.withResolvers<string>();
  // The request may arrive after it.
  answer.promise.catch(() => {});
  return withCaller(
    what => (what === 'late' ? answer.promise : what),
    async caller => {
      assert.is(await caller.askWithin({ what: 'late' }, 1), undefined);
      answer.reject(new Error('too late'));
      assert.equal(await caller.askWithin({ what: 'next' }, 60_000), { answer: 'next' });
    },
  );
});

test('where the other side has ended, requests in progress and later ones fail', () =>
  withCaller(
    () => new Promise(() => {}),
    async caller => {
      const asked = caller.ask({ what: 'in progress' }).catch(error => error);
      const ended = new Error('the thread has ended');
      caller.end(ended);
      assert.is(await asked, ended);
      assert.is(await caller.ask({ what: 'later' }).catch(error => error), ended);
      assert.is(await caller.askWithin({ what: 'later' }, 60_000).catch(error => error), ended);
    },
  ));

test.run();
