// Goes on from replies by their ids alone, where their model server has the history.
import { expect, it, onTestFinished } from "vitest";
import { ask, person, results } from "../../testing/door-client.ts";
import { saidIn } from "../../testing/said-in.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Said } from "../testing/conversation.ts";
import { startEchoes } from "../testing/echoing-upstream.ts";

async function begin() {
  const upstream = await startEchoes();
  onTestFinished(upstream.close);
  let door = await startTestDoor(upstream);
  const sessions: string[] = [];
  const send = async (said: Said[], behind?: string) => {
    const { answer, id, text, calls } = await ask(door, "openai-responses", said, {
      ...{ model: "model", tools: ["read"] },
      ...(behind !== undefined && { more: { previous_response_id: behind } }),
    });
    sessions.push(answer.headers.get("x-clew-session")!);
    return { id: id!, text, calls };
  };
  return {
    ...{ upstream, send, sessions },
    says: (words: string, behind?: string) => send([person(words)], behind),
    async restart() {
      await door.stop();
      door = await startTestDoor(upstream, { home: door.home });
    },
    async branch() {
      await door.gateway.door.settled();
      const lines = await saidIn(door, sessions.at(-1)!);
      return lines.map((line) => line.replace(/^assistant: Reply \d+ to (.*), of .*$/, "to $1"));
    },
  };
}

const THREE = [
  ...["user: question 1", "to question 1", "user: question 2", "to question 2"],
  ...["user: question 3", "to question 3"],
];

it("turns that go on from each other's replies are one session, also behind a restart", async () => {
  const { upstream, says, restart, sessions, branch } = await begin();
  const first = await says("question 1");
  const second = await says("question 2", first.id);
  await restart();
  await says("question 3", second.id);
  expect(new Set(sessions).size).toBe(1);
  expect(await branch()).toEqual(THREE);
  const passed = upstream.heard.map(
    ({ bytes }) => JSON.parse(bytes.toString()) as { previous_response_id?: string },
  );
  expect(passed.map(({ previous_response_id: id }) => id)).toEqual([
    undefined,
    first.id,
    second.id,
  ]);
});

it("what is asked again behind a reply is stored once, with the newest reply", async () => {
  const { says, sessions, branch } = await begin();
  const first = await says("question 1");
  await says("question 2", first.id);
  const again = await says("question 2", first.id);
  await says("question 3", again.id);
  expect(new Set(sessions).size).toBe(1);
  expect(await branch()).toEqual(THREE);
});

it("a result whose call is left out stands behind it", async () => {
  const { send, says, sessions, branch } = await begin();
  const called = await says("use a tool");
  const [call] = called.calls;
  const given = results({ id: call!.id, name: call!.name, text: "found" });
  const answered = await send([given], called.id);
  await says("question 2", answered.id);
  expect(new Set(sessions).size).toBe(1);
  expect(await branch()).toEqual([
    ...["user: use a tool", "assistant: ", "toolResult: found", "to a result"],
    ...["user: question 2", "to question 2"],
  ]);
});

it("who sends all of it then goes on in the same session", async () => {
  const { send, says, sessions, branch } = await begin();
  const first = await says("question 1");
  const second = await says("question 2", first.id);
  const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });
  await send([
    ...[person("question 1"), model(first.text), person("question 2"), model(second.text)],
    person("question 3"),
  ]);
  expect(new Set(sessions).size).toBe(1);
  expect(await branch()).toEqual(THREE);
});

it("who goes on from a reply that nobody here was given begins a session", async () => {
  const { says, sessions, branch } = await begin();
  await says("question 1");
  await says("question 2", "resp_of_another_day");
  expect(new Set(sessions).size).toBe(2);
  expect(await branch()).toEqual(["user: question 2", "to question 2"]);
});
