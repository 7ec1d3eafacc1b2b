import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { clew } from "../../testing/command.ts";
import { ask, person } from "../../testing/door-client.ts";
import { parseStream, post, startTestGateway } from "../../testing/gateway.ts";
import { freePort } from "../../testing/killed-gateways.ts";
import { type Member, startMembers } from "../../testing/member-gateways.ts";

const SAY = "/api/sessions/main/messages";

async function begin(owner: Member): Promise<void> {
  const { events } = parseStream(
    await (await owner.asks("own", SAY, post({ text: "Here." }))).text(),
  );
  expect(events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
}

describe.skipIf(whyNoPostgres() !== null)(`who is let in at one gateway ${UNLESS_THERE}`, () => {
  it("is let in at the one that has the session, by a token that only the first knows", async () => {
    const [one, two] = await startMembers(["one", "two"]);
    await begin(one!);
    const said = await two!.asks("chat", SAY, post({ text: "From elsewhere." }));
    expect(parseStream(await said.text()).events.at(-1)).toMatchObject({ outcome: "completed" });
    const abort = { method: "POST" };
    expect((await two!.asks("chat", "/api/sessions/main/abort", abort)).status).toBe(200);
    const lines = await (await one!.asks("read", "/api/sessions/main/transcript")).text();
    expect(lines).toContain("From elsewhere.");
  });

  it("may do there what it may do at the first, and no more", async () => {
    const [one, two] = await startMembers(["one", "two"]);
    await begin(one!);
    const free = { text: "Hi.", allowTools: ["*"] };
    const remove = { method: "DELETE" };
    const statuses = async (token: "own" | "chat" | "read") => {
      const found: number[] = [];
      for (const [path, init] of [
        [SAY, post({ text: "Hi." })],
        [SAY, post(free)],
        ["/api/sessions/main/stream", {}],
        ["/api/sessions/main/abort", { method: "POST" }],
        ["/api/sessions/main", remove],
      ] as const) {
        const answer = await two!.asks(token, path, init);
        await answer.text();
        found.push(answer.status);
      }
      return found;
    };
    expect(await statuses("read")).toEqual([403, 403, 404, 403, 403]);
    expect(await statuses("chat")).toEqual([200, 403, 404, 200, 403]);
    expect(await statuses("own")).toEqual([200, 200, 404, 200, 200]);
    expect((await one!.asks("read", "/api/sessions/main")).status).toBe(404);
  });

  it("is the person of the home also by its commands, and by its page", async () => {
    const [one, two] = await startMembers(["one", "two"]);
    await begin(one!);
    for (const command of [
      ["chat", "-s", "main", "From a command."],
      ["chat", "-s", "main", "/status"],
      ["chat", "-s", "main", "/undo"],
      ["sessions", "compact", "main", "--dry-run"],
      ["engine", "retry", "main"],
    ]) {
      const { code, output, errors } = await clew(two!.home, command);
      expect([command, code, output + errors]).toEqual([command, 0, expect.anything()]);
    }
    const { output: link } = await clew(two!.home, ["approvals", "link"]);
    const opened = await fetch(link);
    const cookie = opened.headers.get("set-cookie")!.split(";")[0]!;
    const { headers, ...said } = post({ text: "From the page." });
    const page = { cookie, origin: two!.url };
    const answer = await two!.get(SAY, { ...said, headers: { ...(headers as object), ...page } });
    expect(parseStream(await answer.text()).events.at(-1)).toMatchObject({ outcome: "completed" });
    expect((await two!.get("/api/sessions/main/stream", { headers: page })).status).toBe(404);
    const removed = await clew(two!.home, ["sessions", "delete", "main", "--yes"]);
    expect([removed.code, removed.errors]).toEqual([0, ""]);
    expect((await one!.asks("read", "/api/sessions/main")).status).toBe(404);
  });

  it("is let in by the door, also with a key for the model server beside its token", async () => {
    const [one, two] = await startMembers(["one", "two"]);
    for (const [gateway, headers] of [
      [one!, { authorization: `Bearer ${one!.tokens.chat}` }],
      [two!, { authorization: `Bearer ${two!.tokens.chat}` }],
      [two!, { "x-clew-token": two!.tokens.chat, "x-api-key": "a key of the client" }],
    ] as const) {
      const said = [person("Mend it.")];
      const { answer } = await ask(gateway, "anthropic-messages", said, { headers });
      expect(answer.status).toBe(200);
    }
    const wrong = { authorization: `Bearer ${one!.tokens.chat}` };
    const { answer } = await ask(two!, "anthropic-messages", [person("No.")], { headers: wrong });
    expect(answer.status).toBe(401);
  });

  it("proves nothing by a header of its own, whether it has a token or not", async () => {
    const [one, two] = await startMembers(["one", "two"]);
    await begin(one!);
    const alone = await startTestGateway({ gateway: { auth: { token: "the-only-token-of-it" } } });
    const id = crypto.randomUUID();
    const forged = `${id}:1:admin:http:${Buffer.alloc(64).toString("base64url")}`;
    for (const given of [forged, "1", `${id}:1:admin:http:`])
      for (const gateway of [one!, two!, alone])
        for (const more of [
          {},
          { authorization: `Bearer ${one!.tokens.chat}` },
          { "x-clew-hop": "1", "x-clew-kept": "1" },
        ]) {
          const headers = { "x-clew-let-in": given, ...more };
          const answer = await gateway.get("/api/sessions/main", { headers });
          expect([given, answer.status]).toEqual([given, 403]);
        }
    const hop = { "x-clew-hop": "1", "x-clew-kept": "1" };
    expect((await one!.get("/api/sessions/main", { headers: hop })).status).toBe(401);
  });

  it("need not be known where nobody needs a token at the first, and is not its person", async () => {
    const url = await testDatabase();
    const start = async (auth: object) => {
      const port = await freePort();
      const storage = { driver: "postgres", url, address: `http://127.0.0.1:${port}` };
      return startTestGateway({ storage, gateway: auth }, undefined, {}, { port });
    };
    const own = "a-token-of-the-owner";
    const one = await start({ auth: { token: own } });
    const two = await start({});
    const { headers, ...said } = post({ text: "Here." });
    const bearer = { ...(headers as object), authorization: `Bearer ${own}` };
    await (await one.get(SAY, { ...said, headers: bearer })).text();
    expect((await two.say("Elsewhere.")).events.at(-1)).toMatchObject({ outcome: "completed" });
    const free = await two.get(SAY, post({ text: "Hi.", allowTools: ["*"] }));
    expect(free.status).toBe(403);
    expect((await two.get("/api/sessions/main", { method: "DELETE" })).status).toBe(403);
  });
});
