/**
 * A member of a consumer group, with the options in its argument. It acknowledges one batch, reports that, and then
 * waits to be killed.
 */
import { connectKafka, type KafkaOptions } from '../../../src/capabilities/consume/kafka.ts';

const options: Omit<KafkaOptions, 'log'> = JSON.parse(process.argv[2]!);
const connection = await connectKafka({ ...options, log: () => {} }, new AbortController().signal);
const messages = await connection.receive();
await connection.acknowledge(messages);
console.log(messages.map(({ bytes }) => Buffer.from(bytes).toString()).join(), 'acknowledged');
setInterval(() => {}, 1000);
