// What a client of the door asks again, whose gateway was killed while it stored the reply.
import { readFile, writeFile } from "node:fs/promises";
import { createEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Said } from "../door/testing/conversation.ts";
import { doorJournalFile } from "../sessions/paths.ts";
import { createSessionStore } from "../sessions/store.ts";
import { ask, person } from "../testing/door-client.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { textsIn } from "../testing/wandering-agent.ts";

const api = "openai-completions";
const sent = { tools: ["read"], model: "theirs" };

async function startModel() {
  const server = await createEmulator(api, {
    answers: (_, index) => ({ text: `Reply ${index}.` }),
  });
  onTestFinished(() => server.close());
  const models = [{ id: "m", contextWindow: 100_000, maxTokens: 2000 }];
  return {
    models: { providers: { far: { baseUrl: server.baseUrl, api, apiKey: "key", models } } },
    door: { upstreams: { [api]: { models: { theirs: "far/m" } } } },
  };
}

const BEFORE: readonly Said[] = [
  person("Hello."),
  { uid: null, by: "model", text: "Reply 0.", calls: [] },
];
const QUESTION = person("What is it?");
const ASKED = [...BEFORE, QUESTION];

/** A home whose newest reply is stored, and in the journal or not. */
async function killedBehindReply({ isWrittenDown = false } = {}) {
  const config = await startModel();
  const first = await startTestGateway(config);
  await ask(first, api, BEFORE.slice(0, 1), sent);
  const { text, answer } = await ask(first, api, ASKED, sent);
  expect(text).toBe("Reply 1.");
  const session = answer.headers.get("x-clew-session")!;
  await first.stop();
  const found = await createSessionStore({ home: first.home }).find(session);
  const file = doorJournalFile(found!.file);
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  expect(lines.at(-1)).toContain('"reply"');
  if (!isWrittenDown) lines.pop();
  await writeFile(file, `${lines.join("\n")}\n`);
  return { session, again: await startTestGateway(config, first.home) };
}

describe("a reply that is stored when its gateway is killed, whether it is written down or not", () => {
  const before = ["Hello.", "Reply 0.", "What is it?"];

  it.each([false, true])(
    "stands beside the one that its client got when it asked again: %s",
    async (isWrittenDown) => {
      const { session, again } = await killedBehindReply({ isWrittenDown });
      const { text, answer } = await ask(again, api, ASKED, sent);
      expect([text, answer.headers.get("x-clew-session")]).toEqual(["Reply 2.", session]);
      await expect.poll(() => textsIn(again, session)).toEqual([...before, "Reply 2."]);
    },
  );

  it.each([false, true])("is the same where its client has it: %s", async (isWrittenDown) => {
    const { session, again } = await killedBehindReply({ isWrittenDown });
    const reply: Said = { uid: null, by: "model", text: "Reply 1.", calls: [] };
    await ask(again, api, [...ASKED, reply, person("And then?")], sent);
    await expect
      .poll(() => textsIn(again, session))
      .toEqual([...before, "Reply 1.", "And then?", "Reply 2."]);
  });

  it.each([false, true])("stays where a person said something behind it: %s", async (isWritten) => {
    const { session, again } = await killedBehindReply({ isWrittenDown: isWritten });
    await again.say("From the page.", { session });
    await ask(again, api, ASKED, sent);
    const texts = await textsIn(again, session);
    expect(texts.slice(0, 5)).toEqual([...before, "Reply 1.", "From the page."]);
  });
});
