import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createApi } from "./api.ts";

type Answer = (response: ServerResponse) => void;

/** A gateway that answers one request after the other as it is told to. */
async function gateway(...answers: Answer[]) {
  const asked: { since: string | undefined; body: { idempotencyKey?: string; text?: string } }[] =
    [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      const since = request.headers["last-event-id"] as string | undefined;
      asked.push({ since, body: JSON.parse(body) });
      answers.shift()?.(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { api: createApi(`http://127.0.0.1:${port}`), asked };
}

const event = (id: string, told: { type: string }) =>
  `id: ${id}\nevent: ${told.type}\ndata: ${JSON.stringify(told)}\n\n`;
const say = (...events: [string, { type: string; [name: string]: unknown }][]) =>
  events.map(([id, told]) => event(id, told)).join("");
const told =
  (text: string, end: "ends" | "breaks"): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text, () => (end === "ends" ? response.end() : response.destroy()));
  };

const heard = async (events: AsyncIterable<{ type: string }>) => {
  const types: string[] = [];
  for await (const { type } of events) types.push(type);
  return types;
};

describe("a turn of the page", () => {
  it("goes on behind what it has heard when the connection breaks, under the same name", async () => {
    const { api, asked } = await gateway(
      told(say(["0.0.", { type: "queued" }], ["r.1.a", { type: "text", delta: "A" }]), "breaks"),
      (response) => void response.destroy(),
      told(say(["r.2.a", { type: "text", delta: "B" }]), "ends"),
      told(say(["r.2.a", { type: "error", error: { code: "SESSION_LOCKED" } }]), "ends"),
      told(say(["r.end.b", { type: "done" }]), "ends"),
    );
    expect(await heard(api.send("main", "Go."))).toEqual(["queued", "text", "text", "done"]);
    expect(asked.map(({ since }) => since)).toEqual([
      ...[undefined, "r.1.a", "r.1.a", "r.2.a", "r.2.a"],
    ]);
    expect(new Set(asked.map(({ body }) => body.idempotencyKey)).size).toBe(1);
    expect(asked[0]?.body.idempotencyKey).toMatch(/^[\da-f-]{16,}$/);
  });

  it("that nothing was heard of, or that is a command, is not sent again by itself", async () => {
    const { api, asked } = await gateway(
      (response) => void response.destroy(),
      told(say(["0.0.", { type: "queued" }]), "breaks"),
    );
    await expect(heard(api.send("main", "Go."))).rejects.toThrow("does not answer");
    await expect(heard(api.send("main", "/status"))).rejects.toThrow();
    expect(asked).toHaveLength(2);
  });

  it("tells what the gateway refuses", async () => {
    const { api } = await gateway(
      told(say(["r.1.a", { type: "text", delta: "A" }]), "breaks"),
      (response) => {
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: { code: "REQUEST_INVALID", message: "No." } }));
      },
    );
    await expect(heard(api.send("main", "Go."))).rejects.toMatchObject({
      code: "REQUEST_INVALID",
    });
  });
});
