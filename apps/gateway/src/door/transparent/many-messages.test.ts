import { expect, it, onTestFinished } from "vitest";
import { startTestDoor } from "../../testing/test-door.ts";
import { TestClient } from "../testing/client.ts";
import { startReplies } from "../testing/http-world.ts";

/** A cost that grew with their square would take a minute. */
const MANY = 20_000;

it("a history of very many small messages is cut, passed on and stored", async () => {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  const door = await startTestDoor(upstream);
  const client = new TestClient("openai-completions", { chars: 1 });
  client.say("Fix the parser.");
  const { take } = client.ask();
  for (let round = 0; round < MANY; round++) take(client.reply());
  client.say("Is it done?");
  const reply = { text: "It is.", thinking: "", calls: [] };
  const { status, session } = await upstream.play(door.url, client.ask(), {
    ...{ reply, fault: undefined },
  });
  expect(status).toBe(200);
  await door.gateway.door.settled();
  const { branch = [] } = (await door.gateway.store.read(session!)) ?? {};
  const results = branch.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "toolResult" ? [entry.message] : [],
  );
  expect(new Set(results.map(({ toolCallId }) => toolCallId)).size).toBe(MANY);
  expect(new Set(results.map(({ toolName }) => toolName))).toEqual(new Set(["read"]));
  expect(branch.filter(({ type }) => type === "message")).toHaveLength(2 + 2 * MANY + 1);
});
