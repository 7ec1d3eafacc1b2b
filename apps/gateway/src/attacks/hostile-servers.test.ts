import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { printable } from "../terminal/output.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { HOSTILE_SERVERS } from "./hostile-servers.ts";

const KEY = "THE-KEY-OF-THE-TEST-1234567890";
const PROMPT = "what I would tell nobody else";

/** All of them behind one port, told apart by the first part of the path. */
async function startServers() {
  const elsewhere: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      const [, number] = /^\/s(\d+)\//.exec(request.url ?? "") ?? [];
      if (number === undefined) {
        elsewhere.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`);
        response.writeHead(404).end();
        return;
      }
      response.on("error", () => {});
      void HOSTILE_SERVERS[Number(number)]!.answer(response, origin);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, elsewhere };
}

describe("a turn", () => {
  it("ends with a sentence whatever its model server does, and all others go on", async () => {
    expect(HOSTILE_SERVERS.length).toBeGreaterThanOrEqual(36);
    const { origin, elsewhere } = await startServers();
    const numbered = HOSTILE_SERVERS.map((server, index) => ({ server, id: `s${index}` }));
    const providers = numbered.map(({ id }) => [
      id,
      {
        ...{ baseUrl: `${origin}/${id}/v1`, apiKey: KEY, timeoutSeconds: 2 },
        ...{ api: "openai-completions", models: [{ id: "m", contextWindow: 100_000 }] },
      },
    ]);
    const { gateway, say, get, home } = await startTestGateway({
      agents: {
        defaults: { model: "offline/offline", timeoutSeconds: 30, maxModelCalls: 2 },
        list: [
          { id: "main", default: true },
          ...numbered.map(({ id }) => ({ id, model: `${id}/m` })),
        ],
      },
      models: { providers: Object.fromEntries(providers) },
      gateway: { limits: { answerBytes: 2 ** 20, replyBytes: 65_536 } },
    });
    const fell: string[] = [];
    const left = [...numbered];
    const speakers = Array.from({ length: 12 }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const { outcome, error } = await gateway.send({
          ...{ key: `agent:${next.id}:main`, content: PROMPT },
        });
        const isHeld = next.server.held.some((end) => end === outcome);
        const isBug = error?.kind === "host" || error?.kind === "engine";
        const isSaid = outcome === "completed" || printable(error!.message).length > 10;
        const isSecret = JSON.stringify(error).includes(KEY);
        if (!isHeld || isBug || !isSaid || isSecret)
          fell.push(`${next.server.name}: ${outcome} ${JSON.stringify(error)}`);
      }
    });
    await Promise.all(speakers);
    expect(fell).toEqual([]);
    expect(elsewhere).toEqual([]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect((await say("My cat is called Minka.")).text).toBe("Noted.");
    expect((await get("/readyz")).status).toBe(200);
    expect(await readFile(`${home}/logs/gateway.log`, "utf8")).not.toContain(KEY);
  });
});
