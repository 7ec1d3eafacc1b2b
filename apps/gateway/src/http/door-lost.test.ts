// Leaves sessions of a gateway with whole answers on the way, as clients do that give up late.
import { once } from "node:events";
import { connect } from "node:net";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { emulatedModel, startTestGateway, type TestGateway } from "../testing/gateway.ts";
import { obey } from "../testing/obedient-model.ts";

async function start() {
  const server = await createOpenAIEmulator({ answers: obey });
  onTestFinished(() => server.close());
  return { ...(await startTestGateway(emulatedModel(server.baseUrl))), server };
}

type Started = Awaited<ReturnType<typeof start>>;

interface Sent {
  connection: "close" | "keep-alive";
  streaming: boolean;
  /** How often its client says it has sent it before. Undefined: it does not say. */
  retries?: number | undefined;
}

/** A client whose system takes what comes, and which has read nothing of it yet. */
async function send(gateway: TestGateway, { connection, streaming, retries }: Sent) {
  const messages = [{ role: "user", content: "pay" }];
  const body = JSON.stringify({ model: "clew", stream: streaming, messages });
  const client = connect(Number(new URL(gateway.url).port), "127.0.0.1").pause();
  client.write(
    [
      ...[
        "POST /v1/chat/completions HTTP/1.1",
        `Host: ${new URL(gateway.url).host}`,
        `Connection: ${connection}`,
      ],
      ...["Content-Type: application/json", `Content-Length: ${body.length}`],
      ...["X-Clew-Session: work", ...(retries === undefined ? [] : [counted(retries)])],
      ...["", body],
    ].join("\r\n"),
  );
  return client;
}

const counted = (retries: number) => `X-Stainless-Retry-Count: ${retries}`;

/** Leaves once all of the answer was written to its connection. */
async function lose(gateway: Started, sent: Sent, answered: number): Promise<void> {
  const client = await send(gateway, sent);
  await expect.poll(() => answersOf(gateway), { timeout: 5000 }).toBe(answered);
  client.destroy();
}

/** How many were written to the end. */
async function answersOf({ get }: Started): Promise<number> {
  const text = await (await get("/metrics")).text();
  return [...text.matchAll(/^clew_door_answers_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

/** Reads all of it, and closes its connection at once. */
async function hear(gateway: Started, sent: Sent): Promise<string> {
  const client = await send(gateway, sent);
  let heard = "";
  client.on("data", (bytes: Buffer) => {
    heard += bytes.toString();
    if (/(?:^|\r\n)0\r\n\r\n$/.test(heard) || /"usage"[^\n]*\}$/.test(heard)) client.destroy();
  });
  client.resume();
  await once(client, "close");
  return heard;
}

const saidIn = async ({ gateway }: Started) =>
  (await gateway.messages("work", 100))!.map((message) => (message as { role: string }).role);

const CASES = (["close", "keep-alive"] as const).flatMap((connection) =>
  [true, false].map((streaming) => ({ connection, streaming })),
);

describe.each(CASES)("a client by connection: $connection, streamed: $streaming", (how) => {
  it.each([false, true])(
    "that left with the whole answer on the way is told it again each time, counting: %s",
    async (counts) => {
      const gateway = await start();
      for (const retries of [0, 1, 2, 3])
        await lose(gateway, { ...how, retries: counts ? retries : undefined }, retries + 1);
      const heard = await hear(gateway, { ...how, retries: counts ? 4 : undefined });
      expect(heard).toContain("heard: pay");
      expect(await saidIn(gateway)).toEqual(["user", "assistant"]);
      expect(gateway.server.requests).toHaveLength(1);
    },
  );

  it("that has heard the whole answer, and closed at once, says the same anew", async () => {
    const gateway = await start();
    for (const _ of [1, 2, 3]) expect(await hear(gateway, how)).toContain("heard: pay");
    expect(await saidIn(gateway)).toHaveLength(6);
  });
});
