// The command `pnpm bench attacks`, which attacks a gateway and counts what holds.
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { HTTP_ATTACKS } from "../../../gateway/src/attacks/http-attacks.ts";
import { sendRaw } from "../../../gateway/src/attacks/raw-http.ts";
import { formatTable } from "../../../gateway/src/terminal/table.ts";
import { startGateway } from "../gateway/gateway-process.ts";
import { silentAtTheDoor } from "./silent-at-the-door.ts";

export const description =
  "sends a gateway what hostile programs and pages send, and lets clients read nothing of their replies";

const USAGE = `Usage: pnpm bench attacks

Exit code 0, 1 where something does not hold, 2 for wrong options.
`;

const MB = 1e6;
/** What one client that never reads may cost. */
const GOAL_MB = 1;
const CLIENTS = 40;
const REPLY_BYTES = 3.5 * MB;
/** Of a reply at the door, which no limit ends so soon. */
const LARGE_REPLY_BYTES = 50 * MB;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    process.stderr.write(USAGE);
    return args[0] === "--help" ? 0 : 2;
  }
  const attacked = await attackByHttp();
  const unread = await readNothing();
  const large = await startModel(LARGE_REPLY_BYTES);
  const silent = await silentAtTheDoor(CLIENTS, large);
  large.close();
  process.stdout.write(
    `${formatTable(
      ["attack", "tried", "held"],
      [
        ["HTTP, from programs and pages", String(HTTP_ATTACKS.length), String(attacked.held)],
        ["clients that never read their reply", String(CLIENTS), String(unread.held)],
      ],
    )}\n\n`,
  );
  for (const name of attacked.fell) process.stdout.write(`did not hold: ${name}\n`);
  process.stdout.write(
    `A client that never reads a reply of ${REPLY_BYTES / MB} MB costs ${unread.costMB.toFixed(2)} MB more than one that does (goal: ${GOAL_MB}).\n`,
  );
  process.stdout.write(
    `A client at the door that never reads a reply of ${LARGE_REPLY_BYTES / MB} MB costs ${silent.costMB.toFixed(2)} MB (goal: ${GOAL_MB}); its model server wrote ${silent.takenMB.toFixed(2)} MB, its own system's buffer included.
`,
  );
  const costs = [unread.costMB, silent.costMB];
  return attacked.fell.length === 0 && costs.every((each) => each <= GOAL_MB) ? 0 : 1;
}

async function attackByHttp(): Promise<{ held: number; fell: string[] }> {
  const limits = { bodyBytes: 65_536 };
  const gateway = await startGateway({ config: { gateway: { limits } } });
  const port = Number(new URL(gateway.url).port);
  const fell: string[] = [];
  for (const { name, bytes, held } of HTTP_ATTACKS) {
    const { statuses } = await sendRaw(port, bytes(port));
    const came = statuses.length === 0 ? (["closed"] as const) : statuses;
    if (came.length !== 1 || !held.includes(came[0]!)) fell.push(`${name} (${came.join(" ")})`);
  }
  const isAlive = (await fetch(`${gateway.url}/healthz`)).status === 200;
  await gateway.stop();
  return { held: isAlive ? HTTP_ATTACKS.length - fell.length : 0, fell };
}

/** What they cost beyond clients that read theirs, each in a process of its own. */
async function readNothing(): Promise<{ held: number; costMB: number }> {
  const model = await startModel(REPLY_BYTES);
  const reading = await peakOf(model.baseUrl, (socket) => socket.resume());
  const silent = await peakOf(model.baseUrl, (socket) => socket.pause());
  model.close();
  return { held: silent.stored, costMB: (silent.rssMB - reading.rssMB) / CLIENTS };
}

async function peakOf(baseUrl: string, begin: (socket: Socket) => void) {
  const gateway = await startGateway({
    config: {
      agents: { defaults: { model: "house/m" } },
      models: { providers: { house: { baseUrl, models: [{ id: "m", contextWindow: 1e7 }] } } },
    },
  });
  const port = Number(new URL(gateway.url).port);
  const body = JSON.stringify({ text: "a long one" });
  const sockets = Array.from({ length: CLIENTS }, (_, at) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `POST /api/sessions/s${at}/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    begin(socket);
    return socket;
  });
  do await sleep(200);
  while ((await turnsOf(gateway.url)) > 0);
  const rssMB = (await gateway.rss()) / MB;
  let stored = 0;
  for (let at = 0; at < CLIENTS; at++) {
    const answer = await fetch(`${gateway.url}/api/sessions/s${at}/messages`);
    if ((await answer.text()).length > REPLY_BYTES) stored++;
  }
  for (const socket of sockets) socket.destroy();
  await gateway.stop();
  return { rssMB, stored };
}

async function turnsOf(url: string): Promise<number> {
  const health = (await (await fetch(`${url}/api/health`)).json()) as {
    turns: { running: number };
  };
  return health.turns.running;
}

/** Answers every request with a long reply, as fast as it is read. */
async function startModel(replyBytes: number) {
  const delta = { content: "abcdefgh".repeat(1000) };
  const piece = `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
  const pieces = Math.ceil(replyBytes / delta.content.length) + 1;
  const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    sockets.add(request.socket);
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      let sent = 0;
      const more = () => {
        while (sent++ < pieces) if (!response.write(piece)) return response.once("drain", more);
        return response.end(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`);
      };
      more();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    takenBytes: () =>
      [...sockets].reduce((sum, socket) => sum + socket.bytesWritten - socket.writableLength, 0),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
