// A session in which its client and Clew's own surfaces take turns.
import { expect, it, onTestFinished } from "vitest";
import { startUpstream } from "../door/testing/upstream.ts";
import { writeReply } from "../door/testing/write-reply.ts";
import { ask, person } from "../testing/door-client.ts";
import { startTestDoor } from "../testing/test-door.ts";
import type { ContextView } from "./context-view.ts";

const API = "openai-completions";

it("shows what the model saw last, whoever asked it before", async () => {
  let count = 0;
  const upstream = await startUpstream((heard, response) => {
    const { stream = false } = JSON.parse(heard.bytes.toString("utf8")) as { stream?: boolean };
    const reply = { text: `reply ${++count}`, thinking: "", calls: [] };
    const usage = { input: 10, output: 5 };
    const written = writeReply(API, reply, { id: `r${count}`, usage, streaming: stream });
    response.writeHead(200, { "content-type": written.contentType }).end(written.pieces.join(""));
  });
  onTestFinished(upstream.close);
  const door = await startTestDoor(upstream, {
    settings: { agents: { defaults: { model: "chat/model" } } },
  });
  const said = [person("first")];
  const asked = async (text?: string) => {
    if (text !== undefined) said.push(person(text));
    const { answer, text: reply } = await ask(door, API, said, { model: "model" });
    said.push({ uid: null, by: "model", text: reply, thinking: "", calls: [] });
    await door.gateway.door.settled();
    return answer.headers.get("x-clew-session")!;
  };
  const session = await asked();
  const last = async () => {
    const answer = await door.get(`/api/sessions/${session}/context`);
    if (answer.status !== 200) return answer.status;
    return ((await answer.json()) as ContextView).messages.at(-1)?.preview;
  };
  for (const turn of [1, 2, 3]) {
    await door.say(`own ${turn}`, { session });
    expect(await last()).toBe(`own ${turn}`);
    await asked(`client ${turn}`);
    expect(await last()).toBe(`client ${turn}`);
  }
});
