// Lets a client ask without its tools, and go on without that or behind it.
import { expect, it, onTestFinished } from "vitest";
import { messageText } from "../../reports/message-text.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Said } from "../testing/conversation.ts";
import { startReplies } from "../testing/http-world.ts";
import { writeRequest } from "../testing/write-request.ts";

const person = (text: string): Said => ({ uid: null, by: "person", text });
const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });
const BEGUN = [person("Read the tide tables."), model("I have read all of the tide tables now.")];
const ASIDE = [person("A short title for this."), model("Tide tables of Husum")];

async function startClient() {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  const { url, gateway } = await startTestDoor(upstream);
  const send = async (said: readonly Said[], text: string, tools: readonly string[] = ["read"]) => {
    const request = writeRequest("openai-completions", said, {
      ...{ model: "model", head: ["You are a program."], tools },
    });
    const ask = { kind: "turn" as const, request, headers: {}, wantsWords: true, take: () => {} };
    const reply = { text, thinking: "", calls: [] };
    return (await upstream.play(url, ask, { reply, fault: undefined })).session!;
  };
  const told = async (session: string) => {
    await gateway.door.settled();
    const { branch = [] } = (await gateway.store.read(session)) ?? {};
    return branch.flatMap((entry) =>
      entry.type === "message" ? [messageText(entry.message)] : [],
    );
  };
  const session = await send(BEGUN.slice(0, 1), "I have read all of the tide tables now.");
  return { send, told, session };
}

const textsOf = (said: readonly Said[]) => said.map((one) => ("text" in one ? one.text : ""));

it("sets what was asked without tools beside the branch where its client goes on without it", async () => {
  const { send, told, session } = await startClient();
  await send([...BEGUN, ASIDE[0]!], "Tide tables of Husum", []);
  const next = [...BEGUN, person("Sort them.")];
  expect(await send(next, "They are sorted now.")).toBe(session);
  expect(await told(session)).toEqual([...textsOf(next), "They are sorted now."]);
});

it("keeps the person's words that came with it", async () => {
  const { send, told, session } = await startClient();
  const next = [...BEGUN, person("Sort them.")];
  await send([...next, ASIDE[0]!], "Tide tables of Husum", []);
  await send(next, "They are sorted now.");
  expect(await told(session)).toEqual([...textsOf(next), "They are sorted now."]);
});

it("keeps a turn for which tools were put away, and has one again that its client goes on from", async () => {
  const { send, told, session } = await startClient();
  await send([...BEGUN, ASIDE[0]!], "Tide tables of Husum", []);
  const next = [...BEGUN, ...ASIDE, person("Sort them.")];
  await send(next, "They are sorted now.");
  expect(await told(session)).toEqual([...textsOf(next), "They are sorted now."]);
  const other = [...next, model("They are sorted now."), person("And a plan?")];
  await send(other, "This is the plan of it.", []);
  await send([...other.slice(0, -1), person("No, print them.")], "They are printed.");
  expect(await told(session)).not.toContain("And a plan?");
  await send([...other, model("This is the plan of it."), person("Do it.")], "It is done.");
  const texts = await told(session);
  expect(texts.slice(-4)).toEqual([
    "And a plan?",
    "This is the plan of it.",
    "Do it.",
    "It is done.",
  ]);
});
