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

/** A home whose reply is stored, and not in the journal. */
async function killedBehindReply(said: readonly Said[]) {
  const config = await startModel();
  const first = await startTestGateway(config);
  const { text, answer } = await ask(first, api, said, sent);
  expect(text).toBe("Reply 0.");
  const session = answer.headers.get("x-clew-session")!;
  await first.stop();
  const found = await createSessionStore({ home: first.home }).find(session);
  const file = doorJournalFile(found!.file);
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  expect(lines.pop()).toContain('"reply"');
  await writeFile(file, `${lines.join("\n")}\n`);
  return { session, again: await startTestGateway(config, first.home) };
}

describe("a reply that is stored when its gateway is killed, and not written down", () => {
  const question = person("What is it?");

  it("stands beside the one that its client got when it asked again", async () => {
    const { session, again } = await killedBehindReply([question]);
    const { text, answer } = await ask(again, api, [question], sent);
    expect([text, answer.headers.get("x-clew-session")]).toEqual(["Reply 1.", session]);
    await expect.poll(() => textsIn(again, session)).toEqual(["What is it?", "Reply 1."]);
  });

  it("is the same where its client has it", async () => {
    const { session, again } = await killedBehindReply([question]);
    const reply: Said = { uid: null, by: "model", text: "Reply 0.", calls: [] };
    await ask(again, api, [question, reply, person("And then?")], sent);
    await expect
      .poll(() => textsIn(again, session))
      .toEqual(["What is it?", "Reply 0.", "And then?", "Reply 1."]);
  });

  it("stays where a person said something behind it", async () => {
    const { session, again } = await killedBehindReply([question]);
    await again.say("From the page.", { session });
    await ask(again, api, [question], sent);
    const texts = await textsIn(again, session);
    expect(texts.slice(0, 3)).toEqual(["What is it?", "Reply 0.", "From the page."]);
  });
});
