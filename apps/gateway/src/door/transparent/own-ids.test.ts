// Sends histories in which the client has put ids of its own on the calls.
import { expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { TestClient } from "../testing/client.ts";
import { startReplies } from "../testing/http-world.ts";
import { withOwnIds } from "../testing/told-otherwise.ts";

it.each(DOOR_APIS.flatMap((api) => (["kept", "anew"] as const).map((ids) => [api, ids] as const)))(
  "by %s, %s: each call is stored once, with its result, and its model sees the client's own",
  async (api, ids) => {
    const upstream = await startReplies();
    onTestFinished(upstream.close);
    const door = await startTestDoor(upstream);
    const client = new TestClient(api);
    client.say("Fix the parser.");
    const sessions = new Set<string | null>();
    for (let round = 0; round < 4; round++) {
      const { said } = client;
      client.said = [...withOwnIds(said, ids === "kept" ? "" : String(round))];
      const ask = client.ask();
      client.said = said;
      const sent = JSON.stringify(ask.request.body);
      const played = { reply: client.reply(), fault: undefined };
      sessions.add((await upstream.play(door.url, ask, played)).session);
      expect(upstream.heard.at(-1)!.bytes.toString()).toBe(sent);
    }
    expect(sessions.size).toBe(1);
    const { gateway } = door;
    await gateway.door.settled();
    const { branch = [] } = (await gateway.store.read([...sessions][0]!)) ?? {};
    const told = branch.flatMap((entry) => {
      if (entry.type !== "message") return [];
      const { message } = entry;
      if (message.role === "toolResult") return [`${message.toolName} gave ${message.toolCallId}`];
      if (message.role !== "assistant") return [message.role];
      return message.content.map((block) => (block.type === "toolCall" ? block.id : block.type));
    });
    expect(told).toEqual([
      ...["user", "call_1", "read gave call_1", "call_2", "read gave call_2"],
      ...["call_3", "read gave call_3", "call_4"],
    ]);
  },
);
