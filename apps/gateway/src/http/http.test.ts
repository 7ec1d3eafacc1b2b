import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import type { CallPage } from "../inspect/shapes/calls.ts";
import type { FateCounts } from "../inspect/shapes/entries.ts";
import { createSessionStore } from "../sessions/store.ts";
import { startChild } from "../testing/child.ts";
import { runClew, startClew } from "../testing/command.ts";
import {
  emulatedModel,
  parseStream,
  post,
  startTestGateway,
  type TestGateway,
} from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";

async function emulator(options: Parameters<typeof createOpenAIEmulator>[0]) {
  const server = await createOpenAIEmulator(options);
  onTestFinished(() => server.close());
  return server;
}

/** A request with headers that fetch does not let one set. */
function rawRequest(
  url: string,
  headers: Record<string, string>,
  method = "GET",
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      let body = "";
      response.on("data", (piece) => {
        body += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

const until = async (condition: () => boolean | Promise<boolean>) => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
};

/** Messages of a session as the API shows it; the policy keeps notes of its own between them. */
async function messagesOf(
  get: TestGateway["get"],
  session = "main",
): Promise<{ id: string; message: { role: string; content: unknown; stopReason?: string } }[]> {
  const response = await get(`/api/sessions/${encodeURIComponent(session)}`);
  if (!response.ok) return [];
  const { entries } = (await response.json()) as {
    entries: { type: string; id: string; message: { role: string; content: unknown } }[];
  };
  return entries.filter(({ type }) => type === "message");
}

describe("a message over HTTP", () => {
  it("is accepted with its durable entry, streamed, and finished", async () => {
    const { say, get, home } = await startTestGateway();
    const { events, text } = await say("My cat is called Minka.");
    expect(events.map(({ type }) => type)).toEqual([
      "queued",
      "accepted",
      "text",
      "message",
      "done",
    ]);
    expect(text).toBe("Noted.");
    const answer = await say("What is my cat called?");
    expect(answer.text).toContain("Minka");
    expect(answer.events.at(-1)).toMatchObject({
      ...{ type: "done", outcome: "completed", error: null },
      stopReason: "stop",
    });

    const shown = (await (await get("/api/sessions/main")).json()) as {
      sessionId: string;
      totalEntries: number;
    };
    const messages = await messagesOf(get);
    expect(messages).toHaveLength(4);
    expect(messages[0]!.id).toBe(events[1]!.entryId);
    const file = await readFile(
      join(home, "agents/main/sessions", `${shown.sessionId}.jsonl`),
      "utf8",
    );
    expect(file.trim().split("\n")).toHaveLength(shown.totalEntries + 1);
    expect(await (await get("/api/sessions")).json()).toMatchObject({
      sessions: [{ key: "agent:main:main", busy: false }],
    });
  });

  it("is shown to people without what the host put around it, as it arrives and afterwards", async () => {
    const { url, get, home } = await startTestGateway();
    const hidden =
      "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nhost: bureau\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";
    const session = await createSessionStore({ home }).open({ key: "main", cwd: home });
    await session.append([
      {
        type: "message",
        message: { role: "user", content: `${hidden}\n\nMy cat is called Minka.` },
      },
      {
        type: "message",
        message: {
          role: "assistant",
          content: [{ type: "text", text: "Noted." }],
          stopReason: "stop",
        },
      },
      { type: "custom_message", customType: "openclaw.runtime-context", content: "host: bureau" },
    ]);
    await session.close();
    const { text } = parseStream(
      await (
        await fetch(`${url}/api/sessions/main/messages`, post({ text: "What is my cat called?" }))
      ).text(),
    );
    expect(text).toContain("Minka");
    const shown = await (await get("/api/sessions/main")).text();
    expect(shown).toContain("My cat is called Minka.");
    expect(shown).not.toMatch(/OPENCLAW|host: bureau/);
  });

  it("reaches an OpenAI-compatible server and streams its reply", async () => {
    const server = await emulator({ answers: [{ text: "Hello there." }] });
    const { say } = await startTestGateway(emulatedModel(server.baseUrl));
    expect((await say("hi")).text).toBe("Hello there.");
    await say("again");
    const messages = server.requests[1]!.body!.messages as { role: string; content: unknown }[];
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(server.violations).toEqual([]);
  });

  it("ends with the reason why the reply ended, or why there is none", async () => {
    const server = await emulator({
      answers: [
        { text: "Half of", finishReason: "length" },
        { fault: "refusal", message: "No." },
      ],
    });
    const { say } = await startTestGateway(emulatedModel(server.baseUrl));
    expect((await say("hi")).events.at(-1)).toMatchObject({ type: "done", stopReason: "length" });
    expect((await say("hi")).events.at(-1)).toMatchObject({
      ...{ type: "done", outcome: "failed", stopReason: null },
    });
    expect((await say("/status")).events.at(-1)).not.toHaveProperty("stopReason");
  });

  it("uses the workspace tools", async () => {
    const { say, home } = await startTestGateway();
    await mkdir(join(home, "agents/main/workspace"), { recursive: true });
    await writeFile(
      join(home, "agents/main/workspace/harbour.md"),
      "The harbour master is called Ondine Brack.\n",
    );
    const { events, text } = await say("What is the harbour master called?");
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["tool_start", "tool_end"]),
    );
    expect(text).toContain("Ondine Brack");
  });

  it("says in one sentence that the model server cannot be reached, and keeps the message", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const { say, get } = await startTestGateway(emulatedModel(`http://127.0.0.1:${port}/v1`));
    const { events } = await say("hi");
    expect(events.at(-1)).toMatchObject({
      type: "done",
      outcome: "failed",
      error: { kind: "network", message: expect.stringContaining(String(port)) },
    });
    expect((await messagesOf(get))[0]!.message.content).toBe("hi");
  });

  it("waits for the one before it in the same session, and for nothing in another", async () => {
    const server = await emulator({
      answers: (_, index) =>
        index === 0 ? { fault: "hang", text: "slow" } : { text: `reply ${index}` },
    });
    const { say, get } = await startTestGateway(emulatedModel(server.baseUrl));
    const first = say("one");
    await until(() => server.requests.length === 1);
    const second = say("two");
    expect((await say("elsewhere", { session: "other" })).text).toBe("reply 1");
    expect(server.requests).toHaveLength(2);
    await get("/api/sessions/main/abort", post({}));
    expect((await first).events.at(-1)).toMatchObject({ type: "done", outcome: "aborted" });
    // The one that waited was not cancelled with it.
    expect((await second).text).toBe("reply 2");
    expect((await say("three")).text).toBe("reply 3");
  });

  it("keeps its reply when the client goes away, and ends the run only when asked to", async () => {
    const server = await emulator({ answers: [{ text: "The whole reply." }] });
    const { get, url } = await startTestGateway(emulatedModel(server.baseUrl));
    const gone = new AbortController();
    await fetch(`${url}/api/sessions/main/messages`, {
      ...post({ text: "hi" }),
      signal: gone.signal,
    });
    gone.abort();
    await until(async () => (await messagesOf(get)).length === 2);
    expect(JSON.stringify(await messagesOf(get))).toContain("The whole reply.");
  });

  it("ends the run with the client when the client asked for that", async () => {
    const server = await emulator({ answers: [{ fault: "hang", text: "begun" }] });
    const { get, url } = await startTestGateway(emulatedModel(server.baseUrl));
    const gone = new AbortController();
    const response = await fetch(`${url}/api/sessions/main/messages`, {
      ...post({ text: "hi", onDisconnect: "abort" }),
      signal: gone.signal,
    });
    const reader = response.body!.getReader();
    let seen = "";
    while (!seen.includes("begun")) seen += new TextDecoder().decode((await reader.read()).value);
    gone.abort();
    await until(async () => (await messagesOf(get)).length === 2);
    expect((await messagesOf(get))[1]!.message).toMatchObject({
      role: "assistant",
      stopReason: "aborted",
      content: [{ text: "begun" }],
    });
  });

  it("that is none is refused", async () => {
    const { get } = await startTestGateway();
    for (const body of [
      {},
      { text: " " },
      { text: 5 },
      { content: [] },
      { content: [{ type: "image", data: "!", mimeType: "image/png" }] },
    ]) {
      expect((await get("/api/sessions/main/messages", post(body))).status).toBe(400);
    }
    expect(
      (await get("/api/sessions/main/messages", { method: "POST", body: '{"text":"x"}' })).status,
    ).toBe(400);
    expect(
      (await get(`/api/sessions/${encodeURIComponent("agent:x")}/messages`, post({ text: "x" })))
        .status,
    ).toBe(400);
  });

  it("to a session that another process has is answered with who has it", async () => {
    const { home, say } = await startTestGateway();
    const holder = startChild(new URL("../testing/session-writer.ts", import.meta.url), [
      home,
      "hold",
    ]);
    await holder.nextLine();
    const { events } = await say("hi");
    expect(events.at(-1)).toMatchObject({
      type: "error",
      error: {
        code: "SESSION_LOCKED",
        message: expect.stringContaining(`process ${holder.process.pid}`),
      },
    });
  });
});

describe("what the model saw", () => {
  it("is told item by item, with source, tokens and text", async () => {
    const { say, get } = await startTestGateway();
    expect((await get("/api/sessions/main/context")).status).toBe(404);
    await say("My cat is called Minka.");
    await say("What is my cat called?");
    const view = (await (await get("/api/sessions/main/context")).json()) as {
      messages: { source: { kind: string; entryId: string }; preview: string; tokens: number }[];
      system: { preview: string }[];
      tokens: { total: number };
      budget: { contextWindow: number };
    };
    expect(view.messages.map(({ preview }) => preview)).toEqual([
      "My cat is called Minka.",
      "Noted.",
      "What is my cat called?",
    ]);
    expect(view.messages.every(({ source, tokens }) => source.kind === "entry" && tokens > 0)).toBe(
      true,
    );
    expect(view.system[0]!.preview).toContain("Clew");
    expect(view.budget.contextWindow).toBe(200_000);
    expect(view.tokens.total).toBeGreaterThan(20);
    expect(await (await get("/api/sessions/main/context/messages/0")).text()).toBe(
      "My cat is called Minka.",
    );
    expect(await (await get("/api/sessions/main/context/system/0")).text()).toContain("Clew");
    expect((await get("/api/sessions/main/context/messages/9")).status).toBe(404);
    expect((await get("/api/sessions/main/context/parts/0")).status).toBe(404);
  });

  it("says of every entry in the last call what the list of calls says of it", async () => {
    const { say, get } = await startTestGateway();
    await say("My cat is called Minka.");
    await say("What is my cat called?");
    const { fates } = (await (await get("/api/sessions/main/context")).json()) as {
      fates: FateCounts;
    };
    const { calls } = (await (await get("/api/sessions/main/calls")).json()) as CallPage;
    expect(fates).toEqual(calls.at(-1)!.fates);
    expect(fates).toMatchObject({ all: 3, shown: 3, leftOut: 0 });
  });

  it("is still known after a restart", async () => {
    const first = await startTestGateway();
    await first.say("My cat is called Minka.");
    await first.stop();
    const second = await startTestGateway({}, first.home);
    expect(await (await second.get("/api/sessions/main/context")).json()).toMatchObject({
      messages: [{ preview: "My cat is called Minka." }],
    });
    expect((await second.say("What is my cat called?")).text).toContain("Minka");
  });
});

describe("the server", () => {
  it("answers this machine's own names and pages only", async () => {
    const { url } = await startTestGateway();
    const { host, port } = new URL(url);
    expect(
      (
        await rawRequest(`${url}/api/health`, {
          host: `localhost:${port}`,
          origin: `http://${host}`,
        })
      ).status,
    ).toBe(200);
    expect((await rawRequest(`${url}/api/health`, { host: "evil.example" })).status).toBe(403);
    expect((await rawRequest(`${url}/api/health`, { host: `evil.example:${port}` })).status).toBe(
      403,
    );
    expect(
      (await rawRequest(`${url}/api/health`, { host, origin: "http://evil.example" })).status,
    ).toBe(403);
    expect((await rawRequest(`${url}/api/health`, { host, origin: "null" })).status).toBe(403);
    expect((await rawRequest(`${url}/`, { host: "evil.example" })).status).toBe(403);
  });

  it("tells its health, its page, and that there is nothing elsewhere", async () => {
    const { get } = await startTestGateway();
    expect(await (await get("/api/health")).json()).toMatchObject({
      status: "ok",
      model: "offline/offline",
      engine: { configured: null, known: ["legacy"], quarantined: [] },
      turns: { running: 0, waiting: 0 },
      ...{ notReady: [], unstored: [] },
    });
    const page = await get("/");
    expect(await page.text()).toBe("<p>page</p>");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
    expect((await get("/nothing")).status).toBe(404);
    expect((await get("/api/sessions/unknown")).status).toBe(404);
  });

  it("keeps names with slashes, colons and spaces apart", async () => {
    const { say, get } = await startTestGateway();
    for (const name of ["a/b", "a:b c", "ü%2F"]) {
      await say(`This is ${name}.`, { session: name });
      expect(await messagesOf(get, name)).toHaveLength(2);
    }
  });

  it("started by `clew start` is ready, and stops on each signal and with its parent", async () => {
    for (const end of ["SIGTERM", "SIGINT", "disconnect"] as const) {
      const child = startClew(await temporaryHome(), ["start", "--port", "0"], {
        ipc: true,
        fromSource: end === "SIGTERM",
      });
      const url = /http:\/\/[\d.:]+/.exec(await child.nextLine())![0];
      const { events } = parseStream(
        await (await fetch(`${url}/api/sessions/main/messages`, post({ text: "hello" }))).text(),
      );
      expect(events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      if (end === "disconnect") child.process.disconnect();
      else child.process.kill(end);
      expect(await child.exit).toBe(0);
      await expect(fetch(`${url}/api/health`)).rejects.toThrow();
    }
  });

  it("ends with 0 when it is stopped the moment it says that it runs", async () => {
    const child = startClew(await temporaryHome(), ["start", "--port", "0"]);
    await child.nextLine();
    child.process.kill("SIGTERM");
    expect(await child.exit).toBe(0);
  });

  it("stopped in the middle of a reply keeps what had arrived, tells the client and leaves no lock", async () => {
    const server = await emulator({ answers: [{ fault: "hang", text: "begun" }] });
    const home = await temporaryHome();
    await writeFile(join(home, "clew.json"), JSON.stringify(emulatedModel(server.baseUrl)));
    const child = startClew(home, ["start", "--port", "0"]);
    const url = /http:\/\/[\d.:]+/.exec(await child.nextLine())![0];
    const response = await fetch(`${url}/api/sessions/main/messages`, post({ text: "hi" }));
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    let seen = "";
    while (!seen.includes("begun")) seen += decoder.decode((await reader.read()).value);
    child.process.kill("SIGTERM");
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      seen += decoder.decode(piece.value);
    expect(parseStream(seen).events.at(-1)).toMatchObject({ type: "done", outcome: "aborted" });
    expect(await child.exit).toBe(0);
    expect(
      (await readdir(join(home, "agents/main/sessions"))).filter((name) => name.includes("lock")),
    ).toEqual([]);
    const again = await startTestGateway({}, home);
    expect((await messagesOf(again.get))[1]!.message).toMatchObject({
      stopReason: "aborted",
      content: [{ text: "begun" }],
    });
  });

  it("says what to do when its port is in use", async () => {
    const { url } = await startTestGateway();
    const { port } = new URL(url);
    const { code, errors } = await runClew(await temporaryHome(), ["start", "--port", port]);
    expect(code).toBe(1);
    expect(errors).toMatch(
      /^clew: Port \d+ is in use by another gateway \(home [0-9a-f]{16}\); .*--port 0.*\[PORT_UNAVAILABLE\]$/,
    );
    expect(errors.split("\n")).toHaveLength(1);
  });
});
