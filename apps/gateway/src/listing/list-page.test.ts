import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { WrittenRequest } from "../door/testing/conversation.ts";
import { type ReplyingUpstream, startReplies } from "../door/testing/http-world.ts";
import { writeRequest } from "../door/testing/write-request.ts";
import type { DoorApi } from "../door/wires/door-wire.ts";
import { createSessionList } from "../sessions/session-list.ts";
import { startTestDoor } from "../testing/test-door.ts";
import { createListing } from "./list-page.ts";

const GEMINI = "google-generative-ai";
const CHAT = "openai-completions";

interface Sent {
  api: DoorApi;
  head: string;
  /** What the person, or the client for it, says, message by message. */
  said: readonly string[];
  headers?: Record<string, string>;
  tools?: readonly string[];
  reply: string;
}

async function startWorld() {
  const upstream: ReplyingUpstream = await startReplies();
  onTestFinished(upstream.close);
  const door = await startTestDoor(upstream);
  const send = async ({ api, head, said, headers = {}, tools = [], reply }: Sent) => {
    const messages = said.map((text) => ({ uid: text, by: "person" as const, text }));
    const request: WrittenRequest = writeRequest(api, messages, {
      ...{ model: "model", head: [head], tools },
    });
    const ask = { kind: "turn" as const, request, headers, wantsWords: true, take: () => {} };
    const reply_ = { text: reply, thinking: "", calls: [] };
    const played = await upstream.play(door.url, ask, { reply: reply_, fault: undefined });
    await door.gateway.door.settled();
    return `agent:main:${played.session}`;
  };
  const list = async (query = "") =>
    (await (await fetch(`${door.url}/api/sessions${query}`)).json()) as {
      sessions: Record<string, unknown>[];
      sideRequests: number;
    };
  return { ...door, send, list };
}

const PI = { api: CHAT, tools: ["read"] } as const;
const PI_HEAD = "You are an expert coding assistant operating inside pi, a coding agent harness.";

describe("a list of sessions at the door", () => {
  it("tells the client and the person's first words, and finds by both", async () => {
    const { send, list } = await startWorld();
    const reminder = "<system-reminder>\nToday is a day.\n</system-reminder>";
    const pi = await send({ ...PI, head: PI_HEAD, said: ["Mend the tide table."], reply: "Yes." });
    const kimi = await send({
      ...{ ...PI, head: "You are Kimi Code CLI, an agent.", reply: "Yes." },
      said: [reminder, "Paint\nthe boat."],
    });
    const sdk = await send({ api: CHAT, head: "Be nice.", said: ["Hello there."], reply: "Hi." });
    expect([pi, kimi, sdk].map((key) => key.replace(/[0-9a-f]{12}$/, ""))).toEqual([
      ...["agent:main:pi-", "agent:main:kimi-code-", "agent:main:chat-"],
    ]);
    expect((await list()).sessions).toMatchObject([
      { key: sdk, client: "Chat Completions", firstWords: "Hello there." },
      { key: kimi, client: "Kimi Code", firstWords: "Paint the boat." },
      { key: pi, client: "pi", firstWords: "Mend the tide table." },
    ]);
    const found = async (text: string) =>
      (await list(`?find=${text}`)).sessions.map(({ key }) => key);
    expect(await found("TIDE")).toEqual([pi]);
    expect(await found("kimi%20code")).toEqual([kimi]);
    expect(await found("boat")).toEqual([kimi]);
  });

  it("names a conversation as its client had it named, and counts what was asked for that", async () => {
    const { send, list } = await startWorld();
    const headers = { "x-session-id": "ses_1", "x-session-affinity": "ses_1" };
    const opencode = { api: CHAT, headers } as const;
    const side = await send({
      ...{ ...opencode, head: "You are a title generator.", reply: "Tide table mended" },
      said: ["Generate a title for this conversation:\n", "Mend the tide table."],
    });
    const main = await send({
      ...{ ...opencode, head: "You are opencode, a tool.", tools: ["read"], reply: "Yes." },
      said: ['"Mend the tide table."'],
    });
    const page = await list();
    expect(page.sessions).toMatchObject([
      {
        key: main,
        client: "opencode",
        title: "Tide table mended",
        firstWords: "Mend the tide table.",
      },
    ]);
    expect(page).toMatchObject({ next: null, sideRequests: 1 });
    expect((await list("?all=true")).sessions).toMatchObject([
      { key: main, depth: 0 },
      { key: side, depth: 1, sideRequest: { of: main } },
    ]);
    expect((await list("?find=mended")).sessions).toMatchObject([{ key: main }]);
  });

  it("leaves out what an agent asks without tools, but no conversation of another program", async () => {
    const { send, list } = await startWorld();
    const headers = { "user-agent": "GeminiCLI/0.61.0/model (linux; x64)" };
    const gemini = { api: GEMINI, headers } as const;
    const context = "<session_context>\nThis is the Gemini CLI.\n</session_context>";
    const said = [context, "Mend the tide table."];
    const router = await send({ ...gemini, head: "You route.", said, reply: "{}" });
    const loop = await send({ ...gemini, head: "You check.", said: ["Recent:"], reply: "{}" });
    const main = await send({ ...gemini, head: "You help.", said, tools: ["read"], reply: "Yes." });
    expect(await list()).toMatchObject({ sessions: [{ key: main }], sideRequests: 2 });
    expect((await list("?all=true")).sessions).toMatchObject([
      { key: main, client: "Gemini CLI" },
      { key: router, depth: 1, sideRequest: { of: main } },
      { key: loop, depth: 0, sideRequest: { of: null } },
    ]);
  });

  it("reads again only of sessions that changed, and then what stands there now", async () => {
    const { send, home } = await startWorld();
    const first = await send({
      ...PI,
      head: PI_HEAD,
      said: ["Mend the tide table."],
      reply: "Yes.",
    });
    const listing = createListing();
    const { all } = createSessionList(home);
    const page = async (rows = all()) =>
      listing.page({ rows: await rows, children: [] }, { limit: 9 });
    const [before] = (await page()).sessions;
    // With nothing changed in the transcript, nobody looks at what stands beside it.
    await rm(join(home, "agents/main/sessions", `${before!.sessionId}.jsonl.door`));
    const second = await send({ ...PI, head: PI_HEAD, said: ["Paint the boat."], reply: "Yes." });
    expect((await page()).sessions).toMatchObject([
      { key: second, firstWords: "Paint the boat." },
      { key: first, client: "pi", firstWords: "Mend the tide table." },
    ]);
    const { file } = before!;
    await writeFile(`${file}.new`, (await readFile(file, "utf8")).replaceAll("Mend", "Tend"));
    await rename(`${file}.new`, file);
    expect((await page(createSessionList(home).all())).sessions).toMatchObject([
      { key: first, firstWords: "Tend the tide table." },
      { key: second },
    ]);
  });
});
