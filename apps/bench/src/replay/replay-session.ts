// Replays one session through a gateway and hands over every request as it is sent.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelPort, ToolPort, TurnReport } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelRef, StreamEvent } from "@clew/plugin-sdk/host";
import { PRUNE_ENTRY_TYPE, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { composeHost } from "../../../gateway/src/compose.ts";
import { readEnvironment } from "../../../gateway/src/config/environment.ts";
import { checkConfigText } from "../../../gateway/src/config/load.ts";
import type { AnswerRequest, Host } from "../../../gateway/src/host/host.ts";
import { silentLog } from "../../../gateway/src/log/silent.ts";
import { OFFLINE_MODEL } from "../../../gateway/src/models/resolve.ts";
import { createPluginTools } from "../../../gateway/src/plugins/offer/tools.ts";
import { startPlugins } from "../../../gateway/src/plugins/start.ts";
import { SESSION_TOOLS } from "../../../gateway/src/recall/record-text.ts";
import { withSessionTools } from "../../../gateway/src/recall/session-tools.ts";
import { runReplay } from "../../../gateway/src/replay/run-replay.ts";
import { openReportLog } from "../../../gateway/src/reports/report-log.ts";
import type { OpenSession } from "../../../gateway/src/sessions/open.ts";
import { agentPaths } from "../../../gateway/src/sessions/paths.ts";
import { createSessionStore } from "../../../gateway/src/sessions/store.ts";
import { engineRecall } from "./engine-recall.ts";
import { type Recall, sessionRecall } from "./recall.ts";
import type { Script } from "./script.ts";

export interface ReplayRequest {
  script: Script;
  model: ModelRef;
  /** Of the gateway; as in its file. */
  config: Record<string, unknown>;
  /** What answers compaction and the engine's own calls, given the gateway's models. */
  summaries: (model: ModelPort) => ModelPort;
  /** Tokens of a message. */
  count: (message: AgentMessage) => number;
  /** Told of every recorded call, before it is answered; tells the tokens of its prompt. */
  onCall: (sent: SentCall) => Promise<number>;
  signal: AbortSignal;
}

/** A request as a provider would get it. */
export interface SentCall {
  /** Place in the script's calls. */
  call: number;
  request: ModelCall;
  /** True: a rewrite was reported since the call before. */
  isReported: boolean;
  /** Undefined: the model is offered nothing to ask with. */
  recall: Recall | undefined;
}

export interface ReplayOutcome {
  /** Why turns failed, for another cause than the recording. */
  failures: readonly string[];
  /** Summed over the session. */
  engineMs: number;
  hostMs: number;
  /** The engine that answered last. */
  engine: string;
}

export async function replaySession(request: ReplayRequest): Promise<ReplayOutcome> {
  const { script, model, signal } = request;
  const home = await mkdtemp(join(tmpdir(), "clew-bench-"));
  const environment = readEnvironment({ CLEW_HOME: home });
  const loaded = checkConfigText(JSON.stringify(request.config), "clew.json");
  const plugins = await startPlugins({ environment, loaded, log: silentLog });
  const host = composeHost({ environment, loaded, log: silentLog, plugins });
  try {
    const session = await createSessionStore({ home }).open({
      key: "replay",
      cwd: script.source.cwd,
    });
    const { agentId, sessionId } = session.session;
    const reports = openReportLog(agentPaths(home, agentId).reports, sessionId);
    try {
      const engineTools = createPluginTools({ log: silentLog, runAs: plugins.runAs })({
        ...{ base: NO_TOOLS, tools: plugins.tools() },
      });
      const watched = watch(host, { session, engineTools }, request);
      const turns = script.turns;
      const result = await runReplay({ host: watched, session, reports, model, turns, signal });
      return {
        failures: result.failures.map(({ turn, reason }) => `turn ${turn}: ${reason}`),
        engineMs: result.time.engine,
        hostMs: result.time.host,
        engine: result.engine.ran,
      };
    } finally {
      await session.close();
      await reports.close();
    }
  } finally {
    await plugins.close();
    await host.close();
    await rm(home, { recursive: true, force: true });
  }
}

const NO_TOOLS: ToolPort = { list: () => [], run: async () => ({ content: [], isError: true }) };

/** The host, with everything its turns send seen. */
function watch(
  host: Host,
  { session, engineTools }: { session: OpenSession; engineTools: ToolPort },
  request: ReplayRequest,
): Host {
  const { turns } = request.script;
  const reported = reportWatch(session);
  const { contextWindow } = request.model;
  const tools = withSessionTools({ base: NO_TOOLS, branch: session.branch, contextWindow });
  const { script, signal } = request;
  // As everywhere, an engine's own way back stands in place of the host's.
  const recall = () =>
    engineRecall(script, session, engineTools, signal) ??
    sessionRecall(script, session, tools, signal);
  // Turns that a person began and the model answered are run, in order.
  const run = turns.filter(({ prompt, steps }) => prompt !== null && steps.length > 0);
  let turn = -1;
  let firstCall = 0;
  let models: ModelPort | undefined;
  const summaries = (port: ModelPort) => (models = request.summaries(port));
  /** The played model answers nobody else: an engine is answered as compaction is. */
  const complete =
    (played: ModelPort): ModelPort["complete"] =>
    async (call) => {
      const model = models?.resolve?.(OFFLINE_MODEL);
      return model === undefined ? played.complete(call) : models!.complete({ ...call, model });
    };
  const answer = async (asked: AnswerRequest) => {
    const { replacement } = asked;
    turn++;
    const steps = run[turn]?.steps.length ?? 0;
    const first = firstCall;
    firstCall += steps;
    let step = 0;
    const model = replacement && {
      ...replacement.model,
      complete: complete(replacement.model),
      async *stream(call: ModelCall) {
        let input: number | undefined;
        // A call more than was recorded only finds that the recording ends.
        if (step < steps) {
          const isReported = reported.sinceLast();
          const isOffered = call.tools.some(({ name }) => name === SESSION_TOOLS.search);
          input = await request.onCall({
            ...{ call: first + step, request: call, isReported },
            recall: isOffered ? recall() : undefined,
          });
        }
        step++;
        for await (const event of replacement.model.stream(call))
          yield counted(event, input, request.count);
      },
    };
    const result = await host.answer({
      ...asked,
      ...(replacement !== undefined && {
        replacement: { ...replacement, model: model!, summaries },
      }),
    });
    reported.note(result.report);
    return result;
  };
  return { ...host, answer };
}

/** As a provider answers, which counts what it was sent. */
function counted(
  event: StreamEvent,
  input: number | undefined,
  count: (message: AgentMessage) => number,
): StreamEvent {
  if (event.type !== "done" || input === undefined) return event;
  const output = count(event.message);
  const usage = { input, output, cacheRead: 0, cacheWrite: 0, totalTokens: input + output };
  return { ...event, message: { ...event.message, usage } };
}

/**
 * Whether a rewrite was reported: by an entry of the transcript, or, of an engine that compacts by
 * itself, by the report of the turn before.
 */
function reportWatch(session: OpenSession) {
  const known = new Set<string>();
  let inReport = false;
  return {
    sinceLast(): boolean {
      const rewrites = session.branch().flatMap(rewriteIn);
      const isReported = inReport || rewrites.some((one) => !known.has(one));
      for (const one of rewrites) known.add(one);
      inReport = false;
      return isReported;
    },
    note({ compactions, engine }: TurnReport) {
      inReport = engine.ownsCompaction && compactions.some(({ compacted }) => compacted);
    },
  };
}

/** What a rewriting entry says, which stays the same when the entry is stored again. */
function rewriteIn(entry: TranscriptEntry): string[] {
  if (entry.type === "compaction") return [entry.summary];
  return entry.type === "custom" && entry.customType === PRUNE_ENTRY_TYPE
    ? [JSON.stringify(entry.data)]
    : [];
}
