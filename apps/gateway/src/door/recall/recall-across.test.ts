// Looks into sessions of clients whose models speak another wire.
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { calling, FACT, lastReport, namesIn, OURS, startCut } from "../../testing/recall-world.ts";
import { readReply } from "../testing/read-reply.ts";
import type { DoorApi, JsonObject } from "../wires/door-wire.ts";

const LISTS: Readonly<Record<DoorApi, string>> = {
  "openai-completions": "messages",
  "openai-responses": "input",
  "anthropic-messages": "messages",
  "google-generative-ai": "contents",
};

/** What only its model reads of a reply whose thinking is "c2VjcmV0", and must have again. */
const PROOFS: Readonly<Record<DoorApi, string>> = {
  "openai-completions": "",
  "openai-responses": "c2VjcmV0",
  "anthropic-messages": "sc2VjcmV0",
  "google-generative-ai": "c2lnbmF0dXJl",
};

/** Markers move to the newest message. */
const unmarked = (list: unknown): object[] =>
  JSON.parse(JSON.stringify(list, (name, value) => (name === "cache_control" ? undefined : value)));

const pairs = DOOR_APIS.flatMap((client) =>
  DOOR_APIS.filter((server) => server !== client).map((server) => ({ client, server })),
);

describe.each(pairs)("a model by $server of a client of $client", ({ client: api, server }) => {
  it.each([true, false])(
    "looks into its session, and its client sees the end alone, streamed: %s",
    async (streaming) => {
      const { upstream, door, client, session } = await startCut(api, streaming, server);
      const before = upstream.bodies.length;
      const reply = client.reply();
      upstream.next.push({ ...calling("session_search", "read"), thinking: "c2VjcmV0" }, reply);
      const answer = await client.send(reply);
      expect(answer.status).toBe(200);
      for (const name of OURS) expect(answer.text).not.toContain(name);
      const { last } = readReply(api, answer.text, answer.type);
      expect(last.type).toBe("done");
      const { content } = (last as { message: AssistantMessage }).message;
      expect(content.map((block) => block.type === "toolCall" && block.name)).toEqual(["read"]);
      expect(upstream.bodies).toHaveLength(before + 2);
      const [first, second] = upstream.bodies.slice(before) as [JsonObject, JsonObject];
      for (const body of [first, second]) expect(namesIn(body)).toEqual(OURS);
      const [a, b] = [first, second].map((body) => unmarked(body[LISTS[server]])) as [
        object[],
        object[],
      ];
      expect(b.slice(0, a.length)).toEqual(a);
      const added = JSON.stringify(b.slice(a.length));
      for (const words of ["session_search", FACT, "was not run"]) expect(added).toContain(words);
      expect(added).toContain(PROOFS[server]);
      const told = await lastReport(door, session);
      expect(told.calls).toBe(21);
      expect(told.usage.total).toMatchObject({
        modelCalls: 21,
        tokens: { input: upstream.sizes.reduce((sum, size) => sum + size, 0), output: 440 },
      });
      const next = client.reply();
      upstream.next.push(next);
      expect((await client.send(next)).session).toBe(session);
      expect(JSON.stringify(upstream.bodies.at(-1))).not.toContain("was not run");
    },
  );

  it("fails for its client where the second request fails", async () => {
    const { upstream, client, session } = await startCut(api, true, server);
    upstream.next.push(calling("session_search"), { status: 400 });
    expect((await client.send(null)).status).toBe(400);
    const reply = client.reply();
    upstream.next.push(reply);
    expect(await client.send(reply)).toMatchObject({ status: 200, session });
  });
});
