// Keeps the connection to one server, and tells what becomes of it.
import type { LogPort, ToolOutcome, ToolServerNote } from "@clew/engine-core";
import { isAbort } from "@clew/plugin-sdk/core";
import { hider } from "../../log/log.ts";
import { counted } from "../../text/number.ts";
import { visible } from "../../text/visible.ts";
import { refusal } from "../../tools/tool.ts";
import { connectTo, type ListedTools, type McpConnection, McpRefusal } from "./connection.ts";
import { describeChange, type OfferedTool, planOfferedTools } from "./offered-tools.ts";
import { type McpFailureKind, planRetry, STEADY_MS } from "./plan-retry.ts";
import { McpFailure } from "./program-transport.ts";
import type { McpServer } from "./server.ts";
import type { ToolNames } from "./tool-names.ts";
import { toOutcome } from "./tool-result.ts";

/** How a server is, for people and programs. */
export interface McpServerStatus {
  name: string;
  /** "idle": nobody needed it yet · "away": tried again by itself · "off": once it is asked for. */
  state: "idle" | "connecting" | "ready" | "away" | "off";
  /** Its program or its address. */
  reach: string;
  /** Why it is not there, or was not last; null = nothing went wrong. */
  problem: { kind: McpFailureKind; text: string } | null;
  /** What it says of itself; null = it was never there. */
  about: McpConnection["about"] | null;
  /** What it lists, or the settings name, and is not offered, each with why. */
  left: readonly string[];
  /** As they are offered. */
  tools: { name: string; tool: string; runsUnasked: boolean; description: string }[];
  /** Messages that nobody understood, since it was started. */
  odd: number;
}

export interface LiveServer {
  readonly server: McpServer;
  /** As they are now; always the same list until they change. */
  tools(): readonly OfferedTool[];
  status(): McpServerStatus;
  /** Connects where nobody has yet. */
  start(): void;
  /** Waits for a first connection, and reads the list anew where it changed. Never rejects. */
  refresh(signal: AbortSignal): Promise<void>;
  /** Starts it where nobody has yet, and waits until that came to an end. Never rejects. */
  settled(): Promise<void>;
  /** Connects anew, however it is now. */
  restart(): Promise<void>;
  /** Rejects only when it is stopped. */
  call(
    offered: OfferedTool,
    given: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<ToolOutcome>;
  close(): Promise<void>;
}

export interface LiveServerOptions {
  server: McpServer;
  names: ToolNames;
  log: Pick<LogPort, "info" | "warn">;
  usual: Readonly<Record<string, string | undefined>>;
  tell(note: ToolServerNote): void;
  /** Divides waits before a server is tried again. Absent: 1. */
  hurry?: number | undefined;
}

/** How long a turn waits for a server that is being started, ms. */
const START_WAIT_MS = 5000;
/** How long a request waits for a list that changed, ms. */
const LIST_WAIT_MS = 5000;

export function createLiveServer(options: LiveServerOptions): LiveServer {
  const { server, names, log, usual, hurry = 1 } = options;
  const hide = hider(server.secrets ?? []);
  const title = `MCP server "${server.name}"`;
  let state: McpServerStatus["state"] = "idle";
  let problem: McpServerStatus["problem"] = null;
  let about: McpServerStatus["about"] = null;
  let connection: McpConnection | undefined;
  let tools: readonly OfferedTool[] = [];
  let left: readonly string[] = [];
  let failures = 0;
  let readyAt = 0;
  let begunAt = 0;
  let odd = 0;
  let isStale = false;
  let isMissed = false;
  const ending = new AbortController();
  let attempt: Promise<void> | undefined;
  let relisting: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Counts connections, so that nothing of an old one changes a new one. */
  let generation = 0;

  const tell = (kind: ToolServerNote["kind"], text: string) => {
    const note = { server: server.name, kind, text: hide(visible(text)) };
    if (kind === "back" || kind === "changed") log.info(note.text);
    else log.warn(note.text, { isNotice: true });
    options.tell(note);
  };
  const countOdd = (of: number) => {
    if (of !== generation) return;
    odd++;
    if (odd === 1)
      tell("odd", `${title} writes lines that are no messages; they are left out and counted.`);
  };
  /** False: nothing changed. */
  const take = (listed: ListedTools): boolean => {
    const planned = planOfferedTools(server, listed.tools, names);
    const change = describeChange(tools, planned.tools);
    const before = describeLeft(left);
    left = [...listed.left, ...planned.left].map((each) => hide(visible(each)));
    const now = describeLeft(left);
    if (now !== null && now !== before) tell("odd", `${title}: ${now}.`);
    if (change === undefined) return false;
    tools = planned.tools;
    return true;
  };
  const fail = (failure: McpFailure) => {
    const lost = tools.length;
    const wasReady = state === "ready";
    if (wasReady && performance.now() - readyAt > STEADY_MS) failures = 0;
    generation++;
    connection = undefined;
    tools = [];
    failures++;
    problem = { kind: failure.kind, text: hide(visible(failure.message)) };
    if (ending.signal.aborted) return;
    const next = planRetry(failure.kind, failures);
    state = next.kind === "off" ? "off" : "away";
    const gone = wasReady
      ? `${counted(lost, "tool")} of it ${lost === 1 ? "is" : "are"} gone`
      : "its tools are not offered";
    isMissed = true;
    const what = `${title} is not there: ${problem.text}; ${gone}`;
    if (next.kind === "off") tell("off", `${what} until ${askedFor(server.name)}.`);
    else {
      if (wasReady || failures === 1) tell("away", `${what} until it is back.`);
      timer = setTimeout(() => void connect(), next.afterMs / hurry);
      timer.unref();
    }
  };
  const connect = (): Promise<void> => {
    clearTimeout(timer);
    attempt ??= begin().finally(() => {
      attempt = undefined;
    });
    return attempt;
  };
  const begin = async (): Promise<void> => {
    if (ending.signal.aborted) return;
    const mine = ++generation;
    state = "connecting";
    begunAt = performance.now();
    odd = 0;
    if (server.problem !== undefined) return fail(new McpFailure("unusable", server.problem));
    try {
      const made = await connectTo(server, {
        ...{ usual, signal: ending.signal },
        onEnd: (failure) => {
          if (mine === generation) fail(failure);
        },
        onChanged: () => {
          if (mine === generation) isStale = true;
        },
        onOdd: () => countOdd(mine),
      });
      if (ending.signal.aborted || mine !== generation) return void made.close();
      connection = made;
      about = made.about;
      problem = null;
      state = "ready";
      readyAt = performance.now();
      take(made.listed);
      if (isMissed) tell("back", `${title} is back with ${counted(tools.length, "tool")}.`);
      isMissed = false;
    } catch (error) {
      if (mine !== generation) return;
      fail(error instanceof McpFailure ? error : new McpFailure("ended", String(error)));
    }
  };
  const relist = async (signal: AbortSignal): Promise<void> => {
    const from = connection;
    if (from === undefined) return;
    const stop = AbortSignal.any([signal, AbortSignal.timeout(LIST_WAIT_MS)]);
    isStale = false;
    const before = tools;
    try {
      const listed = await from.listTools(stop);
      if (from !== connection) return;
      if (take(listed))
        tell("changed", `${title} offers other tools now: ${describeChange(before, tools)}.`);
    } catch {
      isStale = true;
      if (signal.aborted || from !== connection) return;
      fail(new McpFailure("mute", "it changed its tools and does not list them"));
      await from.close();
    }
  };
  const unavailable = ({ definition }: OfferedTool) => {
    const why = problem === null ? "" : ` (${problem.text})`;
    return refusal(`${definition.name} was not run: ${title} is not there now${why}.`);
  };
  const live: LiveServer = {
    server,
    tools: () => tools,
    status: () => ({
      ...{
        name: server.name,
        state,
        problem,
        about,
        odd,
        left,
        reach: describeReach(server, hide),
      },
      tools: tools.map(({ definition, tool, runsUnasked }) => ({
        ...{ name: definition.name, tool, runsUnasked, description: definition.description },
      })),
    }),
    start() {
      if (state === "idle") void connect();
    },
    async refresh(signal) {
      live.start();
      if (attempt !== undefined && failures === 0) {
        const leftMs = START_WAIT_MS - (performance.now() - begunAt);
        if (leftMs > 0) await settledWithin(attempt, leftMs, signal);
      }
      if (!isStale || connection === undefined) return;
      relisting ??= relist(signal).finally(() => {
        relisting = undefined;
      });
      await settledWithin(relisting, LIST_WAIT_MS + 500, signal);
    },
    async settled() {
      live.start();
      await attempt;
    },
    async restart() {
      clearTimeout(timer);
      await attempt;
      const old = connection;
      generation++;
      connection = undefined;
      tools = [];
      failures = 0;
      await old?.close();
      await connect();
    },
    async call(offered, given, signal) {
      const run = async (): Promise<ToolOutcome> => {
        const from = connection;
        if (from === undefined) return unavailable(offered);
        if (!tools.some(({ tool }) => tool === offered.tool))
          return refusal(
            `${offered.definition.name} was not run: ${title} no longer offers "${visible(offered.tool)}".`,
          );
        try {
          const result = await from.call(offered.tool, given, signal);
          return withoutSecrets(toOutcome(offered.definition.name, result), server.secrets);
        } catch (error) {
          if (isAbort(error, signal)) throw error;
          if (error instanceof McpFailure && error.kind === "ended" && from === connection)
            fail(error);
          throw error;
        }
      };
      const failed = (error: unknown) => {
        if (isAbort(error, signal)) throw error;
        return refusal(hide(describeFailure(offered.definition.name, error, title)));
      };
      try {
        return await run();
      } catch (error) {
        // What only reads may be asked for again, of a server that has no process to lose.
        const again = offered.saysReadOnly && server.reach.kind === "http" && isLost(error);
        if (!again) return failed(error);
        await settledWithin(connect(), START_WAIT_MS, signal);
        return run().catch(failed);
      }
    },
    async close() {
      ending.abort();
      clearTimeout(timer);
      generation++;
      const open = connection;
      connection = undefined;
      tools = [];
      await Promise.all([open?.close(), attempt]);
    },
  };
  return live;
}

const MOST_LEFT = 5;

/** Pure. What is not offered, in words; null = all is. */
export function describeLeft(left: readonly string[]): string | null {
  if (left.length === 0) return null;
  const more = left.length - MOST_LEFT;
  const rest = more > 0 ? `; and ${more} more` : "";
  return `not offered: ${left.slice(0, MOST_LEFT).join("; ")}${rest}`;
}

/** How one that is off is asked for. */
export const askedFor = (name: string): string => `it is asked for with "clew mcp restart ${name}"`;

const isLost = (error: unknown): boolean => error instanceof McpFailure && error.kind === "ended";

function describeFailure(name: string, error: unknown, title: string): string {
  if (error instanceof McpRefusal) return `${name} failed: ${error.message}`;
  if (!(error instanceof McpFailure)) return `${name} failed: ${messageOf(error)}`;
  return `${name} gave no result: ${title} failed: ${error.message}. Whether it did anything is not known.`;
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** No model is told the keys that a server was given. */
const withoutSecrets = (outcome: ToolOutcome, secrets: McpServer["secrets"] = []): ToolOutcome =>
  secrets.length === 0
    ? outcome
    : {
        ...outcome,
        content: outcome.content.map((block) =>
          block.type === "text"
            ? {
                ...block,
                text: secrets.reduce((text, each) => text.replaceAll(each, "(hidden)"), block.text),
              }
            : block,
        ),
      };

const describeReach = ({ reach }: McpServer, hide: (text: string) => string): string =>
  hide(reach.kind === "http" ? reach.url : visible([reach.command, ...reach.args].join(" ")));

/** Also when it is stopped, or takes longer. */
async function settledWithin(
  work: Promise<unknown>,
  boundMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, boundMs);
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
    work.then(end, end);
  });
}
