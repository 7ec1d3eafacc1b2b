import { expect, it, onTestFinished } from "vitest";
import { messageText } from "../../reports/message-text.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { TestClient } from "../testing/client.ts";
import type { Said } from "../testing/conversation.ts";
import { startReplies } from "../testing/http-world.ts";

const SUMMARY = "1. The parser was to be fixed. 2. Two files were read. 3. Nothing is pending now.";

const APIS = ["openai-completions", "openai-responses", "anthropic-messages"] as const;

const byModel = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });

it.each(APIS)("a summary told as the model's words by %s is stored as a message", async (api) => {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  const door = await startTestDoor(upstream);
  const client = new TestClient(api);
  const headers = { "x-session-id": "ses_1", "x-session-affinity": "ses_1" };
  const play = (ask = client.ask(), reply = client.reply()) =>
    upstream.play(door.url, { ...ask, headers }, { reply, fault: undefined });
  client.say("Fix the parser.");
  await play();
  await play();
  await play(client.askForSummary(), { text: SUMMARY, thinking: "", calls: [] });
  const question = { uid: null, by: "person" as const, text: "What has been done?" };
  client.said = [question, byModel(SUMMARY), ...client.said.slice(-2)];
  for (const words of ["Now the tests.", "And the docs."]) {
    client.say(words);
    await play();
  }
  const { gateway } = door;
  const { session } = await play();
  await gateway.door.settled();
  const { branch = [] } = (await gateway.store.read(session!)) ?? {};
  const messages = branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const told = messages.filter(({ role }) => role === "user").map(messageText);
  expect(told).toEqual(["Fix the parser.", SUMMARY, "Now the tests.", "And the docs."]);
  expect(messages.filter(({ role }) => role === "assistant")).toHaveLength(5);
});
