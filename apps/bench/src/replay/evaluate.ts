// Plays one session through every engine and control, and judges what each of them sent.
import { DEFAULT_RESERVE_TOKENS, type ModelCall, type ModelRef } from "@clew/plugin-sdk/host";
import { countMessage, type ExactCounter } from "@clew/plugin-sdk/tokens";
import { type Control, passThrough, rawTail, yardstick } from "./controls.ts";
import { type Frame, type PassThrough, planFrame, type SentRequest, tokensOf } from "./frame.ts";
import { createJudge, type SessionScore } from "./judge.ts";
import { summariesIn } from "./recorded-summaries.ts";
import { replaySession } from "./replay-session.ts";
import { type ReplaySource, readScript } from "./script.ts";
import { createShownTable } from "./shown.ts";
import {
  configOf,
  type EngineChoice,
  readEngineChoice,
  recordIn,
  watchSummaries,
} from "./systems.ts";

/** What is evaluated, and how. */
export interface Evaluation {
  engines: readonly EngineChoice[];
  /** Tokens a prompt may hold. */
  budgets: readonly number[];
  /** Of the gateway, as in its file. */
  config: Record<string, unknown>;
  pluginFolders: readonly string[];
  /** Provider, wire and id of the model that is played. */
  route: Pick<ModelRef, "provider" | "api" | "id">;
  counter: ExactCounter;
  signal: AbortSignal;
  /** Told of what begins. */
  onProgress: (what: string) => void;
  /** Told of what went wrong and does not end the evaluation. */
  onTrouble: (what: string) => void;
}

/** How one session went with one engine or control under one budget. */
export interface EvaluatedSession extends SessionScore {
  system: string;
  promptBudget: number;
}

export const CONTROLS: Readonly<Record<string, Control>> = {
  "pass-through": passThrough,
  "raw tail": rawTail,
  yardstick,
};

const ENDLESS = 1_000_000_000;

/** Nothing of a session in which no model was asked. */
export async function evaluateSession(
  source: ReplaySource,
  evaluation: Evaluation,
): Promise<EvaluatedSession[]> {
  const { budgets, engines, counter, onProgress, onTrouble, route } = evaluation;
  const script = readScript(source);
  if (script.calls.length === 0) {
    onTrouble(`${source.name} holds no call of a model; it is left out`);
    return [];
  }
  const recorded = summariesIn(source.branch);
  const table = createShownTable(script, counter);
  const scores: EvaluatedSession[] = [];
  onProgress(`${source.name}: everything`);
  const everything = await playEverything(script, table, evaluation);
  for (const promptBudget of budgets) {
    const reserveTokens = reserveIn(evaluation.config);
    const frame = planFrame({
      script,
      table,
      passThrough: everything,
      promptBudget,
      reserveTokens,
    });
    for (const [system, control] of Object.entries(CONTROLS)) {
      onProgress(`${source.name}, ${promptBudget / 1000}k: ${system}`);
      const judge = createJudge(frame, route);
      for (const request of control(frame)) await judge.see(request);
      scores.push({ system, promptBudget, ...judge.score() });
    }
    for (const engine of engines) {
      if (engine.summariser === "recorded" && recorded.length === 0) {
        onTrouble(`${source.name} holds no recorded summary; ${engine.name} is skipped`);
        continue;
      }
      onProgress(`${source.name}, ${promptBudget / 1000}k: ${engine.name}`);
      const score = await playEngine(frame, engine, evaluation);
      scores.push({ system: engine.name, promptBudget, ...score });
    }
  }
  return scores;
}

/** The history as the host and the wire's rules have it where nothing has to go. */
async function playEverything(
  script: Frame["script"],
  table: Frame["table"],
  evaluation: Evaluation,
): Promise<PassThrough> {
  const { counter, route, signal, config } = evaluation;
  const requests: SentRequest[] = [];
  let fixedTokens = 0;
  await replaySession({
    script,
    model: { ...route, contextWindow: ENDLESS, maxOutputTokens: 8192 },
    config: configOf(readEngineChoice("legacy"), {
      base: withoutCompaction(config),
      pluginFolders: [],
    }),
    summaries: (model) => model,
    count: (message) => countMessage(message, counter),
    onCall: async ({ call, request }) => {
      const { history } = script.calls[call]!;
      const shown = request.messages.map((one) => table.of(one, history));
      requests.push({ call, shown });
      fixedTokens = fixedTokensOf(request, counter);
      return fixedTokens + tokensOf(shown);
    },
    signal,
  });
  return { requests, fixedTokens };
}

/** Whatever the marks are: everything is everything. */
function withoutCompaction(config: Record<string, unknown>): Record<string, unknown> {
  const agents = recordIn(config, "agents");
  const defaults = recordIn(agents, "defaults");
  const compaction = { ...recordIn(defaults, "compaction"), enabled: false };
  return { ...config, agents: { ...agents, defaults: { ...defaults, compaction } } };
}

async function playEngine(
  frame: Frame,
  engine: EngineChoice,
  evaluation: Evaluation,
): Promise<SessionScore> {
  const { script, table, contextWindow, promptBudget } = frame;
  const { route, signal, counter, pluginFolders, config: base, onProgress, onTrouble } = evaluation;
  const judge = createJudge(frame, route);
  const summaries = watchSummaries(engine, {
    counter,
    recorded: summariesIn(script.source.branch),
  });
  const where = `${script.source.name}, ${promptBudget / 1000}k, ${engine.name}`;
  const { failures, engineMs, hostMs, ...played } = await replaySession({
    script,
    model: { ...route, contextWindow, maxOutputTokens: 8192 },
    config: configOf(engine, { base, pluginFolders }),
    summaries: summaries.wrap,
    count: (message) => countMessage(message, counter),
    onCall: async ({ call, request, isReported, recall }) => {
      const { history } = script.calls[call]!;
      const shown = request.messages.map((one) => table.of(one, history));
      const known = frame.calls[call];
      if (known !== undefined) await judge.see({ call, shown, isReported, recall });
      return fixedTokensOf(request, counter) + tokensOf(shown);
    },
    signal,
  });
  const { calls, tokens } = summaries.asked();
  if (calls > 0) {
    const share = (tokens / toldTokens(frame)).toFixed(3);
    onProgress(`${where}: ${calls} calls for summaries, ${share} tokens for each that was said`);
  }
  for (const failure of failures) onTrouble(`${where}: ${failure}`);
  if (played.engine !== engine.engineId) onTrouble(`${where}: ${played.engine} answered instead`);
  const score = judge.score({ summaries: summaries.cost(), engineMs, hostMs });
  if (score.fault !== undefined) onTrouble(`${where}: invalid: ${score.fault}`);
  return score;
}

/** Of all that is said in the session. */
const toldTokens = ({ script, table }: Frame) =>
  script.messages.reduce((sum, _, at) => sum + table.recorded(at).tokens, 0);

/** System prompt and tools. */
const fixedTokensOf = ({ systemPrompt, tools }: ModelCall, counter: ExactCounter) =>
  counter.count(systemPrompt) + counter.count(JSON.stringify(tools));

function reserveIn(config: Record<string, unknown>): number {
  const { agents } = config as {
    agents?: { defaults?: { compaction?: { reserveTokensFloor?: unknown } } };
  };
  const floor = agents?.defaults?.compaction?.reserveTokensFloor;
  return typeof floor === "number" ? floor : DEFAULT_RESERVE_TOKENS;
}
