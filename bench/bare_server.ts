/**
 * A bare node:http server that answers every request with this many bytes, including headers. It shows the best that
 * the runtime can do. `node bare_server.ts BYTES`
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The approximate length of the server's own headers, bytes. */
const HEAD_BYTES = 156;
const body = Buffer.alloc(Math.max(0, Number(process.argv[2]) - HEAD_BYTES), ' ');
const server = createServer((_, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
