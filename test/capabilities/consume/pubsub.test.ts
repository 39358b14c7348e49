/** The Pub/Sub connection against a server that speaks the documented REST interface. */
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { feedOf } from '../../../src/capabilities/consume/feeds.ts';
import {
  connectPubSub,
  googleAuthorization,
  type PubSubMessage,
  type PubSubOptions,
} from '../../../src/capabilities/consume/pubsub.ts';
import type { Connection } from '../../../src/capabilities/consume/transport.ts';
import { configOf } from '../../core/http/support.ts';
import { failure } from '../../core/store/support.ts';
import { withDirectory } from '../../directory.ts';
import { PubSubServer, type PubSubServerOptions, SUBSCRIPTION } from './pubsub_server.ts';

const test = suite('consume/pubsub');

const limits = { messages: 1000, bytes: 2 ** 20, seconds: 1 };
const data = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ data: Buffer.from(`m${from + i}`) }));
const texts = (messages: readonly PubSubMessage[]) => messages.map(({ bytes }) => Buffer.from(bytes).toString());

async function withServer<T>(
  options: PubSubServerOptions,
  use: (
    server: PubSubServer,
    connect: (more?: Partial<PubSubOptions>, signal?: AbortSignal) => Promise<Connection<PubSubMessage>>,
  ) => Promise<T>,
): Promise<T> {
  const server = await PubSubServer.start(options);
  const connect = (more: Partial<PubSubOptions> = {}, signal = new AbortController().signal) => {
    const authorization = async () => ({});
    return connectPubSub({ endpoint: server.url, subscription: SUBSCRIPTION, authorization, limits, ...more }, signal);
  };
  try {
    return await use(server, connect);
  } finally {
    await server.close();
  }
}

test('what is acknowledged is gone, what is not comes again', () =>
  withServer({ ackDeadlineMs: 100 }, async (server, connect) => {
    const attributes = { diaObject_diaObjectId: '170055002004914266' };
    const ids = server.publish([...data(0, 5), { data: Buffer.from([0xff, 0]), attributes }]);
    const connection = await connect();
    const messages = await connection.receive();
    assert.equal(
      messages.map(({ origin }) => origin),
      ids.map(message_id => ({ subscription: SUBSCRIPTION, message_id })),
    );
    assert.equal(texts(messages.slice(0, 5)), ['m0', 'm1', 'm2', 'm3', 'm4']);
    assert.equal([...messages[5]!.bytes], [0xff, 0]);
    assert.equal(messages[5]!.attributes, attributes);
    assert.is(server.acknowledged.size, 0);
    await connection.acknowledge(messages.slice(0, 4));
    assert.equal([...server.acknowledged], ids.slice(0, 4));
    const again = await connection.receive();
    assert.equal(texts(again.slice(0, 1)), ['m4']);
    await connection.acknowledge(again);
    assert.is(server.waiting, 0);
  }));

test('waits for messages; a signal ends the waiting, whatever the server does', () =>
  withServer({ holdMs: 60_000 }, async (server, connect) => {
    setTimeout(() => server.publish(data(0, 1)), 200);
    assert.equal(texts(await (await connect()).receive()), ['m0']);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 200);
    assert.equal(await (await connect({}, stop.signal)).receive(), []);
  }));

test('asks for no more than a batch, and for less where the answer would be too long', () =>
  withServer({ ackDeadlineMs: 0 }, async (server, connect) => {
    server.publish(data(0, 10));
    const few = await connect({ limits: { ...limits, messages: 3 } });
    assert.is((await few.receive()).length, 3);
    assert.equal(server.pulls, [3]);
    // In base64 24 MB: more than the 16 MiB that are read of an answer.
    server.publish(Array.from({ length: 6 }, () => ({ data: Buffer.alloc(3_000_000) })));
    const connection = await connect({ limits: { ...limits, messages: 16 } });
    const messages = await connection.receive();
    assert.equal(server.pulls, [3, 16, 8]);
    assert.is(messages.length, 8);
  }));

test('what the service refuses is an error that says why; no connection before the first answer', async () => {
  let refused = '';
  for (const [fault, expected] of [
    [403, /answered 403 to (pull|acknowledge) projects\/a-project.*made to fail/],
    [503, /answered 503/],
    ['drop', /Cannot reach Pub\/Sub at http:\/\/127\.0\.0\.1:/],
    ['truncate', /./],
  ] as const)
    await withServer(
      { fault: ({ url }) => (url.pathname.endsWith(refused) ? fault : undefined) },
      async (server, connect) => {
        server.publish(data(0, 3));
        refused = 'pull';
        assert.match((await failure(connect)).message, expected);
        refused = 'acknowledge';
        const connection = await connect();
        assert.match((await failure(() => connection.acknowledge([]))).message, expected);
        assert.is(server.waiting, 3);
      },
    );
});

/** The key of a service account, as Google gives it out, in a file. */
function writeKey(file: string): string {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const account = { client_email: 'reader@a-project.iam.gserviceaccount.com', client_id: '1', private_key_id: 'key-1' };
  writeFileSync(
    file,
    JSON.stringify({ type: 'service_account', project_id: 'a-project', private_key: privateKey, ...account }),
  );
  return publicKey;
}

test('with the key of a service account, by a token that it signs for this service', () =>
  withDirectory(async directory => {
    const file = join(directory, 'key.json');
    const publicKey = writeKey(file);
    const tokens: string[] = [];
    const allows = ({ authorization }: { authorization?: string | undefined }) => {
      const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1] ?? '';
      tokens.push(token);
      const [head, body, signature] = token.split('.') as [string, string, string];
      return verify(
        'RSA-SHA256',
        Buffer.from(`${head}.${body}`),
        createPublicKey(publicKey),
        Buffer.from(signature, 'base64url'),
      );
    };
    const before = process.env.GOOGLE_APPLICATION_CREDENTIALS;
    process.env.GOOGLE_APPLICATION_CREDENTIALS = file;
    try {
      await withServer({ allows }, async (server, connect) => {
        server.publish(data(0, 2));
        const authorization = await googleAuthorization('https://pubsub.googleapis.com');
        process.env.GOOGLE_APPLICATION_CREDENTIALS = join(directory, 'none.json');
        const without = await failure(await googleAuthorization('https://pubsub.googleapis.com'));
        assert.match(
          without.message,
          /^Cannot use the credentials of Google in .*none\.json \(GOOGLE_APPLICATION_CRED/,
        );
        process.env.GOOGLE_APPLICATION_CREDENTIALS = file;
        const connection = await connect({ authorization });
        await connection.acknowledge(await connection.receive());
        assert.is(server.waiting, 0);
        server.publish(data(2, 3));
        const settings = { PUBSUB_ENDPOINT: server.url, PITTGOOGLE_SUBSCRIPTION: SUBSCRIPTION };
        const feed = feedOf('pittgoogle', configOf(directory, settings), {}, () => {});
        const there = await feed.connect(new AbortController().signal);
        await there.acknowledge(await there.receive());
        assert.is(server.waiting, 0, 'the endpoint is that of the setting');
      });
    } finally {
      if (before === undefined) delete process.env.GOOGLE_APPLICATION_CREDENTIALS;
      else process.env.GOOGLE_APPLICATION_CREDENTIALS = before;
    }
    const claims = JSON.parse(Buffer.from(tokens[0]!.split('.')[1]!, 'base64url').toString());
    assert.is(claims.aud, 'https://pubsub.googleapis.com/');
    assert.equal([claims.iss, claims.sub], Array(2).fill('reader@a-project.iam.gserviceaccount.com'));
    assert.ok(claims.exp * 1000 > Date.now());
  }));

test.run();
