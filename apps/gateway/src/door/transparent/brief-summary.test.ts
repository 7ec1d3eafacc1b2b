// Lets a program ask for a summary in few words, and go on by it or behind it.
import { expect, it, onTestFinished } from "vitest";
import { messageText } from "../../reports/message-text.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Said } from "../testing/conversation.ts";
import { startReplies } from "../testing/http-world.ts";
import { writeRequest } from "../testing/write-request.ts";

const WISH = "Create a summary of the conversation above:";
const SUMMARY =
  "The person asked for the tide tables of Husum; the files a to f were read, and now they are to " +
  "be written out, sorted by day.";

const person = (text: string): Said => ({ uid: null, by: "person", text });
const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });

async function startProgram({ tools }: { tools: readonly string[] }) {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  const { url, gateway } = await startTestDoor(upstream);
  const send = async (
    said: readonly Said[],
    text: string,
    writing: { tools?: readonly string[]; head?: readonly string[] } = {},
  ) => {
    const request = writeRequest("openai-completions", said, {
      ...{ model: "model", head: ["You are a program."], tools, ...writing },
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
  const begun = [person("Read the tide tables of Husum."), model("I have read all of them now.")];
  const session = await send(begun.slice(0, 1), "I have read all of them now.");
  return { send, told, begun, session };
}

it.each([
  ["with its tools", { tools: ["read"], asking: ["read"] }],
  ["with its tools put away", { tools: ["read"], asking: [] }],
  ["without any", { tools: [], asking: [] }],
])("goes on in its session by a summary it asked for in few words, %s", async (_, wires) => {
  const { send, told, begun, session } = await startProgram(wires);
  await send([...begun, person(WISH)], SUMMARY, { tools: wires.asking });
  const next = [person(`Summary of conversation earlier: ${SUMMARY}`), person("Sort them by day.")];
  expect(await send(next, "They are sorted by day.")).toBe(session);
  const texts = [...begun, ...next].map((one) => ("text" in one ? one.text : ""));
  expect(await told(session)).toEqual([...texts, "They are sorted by day."]);
});

it("takes its wish back where it was answered twice, as after a stop of the gateway", async () => {
  const { send, told, begun, session } = await startProgram({ tools: [] });
  await send([...begun, person(WISH)], `At first: ${SUMMARY}`);
  await send([...begun, person(WISH)], SUMMARY);
  const next = [person(`Summary of conversation earlier: ${SUMMARY}`), person("Sort them by day.")];
  expect(await send(next, "They are sorted by day.")).toBe(session);
  const texts = [...begun, ...next].map((one) => ("text" in one ? one.text : ""));
  expect(await told(session)).toEqual([...texts, "They are sorted by day."]);
});

it("keeps a person's wish for a summary as a turn where the reply is gone on from", async () => {
  const { send, told, begun, session } = await startProgram({ tools: ["read"] });
  const asked = [...begun, person("Can you summarize that?")];
  await send(asked, SUMMARY);
  const next = [...asked, model(SUMMARY), person(`"${SUMMARY}" is too long.`)];
  expect(await send(next, "Here it is in short.")).toBe(session);
  const texts = next.map((one) => ("text" in one ? one.text : ""));
  expect(await told(session)).toEqual([...texts, "Here it is in short."]);
});

it("does not take a reply given to another agent for its own summary", async () => {
  const { send, begun, session } = await startProgram({ tools: ["read"] });
  await send([...begun, person("Summarize that for the writer.")], SUMMARY);
  const given = [person(`Write a page about this: ${SUMMARY}`)];
  expect(await send(given, "A page.", { head: ["You are a writer."] })).not.toBe(session);
});

it("stores nothing of a wish under another system prompt where there are no tools", async () => {
  const { send, told, begun, session } = await startProgram({ tools: [] });
  await send([...begun, person(WISH)], SUMMARY, { head: ["You write summaries."] });
  expect(await told(session)).toHaveLength(2);
  const next = [person(`Summary: ${SUMMARY}`), person("Sort them by day.")];
  expect(await send(next, "They are sorted by day.")).toBe(session);
  expect(await told(session)).toHaveLength(5);
});

it("has a turn again that its client goes on from after it went on by its summary", async () => {
  const { send, told, begun, session } = await startProgram({ tools: ["read"] });
  const asked = [...begun, person("Can you summarize that?")];
  await send(asked, SUMMARY);
  await send([person(`Before: ${SUMMARY}`), person("Sort them.")], "They are sorted now.");
  expect(await told(session)).not.toContain("Can you summarize that?");
  await send([...asked, model(SUMMARY), person("Thanks for it.")], "You are welcome.");
  const texts = await told(session);
  expect(texts.slice(-4)).toEqual([
    ...["Can you summarize that?", SUMMARY, "Thanks for it.", "You are welcome."],
  ]);
});
