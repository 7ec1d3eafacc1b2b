import type { AssistantMessage, ContextEngine, HostCapability } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import {
  memoryTranscript,
  passThrough,
  describe as said,
  testHost,
  tools,
} from "../__fixtures__/host.ts";
import { CLEW_EMBEDDED_HOST } from "../engine/host-support.ts";
import type {
  ExecutionAnswer,
  ExecutionEvent,
  ExecutionPort,
  ExecutionTurn,
} from "../execution-port.ts";
import type { TurnReport } from "../report/turn-report.ts";
import type { TurnStep } from "./turn-request.ts";

const reply = (text: string): ExecutionEvent => ({
  type: "messages",
  messages: [{ role: "assistant", content: [{ type: "text", text }], stopReason: "stop" }],
});
const usage = (input: number): ExecutionEvent => ({
  type: "usage",
  usage: { input, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: input + 5 },
});
const COMPLETED: ExecutionEvent = { type: "end", outcome: { status: "completed" } };
const handedOver = (handed: number): ExecutionEvent => ({
  type: "handed-over",
  projection: { thread: "new", threadId: "t1", reason: "the first turn", as: "items", handed },
});

type Scripted =
  | ExecutionEvent
  | ((answer: ExecutionAnswer) => ExecutionEvent | Promise<ExecutionEvent>);

/** A program that tells its script, turn by turn; keeps what it was asked and answered. */
function program(scripts: Scripted[][], options: Partial<ExecutionPort> = {}) {
  const turns: ExecutionTurn[] = [];
  const answers: ExecutionAnswer[] = [];
  let closed = 0;
  const port: ExecutionPort = {
    id: "test-program",
    label: "Test program",
    harnessId: "scripted",
    capabilities: [...CLEW_EMBEDDED_HOST.capabilities, "thread-bootstrap-projection"],
    begin(turn) {
      const script = [...(scripts[turns.length] ?? [COMPLETED])];
      turns.push(turn);
      return {
        async next(answer) {
          answers.push(answer);
          const event = script.shift() ?? COMPLETED;
          return typeof event === "function" ? event(answer) : event;
        },
        close: () => void closed++,
      };
    },
    ...options,
  };
  return { port, turns, answers, closedTimes: () => closed };
}

function programHost(
  scripts: Scripted[][],
  {
    port,
    ...options
  }: Omit<Parameters<typeof testHost>[0] & object, "ports"> & {
    port?: Partial<ExecutionPort>;
  } = {},
) {
  const scripted = program(scripts, port);
  const host = testHost({ ...options, ports: { execution: scripted.port } });
  const stored = () =>
    host.ports.transcript.entries.map((entry) =>
      entry.type === "message" ? said(entry.message) : entry.type,
    );
  return { ...scripted, host, stored };
}

const CLI: HostCapability[] = ["bootstrap", "after-turn", "maintain"];

/** Notes which of its methods are called. */
function watched(info: Partial<ContextEngine["info"]> = {}) {
  const calls: string[] = [];
  const engine = passThrough({
    info: { id: "test", name: "Test", ...info },
    bootstrap: () => {
      calls.push("bootstrap");
      return { bootstrapped: true };
    },
    assemble: ({ messages }) => {
      calls.push("assemble");
      return { messages, estimatedTokens: 0 };
    },
    afterTurn: () => void calls.push("afterTurn"),
    maintain: () => {
      calls.push("maintain");
      return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
    },
  });
  return { engine, calls };
}

describe("a turn that a program runs", () => {
  it("goes in the order of the contract, with the program in place of the model", async () => {
    const { engine, calls } = watched();
    const { host } = programHost([[handedOver(1), reply("hello"), COMPLETED], [reply("again")]], {
      engine,
    });
    const steps: string[] = [];
    const onStep = ({ name }: TurnStep) => void steps.push(name.replace("clew ", ""));
    expect((await host.say("hi")).reply?.content).toEqual([{ type: "text", text: "hello" }]);
    calls.length = 0;
    await host.say("more", { onStep });
    expect(calls).toEqual(["bootstrap", "maintain", "assemble", "afterTurn", "maintain"]);
    const asked = steps.filter((step) => /append|assemble|execution|afterTurn|chat/.test(step));
    expect(asked).toEqual([
      "append prompt",
      "assemble",
      "begin-execution",
      "await-execution",
      "append reply",
      "await-execution",
      "afterTurn",
    ]);
    expect(host.ports.model.calls).toEqual([]);
  });

  it("hands over what the engine chose, and the turn's own message apart", async () => {
    const { host, turns } = programHost([[reply("one")], [reply("two")]], {
      engine: passThrough({
        info: { id: "test", name: "Test", ownsCompaction: true },
        assemble: ({ messages }) => ({
          messages,
          estimatedTokens: 0,
          systemPromptAddition: "Remember the harbour.",
          contextProjection: { mode: "thread_bootstrap", epoch: "e1", fingerprint: "f1" },
        }),
      }),
    });
    await host.say("first");
    const { report } = await host.say("second");
    const turn = turns[1]!;
    expect(turn.history.map(({ message }) => said(message))).toEqual([
      "user: first",
      "assistant: one",
    ]);
    expect(turn.history.map(({ id }) => id)).toEqual(["entry-0", "entry-1"]);
    expect(turn.turn.map(({ message }) => said(message))).toEqual(["user: second"]);
    expect(turn).toMatchObject({
      addition: "Remember the harbour.",
      system: [{ id: "base" }],
      engine: { id: "test", ownsCompaction: true },
      projection: { mode: "thread_bootstrap", epoch: "e1", fingerprint: "f1" },
    });
    expect(report.engine.projection).toEqual({ mode: "thread_bootstrap", epoch: "e1" });
  });

  it("tells a program that has its own thread the message alone, and assembles nothing", async () => {
    const { engine, calls } = watched();
    const { host, turns } = programHost([[reply("one")], [reply("two")]], {
      engine,
      port: { capabilities: CLI },
    });
    await host.say("first");
    const { report } = await host.say("second", {
      beforePromptBuild: async () => ({ prependContext: "It is Monday." }),
    });
    expect(calls).not.toContain("assemble");
    expect(calls.filter((call) => call === "afterTurn")).toHaveLength(2);
    expect(turns[1]!.history).toEqual([]);
    expect(turns[1]!.turn.map(({ message }) => said(message))).toEqual([
      "user: It is Monday.\n\nsecond",
    ]);
    expect(report.execution).toMatchObject({
      id: "test-program",
      harnessId: "scripted",
      label: "Test program",
      cannot: [
        "assemble-before-prompt",
        "compact",
        "runtime-llm-complete",
        "thread-bootstrap-projection",
      ],
    });
  });

  it("has everything told in the transcript before the next thing is asked for", async () => {
    const seen: string[][] = [];
    const look = (event: ExecutionEvent) => () => {
      seen.push(stored());
      return event;
    };
    const call: AssistantMessage = {
      role: "assistant",
      content: [{ type: "toolCall", id: "c1", name: "shell", arguments: { command: "ls" } }],
      stopReason: "toolUse",
    };
    const result = {
      ...{ role: "toolResult" as const, toolCallId: "c1", toolName: "shell", isError: false },
      content: [{ type: "text" as const, text: "a.txt" }],
    };
    const { host, stored, answers } = programHost([
      [
        look({ type: "messages", messages: [call, result], durationMs: 12 }),
        look(reply("Let me see.")),
        look(reply("There is a.txt.")),
        look(COMPLETED),
      ],
    ]);
    const { report, reply: accepted } = await host.say("what is here?");
    expect(seen.map((entries) => entries.length)).toEqual([1, 3, 4, 5]);
    expect(answers).toEqual([
      { type: "go-on" },
      { type: "stored", ids: ["entry-1", "entry-2"] },
      { type: "stored", ids: ["entry-3"] },
      { type: "stored", ids: ["entry-4"] },
    ]);
    expect(accepted?.content).toEqual([{ type: "text", text: "There is a.txt." }]);
    expect(report).toMatchObject({
      replyEntryId: "entry-4",
      toolCalls: [{ name: "shell", durationMs: 12, isError: false }],
    });
    expect(host.events.map(({ type }) => type)).toEqual([
      ...["accepted", "tool_start", "message", "tool_end", "message", "message", "message"],
    ]);
  });

  it("leaves all that was told when it is killed while it waits", async () => {
    const never = new Promise<ExecutionEvent>(() => {});
    let waits = () => {};
    const waiting = new Promise<void>((resolve) => {
      waits = resolve;
    });
    const transcript = memoryTranscript();
    const { host, stored } = programHost(
      [
        [
          reply("Half of it."),
          () => {
            waits();
            return never;
          },
        ],
      ],
      { transcript },
    );
    void host.say("go");
    await waiting;
    expect(stored()).toEqual(["user: go", "assistant: Half of it."]);
  });

  it("runs the host's tools for the program, call and result stored in this order", async () => {
    const { host, stored, answers } = programHost(
      [
        [
          { type: "call", call: { type: "toolCall", id: "c1", name: "add", arguments: { a: 2 } } },
          reply("three"),
        ],
      ],
      { tools: tools({ add: ({ a }) => `sum ${String(a)}` }) },
    );
    const { report } = await host.say("add");
    expect(stored()).toEqual([
      "user: add",
      "assistant: [toolCall]",
      "toolResult: sum 2",
      "assistant: three",
    ]);
    expect(answers[1]).toEqual({
      type: "called",
      ids: ["entry-1", "entry-2"],
      outcome: { content: [{ type: "text", text: "sum 2" }], isError: false },
    });
    expect(report.toolCalls).toMatchObject([{ name: "add", isError: false }]);
  });

  const SHELL: ExecutionEvent = {
    type: "messages",
    messages: [
      {
        role: "assistant",
        content: [{ type: "toolCall", id: "c1", name: "shell", arguments: {} }],
        stopReason: "toolUse",
      },
      {
        ...{ role: "toolResult", toolCallId: "c1", toolName: "shell", isError: false },
        content: [{ type: "text", text: "a.txt" }],
      },
    ],
  };
  const told = ({ modelCalls }: TurnReport) => {
    let list: string[] = [];
    return modelCalls.map(({ messages, held, leafId }) => {
      const ids = messages.items.map(({ source }) =>
        source.kind === "entry" ? source.entryId : source.kind,
      );
      list = [...list.slice(0, messages.kept), ...ids];
      return { list: list.join(" ").replaceAll("entry-", ""), held, leafId };
    });
  };

  it("reports each model call with the whole view, and what the thread held of it", async () => {
    const { host } = programHost([
      [handedOver(1), usage(100), reply("one"), COMPLETED],
      [handedOver(1), reply("two"), usage(150), COMPLETED],
    ]);
    const first = await host.say("first");
    expect(first.report.modelCalls).toMatchObject([
      { harness: "scripted", usage: { input: 100 }, system: [{ code: "system-prompt" }] },
    ]);
    expect(told(first.report)).toEqual([{ list: "0", held: 0, leafId: "entry-0" }]);
    const { report } = await host.say("second");
    expect(told(report)).toEqual([{ list: "0 1 2", held: 2, leafId: "entry-2" }]);
    expect(report.modelCalls[0]!.system).toHaveLength(1);
    expect(report.execution).toMatchObject({ projections: [{ threadId: "t1", handed: 1 }] });
  });

  it.each([
    ["before", [SHELL, usage(1), reply("done"), usage(2)]],
    ["after", [usage(1), SHELL, reply("done"), usage(2)]],
    ["after a text and", [reply("Let me see."), usage(1), SHELL, usage(2), reply("done")]],
  ])("counts what tools said %s their call was told into the next one", async (_, events) => {
    const { host } = programHost([[handedOver(1), ...events, COMPLETED]]);
    const { report } = await host.say("first");
    const [one, two] = told(report);
    const texts = events[0]!.type === "messages" && events[0] !== SHELL ? 1 : 0;
    expect(one).toEqual({ list: "0", held: 0, leafId: "entry-0" });
    const list = Array.from({ length: 3 + texts }, (_, at) => at);
    expect(two).toEqual({
      ...{ list: list.join(" "), held: list.length },
      leafId: `entry-${list.length - 1}`,
    });
  });

  it("lists only what is known to be in a thread that was made smaller", async () => {
    const continued = (more: object = {}): ExecutionEvent => {
      const { projection } = handedOver(1) as Extract<ExecutionEvent, { type: "handed-over" }>;
      return { type: "handed-over", projection: { ...projection, thread: "continued", ...more } };
    };
    const compaction: ExecutionEvent = { type: "native-compaction" };
    const { host } = programHost([
      [handedOver(1), reply("one"), usage(1), COMPLETED],
      [continued(), usage(2), SHELL, compaction, reply("two"), usage(3), COMPLETED],
      [continued({ isCompacted: true }), reply("three"), usage(4), COMPLETED],
    ]);
    await host.say("first");
    const { report } = await host.say("second");
    expect(told(report)).toEqual([
      { list: "0 1 2", held: 2, leafId: "entry-2" },
      { list: "2", held: undefined, leafId: "entry-4" },
    ]);
    expect(report.execution?.nativeCompactions).toBe(1);
    expect(told((await host.say("third")).report)).toEqual([
      { list: "6", held: undefined, leafId: "entry-6" },
    ]);
  });

  it("says that it does not know what a session of the program's own shows", async () => {
    const { host } = programHost(
      [
        [handedOver(1), reply("one"), usage(1), COMPLETED],
        [handedOver(1), SHELL, reply("two"), usage(2), COMPLETED],
      ],
      { port: { capabilities: CLI } },
    );
    await host.say("first");
    expect(told((await host.say("second")).report)).toEqual([
      { list: "2", held: undefined, leafId: "entry-2" },
    ]);
  });

  it("tells engines who runs the turn", async () => {
    const told: unknown[] = [];
    const { host } = programHost([[reply("one")]], {
      engine: passThrough({
        info: { id: "test", name: "Test" },
        afterTurn: ({ runtimeSettings, runtimeContext }) =>
          void told.push(
            runtimeSettings?.executionHost,
            runtimeSettings?.runtime.harnessId,
            runtimeContext?.agentHarnessId,
          ),
      }),
    });
    await host.say("hi");
    expect(told).toEqual([{ id: "test-program", label: "Test program" }, "scripted", "scripted"]);
  });

  it("goes by the window that the program leaves alone", async () => {
    const { host, turns } = programHost([[reply("one")]], { port: { windowTokens: () => 50_000 } });
    const { report } = await host.say("hi");
    expect(report.budget?.contextWindow).toBe(50_000);
    expect(turns[0]!.model.contextWindow).toBe(50_000);
  });
});

describe("a program that cannot do what an engine requires", () => {
  it("is not begun, nothing is stored, and no other engine answers", async () => {
    const { engine } = watched({
      hostRequirements: { "agent-run": { requiredCapabilities: ["assemble-before-prompt"] } },
    });
    const { host, turns, stored } = programHost([[reply("one")]], {
      engine,
      port: { capabilities: CLI, label: 'CLI backend "mine"' },
    });
    await expect(host.say("hi")).rejects.toMatchObject({
      code: "HOST_CAPABILITY_MISSING",
      message:
        'Context engine "test" cannot run operation "agent-run" on CLI backend "mine". ' +
        "Missing host capabilities: assemble-before-prompt. Required capabilities: " +
        "assemble-before-prompt. Host capabilities: bootstrap, after-turn, maintain.",
    });
    expect([turns, stored()]).toEqual([[], []]);
  });
});

describe("a program that fails", () => {
  const failing = (kind: "overflow" | "unavailable"): ExecutionEvent => ({
    type: "end",
    outcome: {
      status: "failed",
      error: { kind, message: "It broke." },
      ...(kind === "unavailable" && { code: "HARNESS_FAILED" as const }),
    },
  });

  it("leaves a typed error in the report, what it had told, and a next turn that works", async () => {
    const { host, stored, turns, closedTimes } = programHost([
      [reply("Half."), failing("unavailable")],
      [reply("whole")],
    ]);
    const broken = await host.say("first");
    expect(broken.error).toEqual({
      kind: "unavailable",
      code: "HARNESS_FAILED",
      message: "It broke.",
    });
    expect(broken.report).toMatchObject({ outcome: "failed", code: "HARNESS_FAILED" });
    const next = await host.say("second");
    expect(next.outcome).toBe("completed");
    expect(stored()).toEqual([
      ...["user: first", "assistant: Half.", "assistant: ", "user: second", "assistant: whole"],
    ]);
    expect([turns.length, closedTimes()]).toEqual([2, 2]);
  });

  it("has its session compacted when the context was too large, and is begun again once", async () => {
    let compactions = 0;
    const told: string[] = [];
    const { host, turns } = programHost(
      [[reply("Half."), failing("overflow")], [failing("overflow")], [reply("never")]],
      {
        engine: passThrough({
          info: { id: "test", name: "Test", ownsCompaction: true },
          compact: () => {
            compactions++;
            return { ok: true, compacted: true };
          },
        }),
        port: { compacted: ({ sessionKey }) => void told.push(sessionKey) },
      },
    );
    const { error } = await host.say("go");
    expect(error?.kind).toBe("overflow");
    expect([turns.length, compactions]).toEqual([2, 1]);
    expect(told).toEqual(["agent:main:main"]);
    expect(turns[1]!.turn.map(({ message }) => said(message))).toEqual([
      "user: go",
      "assistant: Half.",
    ]);
  });

  it("fails the turn when it throws, before and after it began", async () => {
    const boom = () => {
      throw new Error("no such file");
    };
    const late = programHost([[boom]]);
    expect((await late.host.say("hi")).error?.message).toBe("Test program failed: no such file");
    const early = programHost([], { port: { begin: boom } });
    expect((await early.host.say("hi")).error?.message).toBe("Test program failed: no such file");
    expect(early.stored()).toEqual(["user: hi", "assistant: "]);
  });

  it("has no reply when it ends without one", async () => {
    const { host } = programHost([[COMPLETED]]);
    expect((await host.say("hi")).error).toMatchObject({
      kind: "invalid_response",
      message: "Test program ended the turn without a reply.",
    });
  });

  it("is closed when the turn is cancelled, and what it told stays", async () => {
    const controller = new AbortController();
    const { host, stored, closedTimes } = programHost([
      [
        reply("Half."),
        () => {
          controller.abort();
          return { type: "end", outcome: { status: "interrupted" } };
        },
      ],
    ]);
    const { outcome } = await host.say("go", { signal: controller.signal });
    expect(outcome).toBe("aborted");
    expect(stored().slice(0, 2)).toEqual(["user: go", "assistant: Half."]);
    expect(closedTimes()).toBe(1);
  });

  it("is stopped when it calls its model without an end", async () => {
    const { host } = programHost([Array<Scripted>(5).fill(usage(1))]);
    const { error } = await host.say("go", { settings: { maxModelCalls: 3 } });
    expect(error?.message).toBe(
      "Test program called its model 3 times without an end; the turn was stopped.",
    );
  });
});
