import type { ToolOutcome, ToolPort } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { collectLog } from "../../testing/plugins.ts";
import type { Approve } from "../../tools/tool.ts";
import { hookContext } from "./hook-context.ts";
import { createHookRunner, type OwnedHook } from "./hook-runs.ts";
import { withToolHooks } from "./tool-hooks.ts";

const session = { agentId: "main", sessionId: "s1", sessionKey: "agent:main:main" };
const context = hookContext(session, { workspaceDir: "/w", runId: "r1" });

type Answer = (event: { params: Record<string, unknown> }) => unknown;

/** A tool that tells what it was called with, behind hooks in the order given. */
function tool(answers: Record<string, Answer>, approve?: Approve) {
  const ran: unknown[] = [];
  const told: unknown[] = [];
  const base: ToolPort = {
    list: () => [],
    run: ({ call }) => {
      ran.push(call.arguments);
      return Promise.resolve<ToolOutcome>({
        content: [{ type: "text", text: "done" }],
        isError: false,
        details: { rows: 1 },
      });
    },
  };
  const before = Object.entries(answers).map(
    ([pluginId, handler], index): OwnedHook => ({
      ...{ name: "before_tool_call", pluginId, priority: -index },
      handler: handler as OwnedHook["handler"],
    }),
  );
  const after: OwnedHook = {
    ...{ name: "after_tool_call", pluginId: "watcher", priority: 0 },
    handler: ((event: object, about: object) => void told.push({ event, about })) as never,
  };
  const log = collectLog();
  const hooks = createHookRunner({
    hooks: () => [...before, after],
    log,
    runAs: (_pluginId, work) => work(),
  });
  const port = withToolHooks(base, { hooks, context, approve, limitBytes: 1024 });
  const call = { type: "toolCall" as const, id: "c1", name: "dig", arguments: { depth: 1 } };
  const run = () => port.run({ call, session, signal: new AbortController().signal });
  return { run, ran, told, log };
}

const textOf = ({ content, isError }: ToolOutcome) =>
  `${isError ? "ERROR " : ""}${content.map((block) => (block.type === "text" ? block.text : "")).join("")}`;

describe("plugins that are asked before a tool runs", () => {
  it("may change its arguments, one after the other", async () => {
    const { run, ran, told } = tool({
      first: ({ params }) => ({ params: { depth: Number(params.depth) + 1 } }),
      second: ({ params }) => {
        params.depth = 99; // What it is shown is its own.
        return { params: { depth: 10 } };
      },
      third: ({ params }) => ({ params: { ...params, wide: true } }),
    });
    expect(textOf(await run())).toBe("done");
    expect(ran).toEqual([{ depth: 10, wide: true }]);
    expect(told).toMatchObject([
      {
        event: {
          ...{ toolName: "dig", toolCallId: "c1", runId: "r1", params: { depth: 10, wide: true } },
          ...{ result: { details: { rows: 1 } }, durationMs: expect.any(Number) },
        },
        about: { toolName: "dig", sessionKey: "agent:main:main" },
      },
    ]);
  });

  it("may refuse it, and nobody after them is asked", async () => {
    const { run, ran, told } = tool({
      guard: () => ({ block: true, blockReason: "no digging today" }),
      later: () => {
        throw new Error("never asked");
      },
    });
    expect(textOf(await run())).toBe(
      'ERROR dig was not run: plugin "guard" refused it: no digging today',
    );
    expect(ran).toEqual([]);
    expect(told).toMatchObject([{ event: { error: expect.stringContaining("no digging today") } }]);
  });

  it("may give no reason that is longer than a message", async () => {
    const { run } = tool({ first: () => ({ block: true, blockReason: "R".repeat(3000) }) });
    expect(textOf(await run())).toBe(
      'ERROR dig was not run: plugin "first" refused it, for a reason of 3 KiB, of which at most 1 KiB are taken (gateway.limits.messageBytes).',
    );
  });

  it("refuse it also by failing: a guard that cannot be asked guards all the same", async () => {
    const { run, ran, log } = tool({
      guard: () => {
        throw new Error("my list is gone");
      },
    });
    expect(textOf(await run())).toBe(
      'ERROR dig was not run: plugin "guard" decides about it and failed: my list is gone.',
    );
    expect(ran).toEqual([]);
    expect(log.lines).toEqual([
      "warn [plugins] guard: hook before_tool_call failed: my list is gone",
    ]);
  });

  it("may leave it to the person", async () => {
    const wants = { wary: () => ({ requireApproval: { title: "Dig?" } }) };
    const asked: unknown[] = [];
    const saying =
      (answer: "once" | "no"): Approve =>
      ({ asker, call }) => {
        asked.push([asker, call.name]);
        return Promise.resolve({ kind: "answered", answer, at: "terminal" });
      };
    expect(textOf(await tool(wants, saying("once")).run())).toBe("done");
    expect(textOf(await tool(wants, saying("no")).run())).toBe(
      "ERROR dig was not run: a person refused it at the terminal.",
    );
    expect(textOf(await tool(wants).run())).toBe(
      "ERROR dig was not run: it needs a person's approval, and nobody is there to ask.",
    );
    expect(asked).toEqual([
      [{ kind: "plugin", id: "wary" }, "dig"],
      [{ kind: "plugin", id: "wary" }, "dig"],
    ]);
  });
});
