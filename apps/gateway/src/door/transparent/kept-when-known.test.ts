// Leaves a door, or stops its replies, and looks at what is stored of what was said.
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { ask, person, request } from "../../testing/door-client.ts";
import type { TestGateway } from "../../testing/gateway.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Said } from "../testing/conversation.ts";
import { HELD_WORDS, LAST_WORDS, startHeldUpstream } from "../testing/held-upstream.ts";
import { startUpstream } from "../testing/upstream.ts";
import { writeReply } from "../testing/write-reply.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { wireAt } from "../wires/find-wire.ts";

const sent = { streaming: true, model: "model", tools: ["read"] };
const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });

/** Of each session, who said what, on its branch. */
async function saidInAll({ gateway }: TestGateway): Promise<string[][]> {
  await gateway.door.settled();
  const sessions = await gateway.sessions();
  return Promise.all(
    sessions.map(async ({ key }) =>
      ((await gateway.store.read(key))?.branch ?? []).flatMap((entry) => {
        if (entry.type !== "message") return [];
        const { role, content } = entry.message as {
          role: string;
          content: string | { text?: string }[];
        };
        const told = typeof content === "string" ? [{ text: content }] : content;
        return [`${role}: ${told.map(({ text = "" }) => text).join("")}`];
      }),
    ),
  );
}

const turnsOf = async ({ get }: TestGateway) =>
  ((await (await get("/api/health")).json()) as { turns: object }).turns;

describe.each(DOOR_APIS)("by %s, a client that leaves before the model is asked", (api) => {
  async function leaving(said: readonly Said[], before?: readonly Said[]) {
    const upstream = await startHeldUpstream();
    const limits = { runningTurns: 1 };
    const door = await startTestDoor(upstream, { settings: { gateway: { limits } } });
    const answered = async (asked: readonly Said[]) => {
      const answer = ask(door, api, asked, sent);
      (await upstream.asked()).finish();
      return answer;
    };
    if (before !== undefined) await answered(before);
    const running = ask(door, api, [person("Somebody else")], sent);
    const stream = await upstream.asked();
    const away = new AbortController();
    const left = request(door, api, said, { ...sent, signal: away.signal }).catch(() => {});
    await expect.poll(() => turnsOf(door)).toMatchObject({ waiting: 1 });
    away.abort();
    await left;
    await expect.poll(() => turnsOf(door)).toMatchObject({ waiting: 0 });
    const others = async () => {
      stream.finish();
      await running;
    };
    return { door, answered, others };
  }

  const LATER = [person("Why?"), model(HELD_WORDS), person("And then?")];
  it.each([
    { turn: "first", said: [person("Why?")], before: undefined },
    { turn: "later", said: LATER, before: [person("Why?")] },
  ])("and asks again has its $turn message stored, once", async ({ said, before }) => {
    const { door, answered, others } = await leaving(said, before);
    await others();
    await answered(said);
    const sessions = await saidInAll(door);
    const words = before === undefined ? ["user: Why?"] : ["user: Why?", "user: And then?"];
    expect(sessions).toHaveLength(2);
    expect(sessions).toContainEqual(words.flatMap((word) => [word, `assistant: ${HELD_WORDS}`]));
  });

  it("and does not come back has its message stored all the same", async () => {
    const { door, others } = await leaving([person("Why?")]);
    await others();
    expect(await saidInAll(door)).toContainEqual(["user: Why?"]);
  });
});

describe.each(DOOR_APIS)("by %s, a first turn", (api) => {
  type End = "stopped" | "left" | "broken";
  async function cut(end: End) {
    const upstream = await startHeldUpstream();
    const door = await startTestDoor(upstream);
    const away = new AbortController();
    const answer = await request(door, api, [person("Why?")], { ...sent, signal: away.signal });
    const stream = await upstream.asked();
    const session = answer.headers.get("x-clew-session")!;
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; !text.includes(LAST_WORDS); ) text += (await reader.read()).value ?? "";
    const over = reader.closed.catch(() => {});
    if (end === "stopped") await door.get(`/api/sessions/${session}/abort`, { method: "POST" });
    else if (end === "left") away.abort();
    else stream.breakOff();
    await Promise.all([reader.cancel().catch(() => {}), over, stream.closed]);
    const next = async (said: readonly Said[]) => {
      const asked = ask(door, api, said, sent);
      (await upstream.asked()).finish();
      return (await asked).answer.headers.get("x-clew-session");
    };
    return { door, session, next };
  }

  it.each<End>(["stopped", "left", "broken"])(
    "that was %s is the same session for what is said instead",
    async (end) => {
      const { door, session, next } = await cut(end);
      expect(await next([person("Why?"), person("No, how?")])).toBe(session);
      expect(await saidInAll(door)).toEqual([
        ["user: Why?", "user: No, how?", `assistant: ${HELD_WORDS}`],
      ]);
    },
  );

  it("that was left is the same session where it is asked again", async () => {
    const { door, session, next } = await cut("left");
    expect(await next([person("Why?")])).toBe(session);
    expect(await saidInAll(door)).toEqual([["user: Why?", `assistant: ${HELD_WORDS}`]]);
  });
});

/** Answers at once, with whatever wire and in whatever form it is asked. */
async function startQuick() {
  const upstream = await startUpstream(({ url, bytes }, response) => {
    const { api } = wireAt(url.split("?")[0]!)!;
    const isAsked = (JSON.parse(bytes.toString()) as { stream?: boolean }).stream === true;
    const streaming = isAsked || url.includes("streamGenerateContent");
    const usage = { input: 100, output: 20 };
    const reply = { text: HELD_WORDS, thinking: "", calls: [] };
    const written = writeReply(api, reply, { id: "quick", usage, streaming });
    response.writeHead(200, { "content-type": written.contentType });
    response.end(written.pieces.join(""));
  });
  onTestFinished(upstream.close);
  return upstream;
}

const COMES = DOOR_APIS.flatMap((api) => [true, false].map((streaming) => ({ api, streaming })));

it.each(COMES)(
  "by $api, streamed $streaming, who has the end of a reply has its message on disk",
  async ({ api, streaming }) => {
    const door = await startTestDoor(await startQuick());
    const store = async (count: number) => {
      const said = [person(`Question ${count}`)];
      const { answer } = await ask(door, api, said, { ...sent, streaming });
      const found = await door.gateway.store.read(answer.headers.get("x-clew-session")!);
      return JSON.stringify(found?.branch ?? []);
    };
    const stored = await Promise.all(Array.from({ length: 20 }, (_, count) => store(count)));
    for (const [count, text] of stored.entries()) expect(text).toContain(`Question ${count}`);
  },
);

it("what is stored behind replies is not told as turns", async () => {
  const limits = { runningTurns: 2, waitingTurns: 100 };
  const door = await startTestDoor(await startQuick(), { settings: { gateway: { limits } } });
  const { gateway } = door;
  let most = 0;
  let isOver = false;
  const look = () => {
    most = Math.max(most, gateway.busy().running);
    if (!isOver) setImmediate(look);
  };
  look();
  const asked = (count: number) => ask(door, DOOR_API, [person(`Question ${count}`)], sent);
  await Promise.all(Array.from({ length: 30 }, (_, count) => asked(count)));
  expect(gateway.busy()).toEqual({ running: 0, waiting: 0 });
  await gateway.door.settled();
  isOver = true;
  expect(most).toBe(2);
});

const DOOR_API: DoorApi = "openai-completions";
