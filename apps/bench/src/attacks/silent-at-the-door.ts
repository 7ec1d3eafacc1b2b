// Measures what clients at the door cost that never read a reply of any size.
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type RunningGateway, startGateway } from "../gateway/gateway-process.ts";
import type { MemoryReading } from "../soak/memory-probe.ts";

export interface SilentAtTheDoor {
  /** What is in use more than before they came, for each of them. */
  costMB: number;
  /** What a model server's program gave away for each of them, its system's buffer included. */
  takenMB: number;
}

const PROBE = new URL("../soak/memory-probe.ts", import.meta.url).href;
/** Nothing more is taken then. */
const STANDSTILL_MS = 1000;

/** `takenBytes`: what the model server has written by now, to all together. */
export async function silentAtTheDoor(
  clients: number,
  { baseUrl, takenBytes }: { baseUrl: string; takenBytes: () => number },
): Promise<SilentAtTheDoor> {
  const models = [{ id: "m", contextWindow: 1e7 }];
  const house = { baseUrl, apiKey: "k", models };
  const gateway = await startGateway({
    probe: PROBE,
    config: {
      agents: { defaults: { model: "house/m" } },
      models: { providers: { house } },
    },
  });
  const port = Number(new URL(gateway.url).port);
  // What the first client costs is what the first of any costs.
  const first = visit(port, "the first");
  await standstill(takenBytes);
  const [before, takenBefore] = [await liveMBOf(gateway), takenBytes()];
  const visits = Array.from({ length: clients }, (_, at) => visit(port, `number ${at}`));
  await standstill(takenBytes);
  const costMB = ((await liveMBOf(gateway)) - before) / clients;
  const takenMB = (takenBytes() - takenBefore) / 1e6 / clients;
  for (const socket of [first, ...visits]) socket.destroy();
  await gateway.stop();
  return { costMB, takenMB };
}

function visit(port: number, text: string) {
  const messages = [{ role: "user", content: text }];
  const body = JSON.stringify({ model: "house/m", stream: true, messages });
  const socket = connect(port, "127.0.0.1").pause();
  socket.on("error", () => {});
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

/** Resolves when something was taken, and nothing more is. */
async function standstill(takenBytes: () => number): Promise<void> {
  const began = takenBytes();
  for (let before = -1; before === began || before !== takenBytes(); ) {
    before = takenBytes();
    await sleep(STANDSTILL_MS);
  }
}

async function liveMBOf({ process: child }: RunningGateway): Promise<number> {
  child.send("memory");
  const [reading] = (await once(child, "message")) as [MemoryReading];
  return reading.liveMB;
}
