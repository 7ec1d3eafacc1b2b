import { createOpenAIEmulator, type EmulatorAnswer } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { emulatedModel, startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { scripted, scriptedSettings, until } from "../../testing/mcp.ts";

interface Body {
  messages: { role: string; content: unknown }[];
  tools?: { function: { name: string } }[];
}

const call = (name: string, given: Record<string, unknown> = {}): EmulatorAnswer => ({
  toolCalls: [{ name, arguments: given }],
});

/** A gateway whose model answers by `replies`, one after the other. */
async function world(servers: Record<string, unknown>, replies: EmulatorAnswer[] = []) {
  const requests: Body[] = [];
  const left = [...replies];
  const server = await createOpenAIEmulator({
    answers: ({ body }) => {
      requests.push(body as unknown as Body);
      return left.shift() ?? { text: "done" };
    },
  });
  onTestFinished(() => server.close());
  const gateway = await startTestGateway({
    ...emulatedModel(server.baseUrl),
    mcp: { servers },
    tools: { approval: { expireMs: 0 } },
  });
  const offered = (at: number) =>
    (requests[at]!.tools ?? [])
      .map((tool) => tool.function.name)
      .filter((name) => /^mcp_/.test(name));
  return { gateway, requests, offered };
}

const resultIn = ({ messages }: Body): string =>
  JSON.stringify(messages.findLast(({ role }) => role === "tool")!.content);

async function newestTurn({ get }: TestGateway) {
  const answer = await get("/api/sessions/main/context");
  return ((await answer.json()) as { turn: Record<string, unknown> }).turn;
}

const noticesIn = ({ events }: Awaited<ReturnType<TestGateway["say"]>>) =>
  events.flatMap(({ type, text }) => (type === "notice" ? [text] : []));

describe("a turn with an MCP server", () => {
  it("offers its tools, runs them, and tells of what became of it", async () => {
    const { gateway, requests, offered } = await world({ scripted: scriptedSettings() }, [
      call("mcp__scripted__echo", { text: "hello" }),
      call("mcp__scripted__die"),
      { text: "the server is gone" },
    ]);
    const first = await gateway.say("use it");
    expect(first.text).toBe("the server is gone");
    expect(offered(0)).toContain("mcp__scripted__echo");
    expect(resultIn(requests[1]!)).toContain("echo: hello");
    expect(offered(2)).toEqual([]);
    expect(resultIn(requests[2]!)).toContain("it ended with exit code 7");
    expect(noticesIn(first)).toEqual([
      expect.stringContaining("12 tools of it are gone until it is back"),
    ]);
    expect(await newestTurn(gateway)).toMatchObject({
      toolServers: [{ server: "scripted", kind: "away" }],
      toolCalls: [
        { name: "mcp__scripted__echo", isError: false },
        { name: "mcp__scripted__die", isError: true, note: expect.stringContaining("exit code 7") },
      ],
    });
    await until(() => gateway.gateway.mcp.status()[0]!.state === "ready");
    const second = await gateway.say("again");
    expect(second.text).toBe("done");
    expect(offered(3)).toContain("mcp__scripted__echo");
    expect((await newestTurn(gateway)).toolServers).toEqual([
      expect.objectContaining({ kind: "back" }),
    ]);
    await gateway.say("once more");
    expect(await newestTurn(gateway)).not.toHaveProperty("toolServers");
  });

  it("offers what a server renamed in the next request of the same turn", async () => {
    const { gateway, requests, offered } = await world({ scripted: scriptedSettings() }, [
      call("mcp__scripted__rename"),
      call("mcp__scripted__shout", { text: "x" }),
    ]);
    await gateway.say("go");
    expect(offered(0)).toContain("mcp__scripted__echo");
    expect(offered(1)).not.toContain("mcp__scripted__echo");
    expect(offered(1)).toContain("mcp__scripted__shout");
    expect(resultIn(requests[2]!)).toContain("echo: x");
  });

  it("stores a huge result, shows its ends, and lets the model read the rest", async () => {
    const { gateway, requests } = await world({ scripted: scriptedSettings() }, [
      call("mcp__scripted__huge", { bytes: 900_000 }),
      call("session_read", { id: "#3", page: 9 }),
    ]);
    await gateway.say("go");
    expect(resultIn(requests[1]!).length).toBeLessThan(300_000);
    expect(resultIn(requests[1]!)).toContain("session_read");
    expect(resultIn(requests[2]!)).toContain("0123456789abcdef0123456789abcdef");
    expect(resultIn(requests[2]!)).toContain("page 10");
  });

  it("asks a person before a tool changes something, and takes no answer for no", async () => {
    const { gateway, requests } = await world({ scripted: scriptedSettings("--notes=/dev/null") }, [
      call("mcp__scripted__note", { text: "x" }),
    ]);
    await gateway.say("go");
    expect(resultIn(requests[1]!)).toContain("needs a person's approval");
  });

  it("begins without a server that hangs, and says so", async () => {
    const { gateway, offered } = await world({
      mute: { ...scriptedSettings("--mute"), connectTimeoutMs: 300 },
      scripted: scriptedSettings(),
    });
    const said = await gateway.say("hello");
    expect(said.text).toBe("done");
    expect(offered(0)).toHaveLength(12);
    expect(noticesIn(said)).toEqual([
      expect.stringMatching(/MCP server "mute" is not there: it was not ready within 300 ms/),
    ]);
  });

  it("finds servers of one session in that session only", async () => {
    const { gateway, offered } = await world({});
    const own = gateway.gateway.mcp.attach("agent:main:editor", [scripted([], { name: "own" })]);
    await gateway.say("hello", { session: "editor" });
    await gateway.say("hello", { session: "main" });
    expect(offered(0)).toContain("mcp__own__echo");
    expect(offered(1)).toEqual([]);
    await own.close();
    await gateway.say("hello", { session: "editor" });
    expect(offered(2)).toEqual([]);
  });
});
