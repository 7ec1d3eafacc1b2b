import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createSessionStore } from "../../sessions/store.ts";
import { homeWithOwnPort } from "../../testing/home.ts";

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));
const KEY = "the-secret-of-the-other-provider";
let home: string;

beforeAll(async () => {
  home = await homeWithOwnPort({ keep: true });
  await writeFile(
    join(home, "clew.json"),
    JSON.stringify({
      models: {
        providers: { other: { baseUrl: "http://127.0.0.1:9", apiKey: KEY, models: [{ id: "x" }] } },
      },
    }),
  );
  await record("agent:main:tides", [
    ["user", "When is high tide in Husum?"],
    ["assistant", "At noon, says the tide table."],
    ["user", `My key is ${KEY}, keep it.`],
    ["assistant", "Kept.", "I think of nothing but the tide."],
  ]);
  await record("agent:main:cats", [
    ["user", "My cat is called Minka."],
    ["assistant", `Noted. ${"A long word about cats. ".repeat(2000)}The end of it.`],
  ]);
  await record("agent:other:tides", [["user", "The tide of the other agent."]]);
});

async function record(key: string, said: [role: string, text: string, thinking?: string][]) {
  const session = await createSessionStore({ home }).open({ key, cwd: home });
  for (const [role, text, thinking] of said)
    await session.append([
      {
        type: "message",
        message:
          role === "user"
            ? { role: "user", content: text }
            : {
                role: "assistant",
                content: [
                  ...(thinking === undefined ? [] : [{ type: "thinking" as const, thinking }]),
                  { type: "text", text },
                ],
                stopReason: "stop",
              },
      },
    ]);
  await session.close();
}

/** The real command, asked by the official client. */
async function connect(args: string[] = [], mode: "legacy" | "auto" = "legacy") {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      "--conditions=@clew/source",
      "--disable-warning=ExperimentalWarning",
      MAIN,
      "mcp",
      ...args,
    ],
    env: { CLEW_HOME: home },
    stderr: "pipe",
  });
  await client.connect(transport, { timeout: 120_000 });
  onTestFinished(() => client.close());
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const text = content.map((block) => (block.type === "text" ? block.text : "?")).join("\n");
    return isError ? `error: ${text}` : text;
  };
  return { client, call };
}

describe("clew mcp", () => {
  it.each(["legacy", "auto"] as const)("answers a client of the era %s", async (mode) => {
    const { client, call } = await connect([], mode);
    expect(client.getProtocolEra()).toBe(mode === "auto" ? "modern" : "legacy");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...["search_sessions", "read_session", "describe_sessions"],
    ]);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    expect(await call("search_sessions", { query: "HIGH tide" })).toMatch(
      /^agent:main:tides {2}\S+ \S+ {2}\S+ {2}When is high tide in Husum\?$/,
    );
  });

  it("finds what all words of a search stand in, and reads on from there", async () => {
    const { call } = await connect();
    const found = (await call("search_sessions", { query: "tide" })).split("\n");
    expect(found).toHaveLength(3);
    const [session, , , entry] = found.find((line) => line.includes("noon"))!.split(/ +/);
    const read = await call("read_session", { session, from: entry });
    expect(read).toMatch(/assistant:\n {2}At noon, says the tide table\./);
    expect(read).not.toContain("Husum");
    expect(await call("search_sessions", { query: '"tide in" noon' })).toMatch(/^Nothing is found/);
    expect(await call("search_sessions", { query: "tide", session: "cats" })).toMatch(/^Nothing/);
  });

  it("shows what a person may see, without keys and thoughts", async () => {
    const { call } = await connect();
    const read = await call("read_session", { session: "tides" });
    expect(read).toContain("My key is (hidden), keep it.");
    expect(read).not.toContain("nothing but the tide");
    // It cannot be guessed letter by letter either.
    for (const query of [KEY, KEY.slice(0, 5), "the-secret-of"])
      expect(await call("search_sessions", { query })).toMatch(/^Nothing is found/);
  });

  it("gives a long session in pages", async () => {
    const { call } = await connect();
    const first = await call("read_session", { session: "cats" });
    expect(first).toMatch(/There is more: page 2\.$/);
    const second = await call("read_session", { session: "cats", page: 2 });
    const third = await call("read_session", { session: "cats", page: 3 });
    expect(`${second}${third}`).toContain("The end of it.");
    expect(await call("read_session", { session: "cats", page: 9 })).toBe(
      "error: There is no page 9.",
    );
  });

  it("tells which sessions there are, and of one what it is about", async () => {
    const { call } = await connect();
    expect((await call("describe_sessions")).split("\n")).toHaveLength(3);
    const one = await call("describe_sessions", { session: "tides" });
    expect(one).toContain("2 messages of people, 2 replies");
    expect(one).toMatch(/first request \(\S+\): When is high tide in Husum\?/);
  });

  it("shows only the agents and sessions that its options name", async () => {
    const ofAgent = await connect(["--agent", "other"]);
    expect(await ofAgent.call("describe_sessions")).toMatch(/^agent:other:tides \S*.*$/);
    expect(await ofAgent.call("search_sessions", { query: "tide" })).not.toContain("agent:main");
    expect(await ofAgent.call("read_session", { session: "agent:main:tides" })).toBe(
      'error: There is no session "agent:main:tides" here; describe_sessions lists them.',
    );
    const ofSession = await connect(["--session", "cats"]);
    expect(await ofSession.call("search_sessions", { query: "tide" })).toMatch(/^Nothing is found/);
    expect(await ofSession.call("read_session", { session: "tides" })).toMatch(
      /^error: There is no/,
    );
  });

  it("takes wrong arguments for what they are, and goes on", async () => {
    const { client, call } = await connect();
    await expect(
      client.callTool({ name: "read_session", arguments: { page: -1 } }).then((result) => {
        if (result.isError) throw new Error("refused");
      }),
    ).rejects.toThrow();
    expect(await call("read_session", { session: "a/b\0" })).toMatch(/^error: /);
    expect(await call("describe_sessions", { session: "cats" })).toContain("agent:main:cats");
  });
});
