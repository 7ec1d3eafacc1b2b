import { CLEW_EMBEDDED_HOST, type ExecutionEvent, type ExecutionTurn } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import type { Harness, HarnessRequest } from "./harness.ts";

/** Says what it is told to, and keeps what it was asked for. */
function echo() {
  const requests: HarnessRequest[] = [];
  const turns: ExecutionTurn[] = [];
  let closed = 0;
  const harness: Harness = {
    ...{ id: "echo", api: "offline", takesTools: true },
    host: { id: "echo-host", label: "Echo", capabilities: CLEW_EMBEDDED_HOST.capabilities },
    port(request) {
      requests.push(request);
      return {
        ...{ id: "echo-host", label: "Echo", harnessId: "echo" },
        capabilities: CLEW_EMBEDDED_HOST.capabilities,
        begin(turn) {
          turns.push(turn);
          const said = turn.turn.at(-1)?.message;
          const text = said?.role === "user" ? `heard ${JSON.stringify(said.content)}` : "";
          const events: ExecutionEvent[] = [
            {
              type: "usage",
              usage: { input: 1000, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 1010 },
            },
            {
              type: "messages",
              messages: [
                { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" },
              ],
            },
          ];
          return {
            next: async () => events.shift() ?? { type: "end", outcome: { status: "completed" } },
            close: () => {},
          };
        },
      };
    },
    check: async () => ({ ok: true, version: "1", command: "echo" }),
    describe: async () => "a shell",
    letGo: async () => {},
    forget: async () => {},
    close: async () => void closed++,
  };
  return { harness, requests, turns, closedTimes: () => closed };
}

describe("agents.list[].harness", () => {
  it("chooses who runs the turns of one agent, and the others stay with the gateway", async () => {
    const { harness, requests, turns, closedTimes } = echo();
    const gateway = await startTestGateway(
      { agents: { list: [{ id: "main" }, { id: "coder", harness: "echo" }] } },
      undefined,
      {},
      { harnesses: { echo: async () => harness } },
    );
    const own = await gateway.say("hi");
    expect(own.text).not.toContain("heard");
    await gateway.say("hello", { session: "agent:coder:main" });
    const stored = await gateway.get("/api/sessions/agent%3Acoder%3Amain/messages");
    expect(await stored.text()).toContain('heard \\"hello\\"');
    expect(turns).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      session: { agentId: "coder" },
      model: { name: "offline/offline" },
    });
    await gateway.stop();
    expect(closedTimes()).toBe(1);
  });

  it("stores the message and says what there is when nothing is called that", async () => {
    const gateway = await startTestGateway({ agents: { defaults: { harness: "codx" } } });
    const { events } = await gateway.say("hi");
    expect(JSON.stringify(events)).toContain(
      'Agent \\"main\\" runs its turns in \\"codx\\", which no setting names; there is \\"embedded\\"',
    );
    const stored = await gateway.get("/api/sessions/main/messages");
    expect(await stored.text()).toContain('"hi"');
  });

  it("has what its calls cost in the ledger", async () => {
    const { harness } = echo();
    const gateway = await startTestGateway(
      { agents: { defaults: { harness: "echo" } } },
      undefined,
      {},
      { harnesses: { echo: async () => harness } },
    );
    await gateway.say("hi");
    const usage = await (await gateway.get("/api/usage")).text();
    expect(usage).toContain("1000");
  });
});
