/** Elections of duties by Kafka itself. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { KafkaElection } from '../../../src/core/cluster/election.ts';
import { KafkaServer, whyNoKafka } from '../../capabilities/consume/kafka_server.ts';
import { eventually, root } from '../../directory.ts';
import { send } from '../../e2e/support.ts';
import { needs } from '../../needs.ts';
import { runtimeArgs } from '../../runtime.ts';

const test = suite('cluster/election');
const real = needs(test, whyNoKafka);
const kafka = KafkaServer.of(test);
const TOPIC = 'archive';
test.before(async () => {
  if (!whyNoKafka) await kafka.createTopic(TOPIC);
});

const candidate = (duty: string) =>
  new KafkaElection({ servers: [kafka.server], topic: TOPIC, tls: false, log: () => {} }, duty);
const elected = (candidates: readonly KafkaElection[]) =>
  eventually('one is elected', async () => {
    const all = candidates.filter(({ isElected }) => isElected);
    assert.ok(all.length < 2);
    return all[0];
  });

real(
  'one candidate is elected for each duty, and stays when others come; when it leaves or resigns, another one is',
  async () => {
    const first = candidate('work');
    assert.is(await elected([first]), first);
    const others = [candidate('work'), candidate('work')];
    const another = candidate('other work');
    await elected([another]);
    assert.ok(first.isElected);
    assert.not.ok(others.some(({ isElected }) => isElected));
    await first.close();
    const second = await elected(others);
    second.resign();
    const third = await elected(others.filter(one => one !== second));
    await Promise.all([...others, another].map(one => one.close()));
    assert.not.ok(third.isElected);
  },
);

/** A candidate as a separate process, and whether it has printed that it is elected. */
function candidateProcess() {
  const args = [...runtimeArgs, join(root, 'test/core/cluster/candidate.ts'), kafka.server, TOPIC, 'paused work'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout!.on('data', data => (said += data));
  return { child, said: () => said.trim().split('\n').at(-1) };
}

real('a candidate that is paused is replaced, and knows it when it goes on; so is one that is killed', async () => {
  const processes = [candidateProcess(), candidateProcess()];
  const [first] = await eventually('one is elected', async () => {
    const all = processes.filter(({ said }) => said() === 'true');
    return all.length > 0 ? all : undefined;
  });
  const second = processes.find(one => one !== first)!;
  send(first!.child, 'SIGSTOP');
  await eventually('the other one is elected', async () => second.said() === 'true' || undefined);
  send(first!.child, 'SIGCONT');
  await eventually('the first one knows', async () => first!.said() === 'false' || undefined);
  assert.is(second.said(), 'true');
  send(second.child, 'SIGKILL');
  await eventually('the first one is elected again', async () => first!.said() === 'true' || undefined);
  send(first!.child, 'SIGKILL');
});

test.run();
